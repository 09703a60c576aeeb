"""Which rules an input reaches: those that judged something of it, whoever asked the judge."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from conformance import judge


class Reached(NamedTuple):
    """The rules that judged something of the inputs of a target, with the number of inputs, and those that failed.

    `inputs` counts the inputs of which any rule judged something.
    """

    inputs: int = 0
    judged: Counter[str] = Counter()  # noqa: RUF012 — never changed
    failed: Counter[str] = Counter()  # noqa: RUF012

    def added(self, judged: set[str], failed: set[str]) -> "Reached":
        """Return what is reached with one more input."""
        return Reached(self.inputs + bool(judged), self.judged + Counter(judged), self.failed + Counter(failed))

    def __add__(self, other: Any) -> "Reached":
        """Return what two runs reached together."""
        return Reached(self.inputs + other.inputs, self.judged + other.judged, self.failed + other.failed)


class Watch:
    """Notes the rules that the judge applies inside the block of `watching`."""

    def __init__(self) -> None:
        self.judged: set[str] = set()
        self.failed: set[str] = set()

    def taken(self) -> tuple[set[str], set[str]]:
        """Return what was noted since the last call."""
        found = self.judged, self.failed
        self.judged, self.failed = set(), set()
        return found


@contextmanager
def watching() -> Iterator[Watch]:
    """Note what the judge does: what judges a conversation at once and a session both end with the same function."""
    watch, unwatched = Watch(), judge.judgement_of

    def watched(*given: Any, **named: Any) -> judge.Judgement:
        made = unwatched(*given, **named)
        watch.judged.update(made.judged())
        watch.failed.update(each.rule for each in made.faulty.values() if each.findings)
        return made

    judge.judgement_of = watched
    try:
        yield watch
    finally:
        judge.judgement_of = unwatched
