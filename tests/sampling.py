"""Samples of cases and examples: some of them by default, and the rest in CI or the nightly run."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

USUAL = 100
"""The examples of a property that hypothesis draws by default, and CI with it."""


def examples(number: int) -> int:
    """Return how many examples to draw where CI draws this many: a plain run draws fewer, the nightly run more."""
    assert settings.default
    return max(1, number * settings.default.max_examples // USUAL)


def some(data: Iterable[Any], one_in: int | None = None, name: Callable[[Any], str] = str) -> list[Any]:
    """Mark all data as `slow` but the first of so many, or of all; a plain run leaves them out."""
    return [
        pytest.param(each, id=name(each), marks=[pytest.mark.slow] if (place % one_in if one_in else place) else [])
        for place, each in enumerate(data)
    ]


def sampled(cases: Iterable[Any], per_profile: int, whole: Sequence[str] = ()) -> list[Any]:
    """Mark all but some cases of each profile as `exhaustive`.

    A case is a `pytest.param` with an id, whose first value is the profile's name. The choice depends on the ids alone.
    Of the profiles in `whole`, every case stays.
    """
    given = list(cases)
    by_profile: dict[str, list[Any]] = defaultdict(list)
    for case in given:
        by_profile[case.values[0]].append(case)
    kept = {
        case.id
        for name, group in by_profile.items()
        for case in sorted(group, key=_order)[: len(group) if name in whole else per_profile]
    }
    return [case if case.id in kept else _exhaustive(case) for case in given]


def _order(case: Any) -> int:
    return crc32(case.id.encode())


def _exhaustive(case: Any) -> Any:
    return pytest.param(*case.values, id=case.id, marks=(*case.marks, pytest.mark.exhaustive))
