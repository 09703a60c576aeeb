"""The sample: which changes are drawn, and which of them no test can notice."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from tests.mutants.changes import Change, Key

LISTED: Final = Path(__file__).with_name("equivalent.yaml")


class Equivalent(NamedTuple):
    """A change that alters no result, so that no test can notice it, and why."""

    key: Key
    why: str


class Sample(NamedTuple):
    """The changes to try, and the equivalent ones that were drawn before as many were found."""

    drawn: list[Change]
    equivalent: list[Equivalent]


def equivalents(path: Path = LISTED) -> list[Equivalent]:
    """Return the changes that are listed as equivalent, one by one."""
    listed = yaml.safe_load(path.read_text("utf-8")) or []
    return [
        Equivalent((each["file"], each["in"], each["from"], each["to"], each.get("nth", 1)), each["why"])
        for each in listed
    ]


def draw(every: Iterable[Change], seed: int, number: int, listed: Iterable[Equivalent]) -> Sample:
    """Draw changes: each has its place in the order of a seed, wherever it stands and whatever else changes."""
    reasons = {each.key: each for each in listed}
    drawn, equivalent = list[Change](), list[Equivalent]()
    for change in sorted(every, key=lambda each: sha256(repr((seed, *each.key)).encode()).digest()):
        if len(drawn) == number:
            break
        if change.key in reasons:
            equivalent.append(reasons[change.key])
        else:
            drawn.append(change)
    return Sample(drawn, equivalent)
