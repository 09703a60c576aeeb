"""What became of a history's messages in a later request: which were kept, and which lost, rewritten or moved."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from conformance.wire.resent import said

LOST: Final = "lost"
REWRITTEN: Final = "rewritten"
MOVED: Final = "moved"

_SORTED: Final = orjson.OPT_SORT_KEYS


class Change(NamedTuple):
    """What became of a message that the later request does not have as it was, at its place.

    `number` is its position in the earlier request, `at` that in the later one (None: it is lost). `alone`: its
    neighbours are still there, so that it was not cut off together with its surroundings.
    """

    kind: str
    number: int
    at: int | None
    value: dict[str, Any]
    alone: bool


def shared(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Return how many messages two requests have in common from the beginning."""
    number = 0
    for old, new in zip(before, after, strict=False):
        if old != new and key(old) != key(new):
            break
        number += 1
    return number


def changes(before: list[Any], after: list[Any], old: Mapping[int, int], new: Mapping[int, int]) -> list[Change]:
    """Return what became of the messages of an earlier request, those that were simply kept left out.

    `old` and `new` say which message carries which reply: such two are the same, whatever they hold. `after` ends
    where what the earlier request could not hold begins.
    """
    begin = shared(before, after)
    if begin == len(before):
        return []
    places: dict[Any, list[int]] = {}
    for at in range(len(after) - 1, begin - 1, -1):
        places.setdefault(new.get(at, key(after[at])), []).append(at)
    homes: dict[int, int] = {}
    for number in range(begin, len(before)):
        free = places.get(old.get(number, key(before[number])))
        if free:
            homes[number] = free.pop()
    kept = _in_order(homes)
    rewritten = _rewritten(before, after, homes, kept, begin)
    lost = {number for number in range(begin, len(before)) if number not in homes and number not in rewritten}
    found = []
    for number in range(begin, len(before)):
        value = before[number]
        if number in kept or type(value) is not dict:
            continue
        kind = LOST if number in lost else REWRITTEN if number in rewritten else MOVED
        place = rewritten.get(number, homes.get(number))
        found.append(Change(kind, number, place, value, _is_alone(before, number, lost)))
    return found


def key(message: Any) -> Any:
    """Return what a message says and calls; how that is written down, and reasoning, are left out."""
    if type(message) is not dict:
        return repr(message)
    content, calls = message.get("content"), message.get("tool_calls")
    return (
        repr(message.get("role")),
        said(content),
        tuple([_written(part) for part in content if _is_other(part)]) if type(content) is list else (),
        repr(message.get("tool_call_id")),
        tuple([_called(call) for call in calls]) if type(calls) is list else (),
    )


def _in_order(homes: Mapping[int, int]) -> set[int]:
    """Return the most messages that stand in the same order in both requests: the longest rising run of places."""
    tails: list[int] = []
    last: list[int] = []
    before: dict[int, int | None] = {}
    for number, at in homes.items():
        position = bisect_left(tails, at)
        before[number] = last[position - 1] if position else None
        tails[position : position + 1] = [at]
        last[position : position + 1] = [number]
    kept: set[int] = set()
    current = last[-1] if last else None
    while current is not None:
        kept.add(current)
        current = before[current]
    return kept


def _rewritten(
    before: list[Any], after: list[Any], homes: Mapping[int, int], kept: set[int], begin: int
) -> dict[int, int]:
    """Return the missing messages in whose place another one of the same role stands, and where that is."""
    taken = set(homes.values())
    free: dict[Any, list[int]] = {}
    for at in range(begin, len(after)):
        if at not in taken:
            free.setdefault(_role(after[at]), []).append(at)
    anchors = sorted(kept)
    found: dict[int, int] = {}
    cursor = begin
    for number in range(begin, len(before)):
        if number in homes:
            continue
        following = bisect_left(anchors, number)
        low = max(cursor, homes[anchors[following - 1]] + 1 if following else begin)
        high = homes[anchors[following]] if following < len(anchors) else len(after)
        candidates = free.get(_role(before[number]), [])
        position = bisect_left(candidates, low)
        if position < len(candidates) and candidates[position] < high:
            found[number] = candidates[position]
            cursor = found[number] + 1
    return found


def _is_alone(before: list[Any], number: int, lost: set[int]) -> bool:
    return not any(
        neighbour in lost and _role(before[neighbour]) != _role(before[number])
        for neighbour in (number - 1, number + 1)
    )


def _role(message: Any) -> str:
    return repr(message.get("role")) if type(message) is dict else ""


def _is_other(part: Any) -> bool:
    """Say whether a content part is neither text nor thought."""
    return type(part) is not dict or part.get("type") not in ("text", "thinking", "reasoning")


def _called(call: Any) -> Any:
    function = call.get("function") if type(call) is dict else None
    if type(function) is not dict:
        return repr(call)
    arguments = function.get("arguments")
    return repr(call.get("id")), repr(function.get("name")), _parsed(arguments)


def _parsed(arguments: Any) -> Any:
    try:
        return _written(orjson.loads(arguments))
    except (orjson.JSONDecodeError, TypeError):
        return repr(arguments)


def _written(value: Any) -> Any:
    try:
        return orjson.dumps(value, option=_SORTED)
    except TypeError:
        return repr(value)
