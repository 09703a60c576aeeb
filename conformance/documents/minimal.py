"""The smallest part of a list for which something still holds (delta debugging, Zeller and Hildebrandt, 2002)."""

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def minimal(items: Sequence[_T], holds: Callable[[Sequence[_T]], bool]) -> list[_T]:
    """Return a part of the items, in their order, for which `holds` is true and from which none can be left out alone.

    `holds` must be true for all items, and is asked about each part once. It may give up by returning False; then the
    result is larger, and still one for which it was true.
    """
    kept, chunk = list(items), max(1, len(items) // 2)
    while kept:
        start, left_out = 0, False
        while start < len(kept):
            rest = [*kept[:start], *kept[start + chunk :]]
            if holds(rest):
                kept, left_out = rest, True
            else:
                start += chunk
        if chunk == 1 and not left_out:
            break
        chunk = max(1, chunk // 2)
    return kept
