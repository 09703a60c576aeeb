"""The arguments of a call end in the middle, so that they are not JSON."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/ggml-org/llama.cpp/issues/25510"
WIRES = ("chat", "responses")
VARIANTS = BOTH
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the last brace of every text of arguments."""
    for holder in sent.objects(lambda value: isinstance(value.get("arguments"), str)):
        holder["arguments"] = holder["arguments"].removesuffix("}")
    for event in sent.objects(lambda value: value.get("type") == "response.function_call_arguments.delta"):
        event["delta"] = event["delta"].removesuffix("}")
    return sent
