"""JSON Patch (RFC 6902): the difference of two plain values as operations, and their application.

The operations of a difference stand in an order in which each may be left out: those on later places come first, so
that no operation moves the place of one after it.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, TypeAlias

import orjson

from conformance.documents.pointer import Place, parse, render

Operation: TypeAlias = dict[str, Any]
"""One operation: `op` is add, remove or replace, `path` a JSON Pointer, and `value` what is added."""

_HOLDERS: Final = (dict, list)
_ALIKE: Final = ("role", "type", "name", "id", "call_id")
"""The members that say whether two objects of a list are the same one, changed."""


def difference(before: Any, after: Any, place: Place = ()) -> list[Operation]:
    """Return the operations that turn one value into another."""
    return list(_difference(before, after, place))


def apply(value: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """Return a value to which operations were applied, in their order; raises LookupError.

    The value is not changed, and the result shares with it what the operations leave as it is.
    """
    for operation in operations:
        value = _applied(value, parse(operation["path"]), operation)
    return value


def _applied(holder: Any, tokens: Sequence[str], operation: Mapping[str, Any]) -> Any:
    if not tokens:
        return operation["value"]
    changed, last = holder.copy(), tokens[0]
    key: Any = last
    if type(holder) is list:
        key = len(holder) if last == "-" else int(last)
    if len(tokens) > 1:
        changed[key] = _applied(holder[key], tokens[1:], operation)
    elif operation["op"] == "remove":
        del changed[key]
    elif operation["op"] == "add" and type(holder) is list:
        changed.insert(key, operation["value"])
    else:
        changed[key] = operation["value"]
    return changed


def _difference(before: Any, after: Any, place: Place) -> Iterator[Operation]:
    if type(before) is dict and type(after) is dict:
        for key in before:
            if key not in after:
                yield {"op": "remove", "path": render((*place, key))}
            elif before[key] != after[key] or type(before[key]) is not type(after[key]):
                yield from _difference(before[key], after[key], (*place, key))
        for key in after:
            if key not in before:
                yield {"op": "add", "path": render((*place, key)), "value": after[key]}
    elif type(before) is list and type(after) is list:
        yield from _of_lists(before, after, place)
    elif before != after or type(before) is not type(after):
        yield {"op": "replace", "path": render(place), "value": after}


def _of_lists(before: list[Any], after: list[Any], place: Place) -> Iterator[Operation]:
    texts = [_text(each) for each in before]
    # Most items are the same objects, of which the text is known.
    known = dict(zip(map(id, before), texts, strict=True))
    others = [known.get(id(each)) or _text(each) for each in after]
    matcher = SequenceMatcher(None, texts, others, autojunk=False)
    # From the end, so that a position stays what it is in the old list until its own turn.
    for tag, start, end, new_start, new_end in reversed(matcher.get_opcodes()):
        if tag == "equal":
            continue
        pairs = _pairs(before[start:end], after[new_start:new_end])
        for old, new in reversed(pairs):
            if new is None and old is not None:
                yield {"op": "remove", "path": render((*place, start + old))}
            elif old is not None and new is not None:
                yield from _difference(before[start + old], after[new_start + new], (*place, start + old))
            elif new is not None:
                at = start + next(
                    (each for each, _ in pairs[pairs.index((old, new)) :] if each is not None), end - start
                )
                yield {"op": "add", "path": render((*place, at)), "value": after[new_start + new]}


def _pairs(before: list[Any], after: list[Any]) -> list[tuple[int | None, int | None]]:
    """Return which item became which, in order; None for one that is gone or new."""
    if len(before) == len(after):
        return [(number, number) for number in range(len(before))]
    matcher = SequenceMatcher(None, [_kind(each) for each in before], [_kind(each) for each in after], autojunk=False)
    pairs: list[tuple[int | None, int | None]] = []
    old = new = 0
    for block in matcher.get_matching_blocks():
        pairs += [(number, None) for number in range(old, block.a)]
        pairs += [(None, number) for number in range(new, block.b)]
        pairs += [(block.a + number, block.b + number) for number in range(block.size)]
        old, new = block.a + block.size, block.b + block.size
    return pairs


def _text(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS) if isinstance(value, _HOLDERS) else repr(value).encode()


def _kind(value: Any) -> str:
    return repr([value.get(key) for key in _ALIKE]) if type(value) is dict else repr(value)
