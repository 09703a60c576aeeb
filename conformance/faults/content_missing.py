"""The message of an answer has no content, and no reasoning either."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING, calls, messages

SOURCE = "https://github.com/open-webui/open-webui/issues/28938"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("ended: *the reply is empty*",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the texts of answers."""
    for message in messages(sent) if not calls(sent) else ():
        for name in ("content", *REASONING):
            message.pop(name, None)
    return sent
