"""Of parallel calls, the second one stays as markup in the content."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, messages

SOURCE = "https://github.com/ggml-org/llama.cpp/issues/14101"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("response/no-markup-in-content", "core/parallel-calls", "probes/results-paired", "ended: *markup*")


def change(sent: Outgoing) -> Outgoing:
    """Write the second call into the content."""
    made = calls(sent)
    if len(made) > 1:
        name, given = made[1][0]["function"]["name"], arguments(made[1])
        said = f'<tool_call>\n{{"name": "{name}", "arguments": {given}}}\n</tool_call>'
        for message in messages(sent):
            if message.get("tool_calls"):
                message["tool_calls"] = [each for each in message["tool_calls"] if any(each is own for own in made[0])]
                if not message["tool_calls"]:
                    del message["tool_calls"]
        messages(sent)[0]["content"] = said
    return sent
