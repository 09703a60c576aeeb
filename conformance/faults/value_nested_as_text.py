"""Objects and lists in the arguments of a call become their JSON text."""

import json
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
    if not isinstance(value, dict):
        return value
    return {key: json.dumps(each) if isinstance(each, (dict, list)) else each for key, each in value.items()}
