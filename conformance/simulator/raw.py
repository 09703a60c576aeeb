"""Faulty streams that no profile claims and that still occur: cut, failing, finished twice, with mixed calls.

A scenario or one of its turns names them under `raw`. Only the simulator plays such a turn; clients have to cope.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from conformance.wire.sse import render


def event_bytes(names: Sequence[str], events: Sequence[Any]) -> tuple[bytes, ...]:
    """Return the bytes of each event of a stream that has the named faults."""
    items = [*events]
    for name in names:
        items = FAULTS[name](items)
    return tuple([render([item]).encode() for item in items])


def _cut(items: list[Any]) -> list[Any]:
    """End before the last fragment of a call or after two thirds of the chunks, without finish reason and `[DONE]`."""
    chunks = [item for item in items if isinstance(item, dict)]
    fragments = [number for number, chunk in enumerate(chunks) if _has_call(chunk)]
    return chunks[: fragments[-1]] if len(fragments) > 1 else chunks[: max(1, len(chunks) * 2 // 3)]


def _finished_twice(items: list[Any]) -> list[Any]:
    at = next(position for position, item in enumerate(items) if _finish_reason(item) is not None)
    return [*items[: at + 1], copy.deepcopy(items[at]), *items[at + 1 :]]


def _error_inside(items: list[Any]) -> list[Any]:
    """Fail after half of the chunks, when status 200 has already been sent."""
    chunks = [item for item in items if isinstance(item, dict)]
    return [*chunks[: len(chunks) // 2], {"error": {"message": "The upstream is gone.", "code": 502}}]


def _interleaved(items: list[Any]) -> list[Any]:
    """Interleave the calls of a reply: the first fragment of each, then the second of each, and so on."""
    positions = [position for position, item in enumerate(items) if _has_call(item)]
    count: dict[int, int] = {}
    ranks = []
    for position in positions:
        index = items[position]["choices"][0]["delta"]["tool_calls"][0]["index"]
        count[index] = count.get(index, 0) + 1
        ranks.append((count[index], index, position))
    mixed = list(items)
    for position, (_, _, source) in zip(positions, sorted(ranks), strict=True):
        mixed[position] = items[source]
    return mixed


def _has_call(item: Any) -> bool:
    choices = item["choices"] if isinstance(item, dict) else []
    return bool(choices) and "tool_calls" in choices[0]["delta"]


def _finish_reason(item: Any) -> Any:
    choices = item["choices"] if isinstance(item, dict) else []
    return choices[0].get("finish_reason") if choices else None


FAULTS: Final[Mapping[str, Callable[[list[Any]], list[Any]]]] = {
    "cut": _cut,
    "finished-twice": _finished_twice,
    "error-inside": _error_inside,
    "interleaved": _interleaved,
}
