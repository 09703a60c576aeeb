"""Characters beyond ASCII are lost where a stream is cut between their bytes."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import REASONING, calls, messages

SOURCE = "https://github.com/BerriAI/litellm/issues/18842"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("probes/arguments-echoed",)


def change(sent: Outgoing) -> Outgoing:
    """Remove every character beyond ASCII."""
    for message in messages(sent):
        for name in ("content", *REASONING):
            if isinstance(message.get(name), str):
                message[name] = message[name].encode("ascii", "ignore").decode()
    for call in calls(sent):
        for fragment in call:
            if given := fragment["function"].get("arguments"):
                fragment["function"]["arguments"] = given.encode("ascii", "ignore").decode()
    return sent
