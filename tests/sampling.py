"""Samples of cases: some of each profile by default, and the rest under a marker that the nightly run includes."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

import pytest


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
