"""Conditions on a request body: whether a model thinks when it answers one."""

from collections.abc import Mapping
from typing import Any, Final

from conformance.documents.pointer import parse, resolve
from conformance.profiles.claims import Claims

_BOUNDS: Final = frozenset({"above", "below", "longer"})


def thinks(claims: Claims, body: Any) -> bool | None:
    """Return True if the model thinks when it answers a request body; None if the claims leave it open."""
    mode = claims.get("thinking.mode")
    if mode in ("always", "never"):
        return bool(mode == "always")
    switches = claims.get("thinking.switches")
    # The first that matches decides, so their order in a profile counts; `unknown` is text.
    for switch in switches if isinstance(switches, list) else ():
        if matches(switch, body):
            return bool(switch["thinks"])
    return {"default-on": True, "default-off": False}.get(mode) if isinstance(mode, str) else None


def matches(condition: Mapping[str, Any], body: Any) -> bool:
    """Return True if a request body meets a condition: `at` a pointer, and what is to hold of the value there.

    That is `equals`, `in`, `not-in`, `above` or `below` for a number, `longer` for a text or a list, or `present`.
    Null counts as absent, as it does on the wire. A condition with `at` alone requires presence.
    """
    value = _value_at(body, condition["at"])
    if "equals" in condition:
        return _same(value, condition["equals"])
    if "in" in condition:
        return any(_same(value, each) for each in condition["in"])
    if "not-in" in condition:
        return not any(_same(value, each) for each in condition["not-in"])
    if condition.keys() & _BOUNDS:
        return _is_beyond(value, condition)
    return (value is not None) is condition.get("present", True)


def _is_beyond(value: Any, condition: Mapping[str, Any]) -> bool:
    if "longer" in condition:
        return type(value) in (str, list) and len(value) > condition["longer"]
    is_number = type(value) in (int, float)
    return is_number and (value > condition["above"] if "above" in condition else value < condition["below"])


def _value_at(body: Any, pointer: str) -> Any:
    """Return the value at a pointer; None if there is none. Nearly all pointers lead through objects alone."""
    value = body
    for token in parse(pointer):
        if value is None:
            return None
        # `type(…) is` costs less than isinstance, and this runs for each switch of each request.
        if type(value) is not dict:
            try:
                return resolve(body, pointer)
            except LookupError:
                return None
        value = value.get(token)
    return value


def _same(left: Any, right: Any) -> bool:
    """Compare JSON values; unlike in Python, true is not 1."""
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)
