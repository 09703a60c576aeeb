"""Samples of cases and examples: some of them by default, and the rest in CI or the nightly run."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

import pytest

USUAL = 100
"""The examples of a property that hypothesis draws by default."""

WHOLE = 8
"""The cases that a plain run plays of a profile of which CI plays all."""


def examples(number: int) -> int:
    """Return how many examples a run draws where hypothesis would draw this many: few in a plain run, most at night."""
    # Imported here because processes that tests start import this module, too, and few of them draw examples.
    from hypothesis import settings

    assert settings.default
    return max(1, number * settings.default.max_examples // USUAL)


def some(
    data: Iterable[Any],
    one_in: int | None = None,
    name: Callable[[Any], str] = str,
    mark: pytest.MarkDecorator = pytest.mark.slow,
) -> list[Any]:
    """Mark all data but the first of so many, or of all. A tuple has a value for each parameter of the test."""
    return [
        pytest.param(
            *(each if isinstance(each, tuple) else (each,)),
            id=name(each),
            marks=[mark] if (place % one_in if one_in else place) else [],
        )
        for place, each in enumerate(data)
    ]


def sampled(cases: Iterable[Any], per_profile: int, whole: Sequence[str] = (), in_ci: int = 0) -> list[Any]:
    """Mark all but some cases of each profile: those that CI includes as `slow`, and the others as `exhaustive`.

    A case is a `pytest.param` with an id, whose first value is the profile's name. The choice depends on the ids alone.
    Of the profiles in `whole`, CI includes every case.
    """
    by_profile: dict[str, list[Any]] = defaultdict(list)
    for case in cases:
        by_profile[case.values[0]].append(case)
    return [case for name, group in by_profile.items() for case in _marked(group, name in whole, per_profile, in_ci)]


def _marked(group: Sequence[Any], whole: bool, plain: int, in_ci: int) -> Iterator[Any]:  # noqa: FBT001 — one caller
    for place, case in enumerate(sorted(group, key=lambda each: crc32(each.id.encode()))):
        if place < (max(WHOLE, plain) if whole else plain):
            yield case
        else:
            mark = pytest.mark.slow if whole or place < in_ci else pytest.mark.exhaustive
            yield pytest.param(*case.values, id=case.id, marks=(*case.marks, mark))
