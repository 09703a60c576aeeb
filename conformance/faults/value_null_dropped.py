"""Members of the arguments that are null are left out."""

from typing import Any

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import changed_arguments

SOURCE = "https://github.com/pleaseai/shunt/issues/450"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("probes/arguments-echoed",)


def change(sent: Outgoing) -> Outgoing:
    """Change the values of all arguments."""
    changed_arguments(sent, _changed)
    return sent


def _changed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _changed(each) for key, each in value.items() if each is not None}
