"""Echoes: calls whose arguments the user's message gives word for word, so that any change is somebody's damage."""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from conformance.convert import ingress
from conformance.judge import judge_last
from conformance.profiles import UNKNOWN, Profile
from conformance.results import Status
from conformance.scenarios import ScriptTurn, arguments_text
from conformance.simulator.refusals import refusals
from conformance.suite.repeating import ReplyReading
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wires import as_sent

REORDERED: Final = "with keys in another order"
"""What is said of arguments that are equal but for the order of keys, which JSON leaves open."""

_KINDS: Final = ("named", "required")


def forced(turn: ScriptTurn, body: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """Return the `tool_choice` that forces the call of an echo, as far as the provider is known to accept it.

    Without one, the model is only asked for the call.
    """
    if not turn.echo:
        return {}
    known = profile.at(str(body.get("model", "")), "").get("tools.choices", _KINDS)
    choices = {"named": {"type": "function", "function": {"name": turn.calls[0][0]}}, "required": "required"}
    for kind in _KINDS if known != UNKNOWN else ():
        made = {"tool_choice": choices[kind]}
        if kind in known and not _is_refused({**body, **made}, profile):
            return made
    return {}


def _is_refused(body: Mapping[str, Any], profile: Profile) -> bool:
    found = judge_last((as_sent(body, profile.wire),), profile).found()
    return bool(refusals([*found], 0))


def read(turn: ScriptTurn, exchange: Exchange) -> ReplyReading:
    """Return whether the call of a reply repeats the arguments; without such a call, it is untested."""
    ((name, given),) = turn.calls
    found = Index((exchange,)).replies
    if not found:
        return ReplyReading(Status.UNTESTED, f"HTTP {exchange.status} instead of a call")
    if found[0].finish_reason == "length":
        return ReplyReading(Status.UNTESTED, "the token limit cut the reply")
    calls = [call["function"] for call in ingress.read(found[0].message, {}).get("tool_calls", ())]
    own = next((call for call in calls if call.get("name") == name), None)
    if own is None:
        others = ", ".join([str(call.get("name")) for call in calls])
        return ReplyReading(Status.UNTESTED, f"the model called {others or 'no tool'} instead of {name}")
    return _compared(json.loads(arguments_text(given)), own.get("arguments"))


def _compared(given: Mapping[str, Any], text: Any) -> ReplyReading:
    try:
        value = json.loads(text) if text else {}
    except (TypeError, ValueError):
        return ReplyReading(Status.FAILED, f"the arguments are not JSON: {text!r:.200}")
    if isinstance(value, str):
        return ReplyReading(Status.FAILED, f"the arguments are a JSON string, as if encoded twice: {text!r:.200}")
    if not isinstance(value, dict):
        return ReplyReading(Status.FAILED, f"the arguments are not an object: {text!r:.200}")
    if value and given and not _texts(given) & _texts(value):
        return ReplyReading(Status.UNTESTED, f"the model wrote arguments of its own: {text!r:.200}")
    difference = next(_differences(given, value, ""), None)
    if difference is not None:
        return ReplyReading(Status.FAILED, difference)
    order = "" if _orders(given) == _orders(value) else f", {REORDERED}"
    return ReplyReading(Status.PASSED, f"the arguments as given{order}")


def _differences(given: Any, got: Any, at: str) -> Iterator[str]:
    """Yield how a value differs from the one that was given; numbers are compared by value, and true is not 1."""
    if isinstance(given, dict) and isinstance(got, dict):
        for key in chain(given, [key for key in got if key not in given]):
            if key not in got:
                yield f"{at}/{key} is missing, which was {_json(given[key])}"
            elif key not in given:
                yield f"{at}/{key} was not given, got {_json(got[key])}"
            else:
                yield from _differences(given[key], got[key], f"{at}/{key}")
    elif isinstance(given, list) and isinstance(got, list) and len(given) == len(got):
        for number, (first, second) in enumerate(zip(given, got, strict=True)):
            yield from _differences(first, second, f"{at}/{number}")
    elif _kind(given) != _kind(got) or given != got:
        form = " (the same text in another Unicode form)" if _is_other_form(given, got) else ""
        yield f"expected {_json(given)} at {at}, got {_json(got)}{form}"


def _kind(value: Any) -> str:
    return "number" if type(value) in (int, float) else type(value).__name__


def _is_other_form(given: Any, got: Any) -> bool:
    if not (isinstance(given, str) and isinstance(got, str)):
        return False
    return unicodedata.normalize("NFC", given) == unicodedata.normalize("NFC", got)


def _json(value: Any) -> str:
    return f"{json.dumps(value):.120}"


def _texts(value: Any) -> set[str]:
    """Return the texts in a value, with its keys left out: what a model shows that it copies at all."""
    if isinstance(value, str):
        return {value} if value else set()
    held: Sequence[Any] = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(_texts, held))


def _orders(value: Any) -> list[Any]:
    """Return the keys of a value and of all objects in it, in their order."""
    if isinstance(value, dict):
        return [(key, _orders(held)) for key, held in value.items()]
    return [_orders(each) for each in value] if isinstance(value, list) else []
