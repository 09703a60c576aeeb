"""Smallest examples: a conversation that breaks a rule, without everything that the fault does not need.

Delta debugging over exchanges, replies, events of streams, messages, parts and keys, then over texts. A smaller
conversation counts if the same fault is found in it and no rule is broken that the whole one did not break, so that
what is left shows this fault and is otherwise as it should be. The result depends on the input alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from conformance import rules, wires
from conformance.documents.minimal import minimal
from conformance.errors import Unusable
from conformance.judge import judge
from conformance.profiles import Profile
from conformance.results import Finding, Status
from conformance.secrets import learning, scrubber
from conformance.secrets.urls import shown_url
from conformance.shrinking.states import (
    Size,
    State,
    at,
    conversation_of,
    holders,
    replaced,
    size_of,
    state_of,
    texts,
    with_text,
)
from conformance.wire.exchange import Conversation
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wire.values import as_object

MAX_CHECKS: Final = 3000
"""How many smaller conversations are checked unless the caller says otherwise."""

_ROUNDS: Final = 4
_SHORT: Final = 8
"""Texts of no more characters are left as they are."""

MAX_BYTES: Final = 100_000_000
"""How many bytes of smaller conversations are checked in all: a check of a large one takes longer."""

_CUT: Final = frozenset(
    f"{rule} {Status.FAILED}"
    for rule in ("native/stream-complete", "response/message-not-empty", "stream/complete", "stream/ends-with-done")
)
"""What may be broken in the result all the same: a stream that ends after its fault shows it best."""

_NUMBER: Final = "sequence_number"
_KEPT_HEADERS: Final = ("content-type", "retry-after")
_VARIABLE: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\{.*|\[.*|[0-9]+|…")


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest conversation that was found, the finding in it, and what it took.

    `before` and `after`: the sizes. `checks`: how many conversations were checked. `is_minimal`: False if the bound on
    checks ended the search.
    """

    conversation: Conversation
    finding: Finding
    before: Size
    after: Size
    checks: int
    is_minimal: bool


def shrink(
    conversation: Conversation,
    rule: str,
    profile: Profile | None = None,
    *,
    as_of: str = "",
    max_checks: int = MAX_CHECKS,
    progress: Callable[[int, int], None] = lambda _checks, _size: None,
) -> Shrunk:
    """Return the smallest conversation that breaks a rule as the first finding about a conversation says.

    `conversation`: exchanges as they were received. `progress` is called with the number of checks and the bytes left.
    Secrets are removed first. Raises Unusable if the conversation does not break the rule, with or without them.
    """
    whole = state_of(conversation)
    target = _target(whole, rule, profile, as_of)
    if target is None:
        raise Unusable(f"this conversation does not break {rule}")
    clean = _scrubbed(whole)
    if _target(clean, rule, profile, as_of) is None:
        raise Unusable(f"without its secrets, this conversation does not break {rule}")
    search = _Search(clean, _Fault(rule, _kind(target), profile, as_of), max_checks, progress)
    for _ in range(_ROUNDS):
        before = search.best
        for step in (_exchanges, _members, _plain_replies, _holders, _texts):
            step(search)
        if search.best == before:
            break
    # Checked once more from what is written, not from what was searched.
    found = conversation_of(search.best)
    finding = _target(state_of(found), rule, profile, as_of)
    if finding is None:
        raise Unusable(f"the smallest example does not break {rule}; this is a bug in conformance")
    return Shrunk(found, finding, size_of(whole), size_of(search.best), search.checks, not search.is_over)


@dataclass(frozen=True, slots=True)
class _Fault:
    """The fault to keep: a rule, and the words of its finding without what is particular to one conversation."""

    rule: str
    kind: str
    profile: Profile | None
    as_of: str


class _Search:
    """The best state so far, and the fault that it must have."""

    def __init__(self, state: State, fault: _Fault, max_checks: int, progress: Callable[[int, int], None]) -> None:
        self.best = state
        self.checks = 0
        self._fault = fault
        self._max_checks = max_checks
        self._progress = progress
        self._bytes = 0
        self._allowed = self._broken(state)[0] | _CUT

    @property
    def is_over(self) -> bool:
        """Return whether a bound on the search was reached."""
        return self.checks >= self._max_checks or self._bytes >= MAX_BYTES

    def accepts(self, state: State) -> bool:
        """Return whether a state has the fault and no new one; then it is the best."""
        if self.is_over or not state:
            return False
        size = len(orjson.dumps(state))
        self.checks, self._bytes = self.checks + 1, self._bytes + size
        broken, kinds = self._broken(state)
        if self._fault.kind not in kinds or not broken <= self._allowed:
            return False
        self.best = state
        self._progress(self.checks, size)
        return True

    def _broken(self, state: State) -> tuple[set[str], set[str]]:
        """Return the rules that a state breaks, and the kinds of findings of the rule to keep."""
        fault = self._fault
        try:
            outcomes = list(judge(conversation_of(state), fault.profile, rules.load(), fault.as_of).found())
        except (TypeError, ValueError, LookupError, AttributeError):
            return {""}, set()
        own = [each for each in outcomes if each.rule == fault.rule]
        kinds = {_kind(finding) for each in own for finding in each.findings}
        return {f"{each.rule} {each.status}" for each in outcomes}, kinds


def _target(state: State, rule: str, profile: Profile | None, as_of: str) -> Finding | None:
    """Return the first finding of a rule; None if there is none."""
    for outcome in judge(conversation_of(state), profile, rules.select((rule,)), as_of).found():
        if outcome.status is Status.FAILED:
            return outcome.findings[0]
    return None


def _kind(finding: Finding) -> str:
    return _VARIABLE.sub("#", finding.message.partition(", got")[0])


def _scrubbed(state: State) -> State:
    """Return a state without secrets, and without the headers that say nothing about a fault."""
    text = orjson.dumps(state).decode()
    known = scrubber(learning.of_text(text), [each["url"] for each in state])
    return tuple([_reduced(each) for each in orjson.loads(known.text(text))])


def _reduced(value: dict[str, Any]) -> dict[str, Any]:
    headers = {name: text for name, text in value["headers"].items() if name in _KEPT_HEADERS}
    return {**value, "headers": headers, "url": shown_url(value["url"]) if value["url"] else ""}


def _exchanges(search: _Search) -> None:
    whole = search.best
    minimal(range(len(whole)), lambda kept: search.accepts(tuple([whole[number] for number in kept])))


def _members(search: _Search) -> None:
    """Leave out replies, requests, headers and URLs."""
    for number in range(len(search.best)):
        for key, empty in (("response", None), ("headers", {}), ("url", ""), ("date", ""), ("status", None)):
            if search.best[number][key] not in (None, "", {}):
                search.accepts(_with(search.best, (number, key), empty))
    for number in range(len(search.best)):
        if search.best[number]["request"] is not None:
            search.accepts(_with(search.best, (number, "request"), None))


def _plain_replies(search: _Search) -> None:
    """Write streams as the plain replies that they add up to."""
    for number, value in enumerate(search.best):
        response = value["response"]
        if isinstance(response, dict) and "events" in response and (plain := _plain(search.best, number)) is not None:
            search.accepts(_with(search.best, (number, "response"), plain))


def _plain(state: State, number: int) -> Any:
    exchange = wires.translate(conversation_of(state))[number]
    if exchange.protocol != CHAT:
        return as_object(exchange.native and exchange.native.reply) or None
    choices = [
        {"index": position, "message": reply.message, "finish_reason": reply.finish_reason}
        for position, reply in enumerate(Index((exchange,)).replies)
    ]
    return {"object": "chat.completion", "choices": choices} if choices else None


def _holders(search: _Search) -> None:
    """Leave out what lists and objects hold, the outer ones first."""
    for number in range(len(search.best)):
        for key in ("request", "response"):
            done: set[Any] = set()
            while True:
                # What is left out on one level moves the places below it.
                body = search.best[number][key]
                place = next((each for each in holders(body) if each not in done), None)
                if place is None:
                    break
                done.add(place)
                _members_of(search, (number, key, *place))


def _members_of(search: _Search, place: tuple[Any, ...]) -> None:
    held = at(search.best, place)
    tokens: Iterable[Any] = list(held) if isinstance(held, dict) else range(len(held))

    def holds(kept: Sequence[Any]) -> bool:
        rest = {key: held[key] for key in kept} if isinstance(held, dict) else [held[number] for number in kept]
        return search.accepts(_with(search.best, place, _numbered(rest))) or (
            _numbered(rest) != rest and search.accepts(_with(search.best, place, rest))
        )

    minimal(list(tokens), holds)


def _numbered(events: Any) -> Any:
    """Return the events of a stream with the numbers that they would have without those that were left out."""
    if not isinstance(events, list) or not any(map(_is_numbered, events)):
        return events
    return [
        {**each, "data": {**each["data"], _NUMBER: position}} if _is_numbered(each) else each
        for position, each in enumerate(events)
    ]


def _is_numbered(event: Any) -> bool:
    return _NUMBER in as_object(as_object(event).get("data"))


def _texts(search: _Search) -> None:
    """Shorten texts, each in all the places where it is."""
    found = [text for each in search.best for key in ("request", "response") for text in texts(each[key])]
    for text in sorted(dict.fromkeys(found), key=lambda each: (-len(each), each)):
        if len(text) <= _SHORT:
            continue
        for short in dict.fromkeys((text[:1], text.split()[0][:_SHORT] if text.split() else "", text[:_SHORT])):
            if short and short != text and search.accepts(_with_texts(search.best, text, short)):
                break
        else:
            _halved(search, text)


def _halved(search: _Search, text: str) -> None:
    """Shorten a text by halves, and by quarters of what is left, from its end and from its beginning."""
    step = len(text) // 2
    while step >= _SHORT:
        for short in (text[:-step], text[step:]):
            if search.accepts(_with_texts(search.best, text, short)):
                text = short
                break
        else:
            step //= 2
        step = min(step, len(text) // 2)


def _with_texts(state: State, old: str, new: str) -> State:
    bodies_of = ("request", "response")
    return tuple([{**each, **{key: with_text(each[key], old, new) for key in bodies_of}} for each in state])


def _with(state: State, place: tuple[Any, ...], value: Any) -> State:
    number, *rest = place
    return (*state[:number], replaced(state[number], tuple(rest), value), *state[number + 1 :])
