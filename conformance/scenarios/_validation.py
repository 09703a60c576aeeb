"""Errors in scenario files that a schema cannot find: unknown names, and positions that do not exist."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from string import Formatter
from typing import Any, Final

from conformance import profiles
from conformance.documents.pointer import Place
from conformance.errors import UnknownName
from conformance.schemas import validator
from conformance.wires import NAMES

ID_FIELDS: Final = ("turn", "position", "number", "name")
"""The fields of an id template."""

RESULT: Final = re.compile(r"\{result\.(\d+)\}")
"""Where a reply says the result of a call, by the call's position."""


def errors(value: Mapping[str, Any], tools: Set[str]) -> Iterator[tuple[Place, str]]:
    """Yield place and message of each error; `value` is a scenario with what it inherits."""
    for number, name in enumerate(value.get("tools", ())):
        if name not in tools:
            yield ("tools", number), str(UnknownName("tool", name, tools))
    for number, name in enumerate(value.get("wires", ())):
        if name not in NAMES:
            yield ("wires", number), str(UnknownName("wire", name, NAMES))
    yield from _errors_of_needs(value.get("needs", ()))
    yield from _errors_of_claims(value.get("claims", {}))
    if not _is_template(value.get("ids", "")):
        known = ", ".join(f"{{{name}}}" for name in ID_FIELDS)
        yield ("ids",), f"expected a template with the fields {known} only, got {value['ids']!r}"
    last = value["history"][-1] if "history" in value else {}
    yield from _errors_of_turns(value["turns"], frozenset(value.get("tools", ())), len(last.get("tool_calls", ())))


def _is_template(text: str) -> bool:
    try:
        return all(name is None or (name in ID_FIELDS and not form) for _, name, form, _ in Formatter().parse(text))
    except ValueError:
        return False


def _errors_of_needs(needs: Sequence[Any]) -> Iterator[tuple[Place, str]]:
    for number, need in enumerate(needs):
        for name in (need,) if isinstance(need, str) else need:
            if name not in profiles.vocabulary():
                yield ("needs", number), str(UnknownName("claim", name, profiles.vocabulary()))


def _errors_of_claims(claims: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    for name, value in claims.items():
        if name not in profiles.vocabulary():
            yield ("claims", name), str(UnknownName("claim", name, profiles.vocabulary()))
            continue
        claim = {name: {"value": value, "source": {"inferred": "a scenario"}, "confidence": "high"}}
        for error in validator("files/profile#/$defs/claims").errors(claim):
            yield ("claims", name), error.message


def _errors_of_turns(turns: Sequence[Mapping[str, Any]], tools: Set[str], called: int) -> Iterator[tuple[Place, str]]:
    """Yield the errors of turns; before the first one, the history ends with so many calls."""
    for number, turn in enumerate(turns):
        place: Place = ("turns", number)
        if "results" in turn and not called:
            yield (*place, "results"), "expected a user message, since the previous turn has no calls, got results"
        for key in ("fails", "denied"):
            for at, position in enumerate(turn.get(key, ())):
                if position >= called:
                    yield (*place, key, at), f"expected the position of one of {called} calls, got {position}"
        yield from _errors_of_texts(turn, place, called)
        if len(turn.get("delays", ())) > called:
            yield (*place, "delays"), f"expected at most {called} delays, got {len(turn['delays'])}"
        names = [next(iter(call)) for call in turn.get("calls", ())]
        for at, name in enumerate(names):
            if name not in tools:
                yield (*place, "calls", at), str(UnknownName("tool of this scenario", name, tools))
        called = len(names)


def _errors_of_texts(turn: Mapping[str, Any], place: Place, called: int) -> Iterator[tuple[Place, str]]:
    for key in ("thinks", "says"):
        for position in map(int, RESULT.findall(turn.get(key, ""))):
            if position >= called:
                yield (*place, key), f"expected the result of one of {called} calls, got that of {position}"
