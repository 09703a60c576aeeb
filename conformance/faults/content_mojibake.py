"""Text beyond ASCII is decoded with another encoding than it was written in."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING, calls, messages

SOURCE = "https://github.com/Miosa-osa/OSA/pull/137"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("probes/arguments-echoed",)


def change(sent: Outgoing) -> Outgoing:
    """Read the bytes of all texts as Latin-1."""
    for message in messages(sent):
        for name in ("content", *REASONING):
            if isinstance(message.get(name), str):
                message[name] = message[name].encode("utf-8", "replace").decode("latin-1")
    for call in calls(sent):
        for fragment in call:
            if given := fragment["function"].get("arguments"):
                fragment["function"]["arguments"] = given.encode("utf-8", "replace").decode("latin-1")
    return sent
