"""Excerpts of long conversations: the history that requests share is cut down to its beginning and its last turns.

A fix for what a request adds seldom depends on the middle of its history, and judging all of it for each attempt would
take the square of a session's length. What is found this way is judged in the whole session at the end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final, NamedTuple

from conformance.documents.patch import Operation
from conformance.documents.pointer import parse, render
from conformance.fixes.problem import with_request
from conformance.results import Finding
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.values import as_object

LISTS: Final = ("messages", "input", "contents")
"""The members of a request that hold the conversation, on all wires."""

SHORT: Final = 40
"""A history of so many messages, items or contents is judged whole."""

_KEPT: Final = 12
"""How many units at the end of the shared history are kept at least."""

_MADE_BY_MODELS: Final = frozenset({"reasoning", "function_call", "custom_tool_call"})


class Excerpt(NamedTuple):
    """Exchanges without a part of their history.

    `key`: the member of the requests that holds it. `start`: the position from which units are missing. `missing`: how
    many.
    """

    conversation: Conversation
    key: str = ""
    start: int = 0
    missing: int = 0

    def finding(self, finding: Finding) -> Finding | None:
        """Return a finding of the whole conversation as one of the excerpt; None if its place is missing."""
        return self._moved(finding, -self.missing)

    def original(self, finding: Finding) -> Finding:
        """Return a finding of the excerpt as one of the whole conversation."""
        return self._moved(finding, self.missing) or finding

    def patch(self, operations: Iterable[Operation]) -> tuple[Operation, ...] | None:
        """Return operations on a request of the excerpt as those on the whole one; None for one on the whole list."""
        moved = []
        for each in operations:
            tokens = parse(each["path"])
            if tokens == (self.key,) and self.missing:
                return None
            if tokens[:1] == (self.key,):
                at = int(tokens[1])
                tokens = (self.key, str(at + self.missing * (at >= self.start)), *tokens[2:])
            moved.append({**each, "path": render(tokens)})
        return tuple(moved)

    def _moved(self, finding: Finding, by: int) -> Finding | None:
        number, side, *inside = [*parse(finding.at), "", ""][: max(2, len(parse(finding.at)))]
        if not by or side != "request" or inside[:1] != [self.key] or len(inside) < 2 or not inside[1].isdecimal():
            return finding
        at = int(inside[1])
        if at < self.start:
            return finding
        if at + by < self.start:
            return None
        return replace(finding, at=render((number, side, self.key, at + by, *inside[2:])))


def excerpt(conversation: Conversation, least: int | None = None) -> Excerpt:
    """Return the exchanges without the middle of the history that all of them share, if it is long.

    `least`: the position of a unit of the last request that is kept.
    """
    key, lists = units(conversation)
    if not key or min(map(len, lists)) < SHORT:
        return Excerpt(conversation)
    last = lists[-1]
    shared = min(shared_length(each, last) for each in lists)
    start = len(list(takewhile(lambda unit: not _is_of_model(unit), last[:shared])))
    end = min(shared, len(last) if least is None or least < start else least + _KEPT) - _KEPT
    # A turn begins where the model speaks after results or the user; before it, no call waits for a result.
    cut = next((at for at in range(end, start, -1) if _is_of_model(last[at]) and not _is_of_model(last[at - 1])), start)
    if cut - start < SHORT - _KEPT:
        return Excerpt(conversation)
    kept = tuple([_without(each, key, start, cut) for each in conversation])
    return Excerpt(kept, key, start, cut - start)


def units(conversation: Sequence[Exchange]) -> tuple[str, list[list[Any]]]:
    """Return which member of all requests holds the history, and each one's; no name if they have none in common."""
    for key in LISTS:
        lists = [each for exchange in conversation if isinstance(each := as_object(exchange.request).get(key), list)]
        if len(lists) == len(conversation):
            return key, lists
    return "", []


def shared_length(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Return how many units two histories have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    differing = (at for at, (mine, theirs) in pairs if mine is not theirs and mine != theirs)
    return next(differing, min(len(one), len(other)))


def source_of(conversation: Conversation, number: int) -> tuple[int, int]:
    """Return the latest earlier exchange whose history a request repeats furthest, and how many units; -1 if none."""
    key, listed = units(conversation[number : number + 1])
    best, longest = -1, 0
    for earlier in range(number - 1, -1, -1):
        there, held = units(conversation[earlier : earlier + 1])
        if not key or there != key or len(held[0]) <= longest:
            continue
        length = shared_length(held[0], listed[0])
        if length > longest:
            best, longest = earlier, length
        if length == len(held[0]):
            break
    return best, longest


def _is_of_model(unit: Any) -> bool:
    shown = as_object(unit)
    return shown.get("role") in ("assistant", "model") or shown.get("type") in _MADE_BY_MODELS


def _without(exchange: Exchange, key: str, start: int, end: int) -> Exchange:
    listed = exchange.request[key]
    return with_request(exchange, {**exchange.request, key: [*listed[:start], *listed[end:]]})
