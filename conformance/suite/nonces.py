"""Nonces: values in tool results that no model can guess, and what an answer must name of them.

A value follows from its case and its place there. So recordings can be replayed, and the answer to another turn or to
the other variant, such as one from a cache, names another value. Scenarios with fixed results are held to the same:
what their script says back of them, the answer of any model must name.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from conformance.convert import ingress
from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.results import Status
from conformance.scenarios import NONCE, VARIANTS, Scenario
from conformance.suite import pairing
from conformance.suite.repeating import ReplyReading
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index

_ALPHABET: Final = "BCDFGHJKLMNPQRTVWXZ2345679"
"""No vowels, so that no value is a word, and nothing that is easily taken for something else."""

_LENGTH: Final = 8


class ExpectedResult(NamedTuple):
    """A result that an answer must name: the call as a reader knows it, an argument of the call, and the value."""

    call: str
    label: str
    value: str


class ExpectedAnswer(NamedTuple):
    """What the answer of a turn, counted from 1, must name; `foreign` are values that belong elsewhere, and where."""

    turn: int
    exchange: Exchange
    named: tuple[ExpectedResult, ...]
    foreign: Mapping[str, str]


def value(case: str, turn: int, position: int) -> str:
    """Return the nonce of a result of a case: of its turn, counted from 1, and of a call, counted from 0."""
    digest = hashlib.sha256(f"{case} {turn} {position}".encode()).digest()
    return "".join([_ALPHABET[each % len(_ALPHABET)] for each in digest[:_LENGTH]])


def filled(scenario: Scenario, variant: str) -> Scenario:
    """Return a scenario with the values of a variant in its results."""
    if not any(NONCE in result for turn in scenario.turns for result in turn.results):
        return scenario
    case = f"{scenario.name}.{variant}"
    turns = [
        replace(turn, results=tuple([_filled(text, case, number, at) for at, text in enumerate(turn.results)]))
        for number, turn in enumerate(scenario.turns, 1)
    ]
    return replace(scenario, turns=tuple(turns))


def _filled(text: str, case: str, turn: int, position: int) -> str:
    return text.replace(NONCE, value(case, turn, position))


def answering(scenario: Scenario) -> Iterator[int]:
    """Yield the turns, counted from 1, whose scripts say results back."""
    pending: list[str] = []
    for number, turn in enumerate(scenario.turns, 1):
        pending = [*([] if turn.user is not None else pending), *turn.results]
        if turn.says and not turn.calls and any(NONCE in each or pairing.names(turn.says, each) for each in pending):
            yield number


def answers(scenario: Scenario, variant: str, conversation: Sequence[Exchange]) -> Iterator[ExpectedAnswer]:
    """Yield each turn that answers from results which its script says back; `scenario` has its placeholders."""
    case = f"{scenario.name}.{variant}"
    pending: list[tuple[int, int, Mapping[str, Any]]] = []
    called: Sequence[Mapping[str, Any]] = ()
    for number, (turn, exchange) in enumerate(zip(scenario.turns, conversation, strict=False), 1):
        if turn.user is not None:
            pending = []
        pending += [(number, at, call) for at, call in enumerate(called[: len(turn.results)])]
        if pending and turn.says and not turn.calls:
            results = [(each, scenario.turns[each[0] - 1].results[each[1]]) for each in pending]
            named = [
                ExpectedResult(_shown(call), _label(call), _value(text, case, of, at))
                for (of, at, call), text in results
                if NONCE in text or pairing.names(turn.says, text)
            ]
            if named:
                yield ExpectedAnswer(number, exchange, tuple(named), _foreign(scenario, variant, named))
        called = _calls(exchange)


def _value(text: str, case: str, turn: int, position: int) -> str:
    return value(case, turn, position) if NONCE in text else text


def read(expected: ExpectedAnswer, exchange: Exchange) -> ReplyReading:
    """Return what a reply shows: each value with its own call, one that is missing or of another call, or neither."""
    found = Index((exchange,)).replies
    if not found:
        return ReplyReading(Status.UNTESTED, f"HTTP {exchange.status} instead of an answer")
    message = ingress.read(found[0].message, {})
    if message.get("tool_calls"):
        return ReplyReading(Status.UNTESTED, "the model called a tool again instead of answering")
    text, named = str(message.get("content") or ""), expected.named
    if missing := [each for each in named if not pairing.names(text, each.value)]:
        return ReplyReading(Status.FAILED, _missing(missing[0], text, expected.foreign))
    labels, values = [each.label for each in named], [each.value for each in named]
    if len({*labels}) < len(labels) or len({*values}) < len(values) or len(named) == 1:
        return ReplyReading(Status.PASSED, "each result is in the answer")
    return _assigned(text, named, pairing.pairs(text, labels, values))


def _missing(missing: ExpectedResult, text: str, foreign: Mapping[str, str]) -> str:
    said = f"the answer does not contain {missing.value!r}, the result of {missing.call}"
    other = next((each for each in foreign if pairing.names(text, each)), None)
    return said if other is None else f"{said}, but {other!r}, {foreign[other]}"


def _assigned(text: str, named: Sequence[ExpectedResult], found: set[tuple[int, int]] | None) -> ReplyReading:
    by_value: dict[int, set[int]] = {}
    for label, number in found or ():
        by_value.setdefault(number, set()).add(label)
    if absent := next((each.label for each in named if not pairing.mentions(text, each.label)), ""):
        return ReplyReading(Status.UNTESTED, f"the answer names every result, but not {absent!r}")
    if found is None or by_value.keys() != {*range(len(named))} or any(len(each) > 1 for each in by_value.values()):
        return ReplyReading(
            Status.UNTESTED, f"the answer names every result, but not clearly whose it is: {text!r:.200}"
        )
    for number, (label,) in sorted((number, tuple(labels)) for number, labels in by_value.items()):
        if label != number:
            swapped = f"the answer gives the result of {named[number].call}, {named[number].value!r}, "
            return ReplyReading(Status.FAILED, f"{swapped}as that of {named[label].call}")
    return ReplyReading(Status.PASSED, "each result with its own call")


def is_paired(exchange: Exchange) -> bool | None:
    """Return True if the answer to tool results names each with its own call, False if it exchanges them.

    None if it does not say so clearly. Results belong to calls by their ids, in whatever order they were sent.
    """
    messages = (exchange.request or {})["messages"]
    turns = [each for each in messages if each.get("tool_calls")]
    found = Index((exchange,)).replies
    if not turns or not found or len(turns[-1]["tool_calls"]) < 2:
        return None
    results = {each.get("tool_call_id"): each.get("content") for each in messages if each["role"] == "tool"}
    calls = turns[-1]["tool_calls"]
    texts = [str(results.get(call.get("id"), "")) for call in calls]
    labels = [_label(call["function"]) for call in calls]
    message = ingress.read(found[0].message, {})
    if message.get("tool_calls") or len({*labels, *texts}) < 2 * len(calls) or not all((*labels, *texts)):
        return None
    pairs = pairing.pairs(str(message.get("content") or ""), labels, texts) or set()
    if {number for _, number in pairs} != {*range(len(calls))} or len(pairs) > len(calls):
        return None
    return all(label == number for label, number in pairs)


def _foreign(scenario: Scenario, variant: str, named: Sequence[ExpectedResult]) -> dict[str, str]:
    """Return the values of the other turns and of the other variant, with where they belong."""
    own = {each.value for each in named}
    found: dict[str, str] = {}
    for other in (variant, *[each for each in VARIANTS if each != variant]):
        case = f"{scenario.name}.{other}"
        for number, turn in enumerate(scenario.turns, 1):
            where = f"a result of turn {number}" + ("" if other == variant else f" of the {other} variant")
            for at, text in enumerate(turn.results):
                found.setdefault(_value(text, case, number, at), where)
    return {each: where for each, where in found.items() if each not in own}


def _calls(exchange: Exchange) -> Sequence[Mapping[str, Any]]:
    found = Index((exchange,)).replies
    message = ingress.read(found[0].message, {}) if found else {}
    return [call["function"] for call in message.get("tool_calls", ())]


def _shown(call: Mapping[str, Any]) -> str:
    return f"{call.get('name')} {call.get('arguments')}"


def _label(call: Mapping[str, Any]) -> str:
    """Return the first text among the arguments of a call; without one, nothing."""
    try:
        arguments = parse_json(str(call.get("arguments")), "arguments")
    except InvalidDocument:
        return ""
    values = arguments.values() if isinstance(arguments, dict) else ()
    return next((each for each in values if isinstance(each, str)), "")
