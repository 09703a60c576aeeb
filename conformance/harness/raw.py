"""What no profile claims and yet happens: streams that break off, finish twice, or number every call 0.

A turn of a scenario names them under `raw`; only the simulator plays such a turn, and a client has to cope with it.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from conformance.wire.sse import render


def pieces(names: Sequence[str], events: Sequence[Any]) -> tuple[bytes, ...]:
    """Return the bytes of a stream that misbehaves in each of the named ways, one piece an event."""
    items = [*events]
    for name in names:
        items = RAW[name](items)
    return tuple([render([item]).encode() for item in items])


def _cut(items: list[Any]) -> list[Any]:
    """End after two thirds of the chunks: no finish reason, no end mark."""
    chunks = [item for item in items if isinstance(item, dict)]
    return chunks[: max(1, len(chunks) * 2 // 3)]


def _without_done(items: list[Any]) -> list[Any]:
    return [item for item in items if isinstance(item, dict)]


def _finished_twice(items: list[Any]) -> list[Any]:
    at = next(position for position, item in enumerate(items) if _finish(item) is not None)
    return [*items[: at + 1], copy.deepcopy(items[at]), *items[at + 1 :]]


def _index_zero(items: list[Any]) -> list[Any]:
    changed: list[Any] = copy.deepcopy(items)
    for item in changed:
        for choice in item["choices"] if isinstance(item, dict) else ():
            for call in choice["delta"].get("tool_calls", ()):
                call["index"] = 0
    return changed


def _error_inside(items: list[Any]) -> list[Any]:
    """Fail after half of the chunks, with status 200 sent long ago."""
    chunks = [item for item in items if isinstance(item, dict)]
    return [*chunks[: len(chunks) // 2], {"error": {"message": "The upstream is gone.", "code": 502}}]


def _finish(item: Any) -> Any:
    choices = item["choices"] if isinstance(item, dict) else []
    return choices[0].get("finish_reason") if choices else None


RAW: Final[Mapping[str, Callable[[list[Any]], list[Any]]]] = {
    "cut": _cut,
    "without-done": _without_done,
    "finished-twice": _finished_twice,
    "index-zero": _index_zero,
    "error-inside": _error_inside,
}
