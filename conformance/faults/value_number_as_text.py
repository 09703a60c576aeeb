"""Numbers in the arguments of a call become texts."""

from typing import Any

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import changed_arguments

SOURCE = "https://github.com/pydantic/pydantic-ai/issues/10243"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("probes/arguments-echoed",)


def change(sent: Outgoing) -> Outgoing:
    """Change the values of all arguments."""
    changed_arguments(sent, _changed)
    return sent


def _changed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _changed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_changed(each) for each in value]
    return str(value) if type(value) in (int, float) else value
