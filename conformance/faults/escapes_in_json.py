"""Text beyond ASCII is written with escapes, which mean the same."""

import json

from conformance.faults import BOTH, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://www.rfc-editor.org/rfc/rfc8259#section-7"
WIRES = ("chat", "messages", "responses")
VARIANTS = BOTH
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Write all JSON in ASCII."""
    if sent.events is None:
        return sent._replace(content=json.dumps(sent.body).encode())
    shown = [_escaped(each) for each in sent.events]
    return sent._replace(content="".join(shown).encode())


def _escaped(event: NativeEvent) -> str:
    if isinstance(event.value, str):
        return event.value
    name = f"event: {event.name}\n" if event.name else ""
    return f"{name}data: {json.dumps(event.value)}\n\n"
