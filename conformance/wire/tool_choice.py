"""The tool choice of chat completions, as other wires need it: a mode, and the names of functions it is limited to."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from conformance.wire.values import as_object, objects

_KINDS: Final = ("function", "custom")


class NamedChoice(NamedTuple):
    """A choice of one tool that the model has to call."""

    name: str


class AllowedTools(NamedTuple):
    """A choice of some tools: the model may call them (`auto`), or has to call one (`required`)."""

    mode: str
    names: tuple[str, ...]


def limited_choice(choice: Any) -> NamedChoice | AllowedTools | None:
    """Return what a choice names; None for a mode alone, and for what names no tool."""
    if type(choice) is not dict:
        return None
    if choice.get("type") == "allowed_tools":
        allowed = as_object(choice.get("allowed_tools"))
        names = [name for _, each in objects(allowed.get("tools")) if (name := _name(each))]
        mode = "required" if allowed.get("mode") == "required" else "auto"
        return AllowedTools(mode, tuple(names)) if names else None
    name = _name(choice)
    return NamedChoice(name) if name else None


def _name(choice: Mapping[str, Any]) -> str:
    named = [as_object(choice.get(key)).get("name") for key in _KINDS]
    return next((name for name in named if type(name) is str and name), "")
