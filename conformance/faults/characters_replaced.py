"""Characters beyond ASCII arrive as replacement characters."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING, calls, messages

SOURCE = "https://github.com/mudler/LocalAI/pull/981"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("probes/arguments-echoed",)


def change(sent: Outgoing) -> Outgoing:
    """Replace every character beyond ASCII."""
    for message in messages(sent):
        for name in ("content", *REASONING):
            if isinstance(message.get(name), str):
                message[name] = message[name].encode("ascii", "replace").decode().replace("?", "\ufffd")
    for call in calls(sent):
        for fragment in call:
            if given := fragment["function"].get("arguments"):
                fragment["function"]["arguments"] = "".join([each if each.isascii() else "\ufffd" for each in given])
    return sent
