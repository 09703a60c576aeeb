"""How a later request changes a history: which messages are kept, lost, rewritten or moved."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from conformance.wire.text import content_text

LOST: Final = "lost"
REWRITTEN: Final = "rewritten"
MOVED: Final = "moved"

_NONE: Final[Mapping[int, int]] = {}
_SORTED: Final = orjson.OPT_SORT_KEYS


class MessageChange(NamedTuple):
    """A message that the later request does not have unchanged, at its place.

    `number` is its position in the earlier request, `at` that in the later one; None if it is lost. `is_isolated`:
    whether its neighbours are still there, so that it was not dropped together with them.
    """

    kind: str
    number: int
    at: int | None
    value: dict[str, Any]
    is_isolated: bool


def common_prefix(before: Sequence[Any], after: Sequence[Any], known: int = 0) -> int:
    """Return the number of messages that two requests have in common at the beginning; so many are `known`."""
    number = known
    for old, new in zip(before[known:], after[known:], strict=False):
        # Most messages are equal as they are; their keys, which cost more, decide about the others.
        if old is not new and old != new and message_key(old) != message_key(new):
            break
        number += 1
    return number


def find_changes(
    before: list[Any], after: list[Any], old: Mapping[int, int], new: Mapping[int, int], known: int = 0
) -> list[MessageChange]:
    """Return the messages of an earlier request that a later one does not have unchanged.

    `old` and `new`: the reply that a message sends back, by position; two messages with one reply are the same,
    whatever their content. `after` ends before the messages that are new in the later request. `known`: how many
    messages they are known to have in common at the beginning.
    """
    begin = common_prefix(before, after, min(known, len(after)))
    if begin == len(before):
        return []
    matches = _matches(before, after, old, new, begin)
    kept = _in_order(matches)
    rewritten = _rewritten(before, after, matches, kept, begin)
    lost = {number for number in range(begin, len(before)) if number not in matches and number not in rewritten}
    found = []
    for number in range(begin, len(before)):
        value = before[number]
        if number in kept or type(value) is not dict:
            continue
        kind = LOST if number in lost else REWRITTEN if number in rewritten else MOVED
        later = rewritten.get(number, matches.get(number))
        found.append(MessageChange(kind, number, later, value, _is_isolated(before, number, lost)))
    return found


def _matches(
    before: list[Any], after: list[Any], old: Mapping[int, int], new: Mapping[int, int], begin: int
) -> dict[int, int]:
    """Return the messages that are the same in both requests: by the reply that they send back, else by their text."""
    matches: dict[int, int] = {}
    # A reply may be recognized in one request and not in the other, so that only the texts are left to compare.
    for given, sent in ((old, new), (_NONE, _NONE)):
        taken = set(matches.values())
        if len(matches) == len(before) - begin or len(taken) == len(after) - begin:
            break
        positions: dict[Any, list[int]] = {}
        # From the end, so that `pop` below takes the first of several equal messages.
        for at in range(len(after) - 1, begin - 1, -1):
            if at not in taken:
                positions.setdefault(sent.get(at, message_key(after[at])), []).append(at)
        for number in range(begin, len(before)):
            free = None if number in matches else positions.get(given.get(number, message_key(before[number])))
            if free:
                matches[number] = free.pop()
    return dict(sorted(matches.items()))


def message_key(message: Any) -> Any:
    """Return the text and the calls of a message, in a form that ignores notation and reasoning."""
    if type(message) is not dict:
        return repr(message)
    content, calls = message.get("content"), message.get("tool_calls")
    return (
        # `repr`, because whatever a client sends as a role or an id must be a part of a key, also a list.
        repr(message.get("role")),
        content_text(content),
        tuple([_normalized(part) for part in content if _is_other(part)]) if type(content) is list else (),
        repr(message.get("tool_call_id")),
        tuple([_call_key(call) for call in calls]) if type(calls) is list else (),
    )


def _in_order(matches: Mapping[int, int]) -> set[int]:
    """Return the largest set of messages in the same order in both requests: the longest increasing subsequence."""
    tails: list[int] = []
    last: list[int] = []
    before: dict[int, int | None] = {}
    for number, at in matches.items():
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
    before: list[Any], after: list[Any], matches: Mapping[int, int], kept: set[int], begin: int
) -> dict[int, int]:
    """Return the missing messages that another one of the same role replaces, each with the position of the other."""
    taken = set(matches.values())
    free: dict[Any, list[int]] = {}
    for at in range(begin, len(after)):
        if at not in taken:
            free.setdefault(_role(after[at]), []).append(at)
    # What replaces a message stands between the same messages as it did.
    anchors = sorted(kept)
    found: dict[int, int] = {}
    cursor = begin
    for number in range(begin, len(before)):
        if number in matches:
            continue
        following = bisect_left(anchors, number)
        low = max(cursor, matches[anchors[following - 1]] + 1 if following else begin)
        high = matches[anchors[following]] if following < len(anchors) else len(after)
        candidates = free.get(_role(before[number]), [])
        position = bisect_left(candidates, low)
        if position < len(candidates) and candidates[position] < high:
            found[number] = candidates[position]
            cursor = found[number] + 1
    return found


def _is_isolated(before: list[Any], number: int, lost: set[int]) -> bool:
    return not any(
        neighbour in lost and _role(before[neighbour]) != _role(before[number])
        for neighbour in (number - 1, number + 1)
    )


def _role(message: Any) -> str:
    return repr(message.get("role")) if type(message) is dict else ""


def _is_other(part: Any) -> bool:
    """Return whether a content part is neither text nor reasoning."""
    return type(part) is not dict or part.get("type") not in ("text", "thinking", "reasoning")


def _call_key(call: Any) -> Any:
    function = call.get("function") if type(call) is dict else None
    if type(function) is not dict:
        return repr(call)
    arguments = function.get("arguments")
    return repr(call.get("id")), repr(function.get("name")), _parsed(arguments)


def _parsed(arguments: Any) -> Any:
    try:
        return _normalized(orjson.loads(arguments))
    except (orjson.JSONDecodeError, TypeError):
        return repr(arguments)


def _normalized(value: Any) -> Any:
    try:
        return orjson.dumps(value, option=_SORTED)
    except TypeError:
        return repr(value)
