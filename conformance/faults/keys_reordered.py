"""The keys of all objects come in another order, which has no meaning in JSON."""

from typing import Any

from conformance.faults import BOTH, Outgoing

SOURCE = "https://www.rfc-editor.org/rfc/rfc8259#section-4"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Sort the keys."""
    if sent.events is None:
        return sent._replace(body=_sorted(sent.body))
    return sent._replace(events=tuple([each._replace(value=_sorted(each.value)) for each in sent.events]))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value
