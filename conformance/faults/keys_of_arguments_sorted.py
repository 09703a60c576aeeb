"""The keys of the arguments come in another order, which has no meaning in JSON."""

from typing import Any

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import changed_arguments

SOURCE = "https://www.rfc-editor.org/rfc/rfc8259#section-4"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Change the values of all arguments."""
    changed_arguments(sent, _changed)
    return sent


def _changed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _changed(value[key]) for key in sorted(value)}
    return [_changed(each) for each in value] if isinstance(value, list) else value
