"""Every delta of a stream without a call has an empty list of calls."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import messages

SOURCE = "https://github.com/microsoft/vscode/pull/330038"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Add the list."""
    for delta in messages(sent):
        delta.setdefault("tool_calls", [])
    return sent
