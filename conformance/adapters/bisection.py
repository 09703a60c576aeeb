"""Bisection: in which release an adapter begins to break a rule, and in which it stops."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from conformance import scenarios
from conformance.adapters.case import promised
from conformance.errors import UnknownName, Unusable
from conformance.results import Status
from conformance.results.runs import Case, Results

BAD: Final = "breaks"
GOOD: Final = "keeps"
SKIPPED: Final = "skipped"

MAX_SKIPPED: Final = 6
"""How many releases between two verdicts are tried that turn out to show nothing."""

_MAX_SAMPLES: Final = 16
"""How many releases are tried to find a bad one if none is named."""


class ReleaseVerdict(NamedTuple):
    """Whether a release breaks or keeps a rule, or why it shows neither; `cases` are those that break it."""

    kind: str
    why: str = ""
    cases: tuple[str, ...] = ()


class Edge(NamedTuple):
    """Where the verdict changes: the first release with the new one, the last before it, and those that show neither.

    `between` are the releases between the two that were skipped or not tried.
    """

    first: str
    before: str
    between: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bisection:
    """What a search found: the first bad release, the first fixed one, and each verdict in the order of the trials."""

    first_bad: Edge | None = None
    first_fixed: Edge | None = None
    verdicts: Mapping[str, ReleaseVerdict] = field(default_factory=dict)


Judge: TypeAlias = Callable[[str], ReleaseVerdict]
"""Runs one release."""


def verdict_of(results: Results, rule: str) -> ReleaseVerdict:
    """Return whether the results of a release show that it breaks a rule, keeps it, or neither."""
    found = [(case.name, outcome) for case in results.cases for outcome in case.outcomes if outcome.rule == rule]
    broken = tuple([name for name, outcome in found if outcome.status is Status.FAILED])
    if broken:
        return ReleaseVerdict(BAD, cases=broken)
    errors = [each.reason for case in results.cases for each in case.outcomes if each.status is Status.ERRORED]
    if errors:
        return ReleaseVerdict(SKIPPED, f"the driver failed: {errors[0]}")
    if any(outcome.status is Status.PASSED for _, outcome in found):
        return ReleaseVerdict(GOOD)
    notes = [case.note for case in results.cases if case.note]
    return ReleaseVerdict(SKIPPED, "; ".join(["there was nothing to check the rule by", *notes[:1]]))


def scenarios_for(rule: str, wire: str, stored: Sequence[Case] = (), *, agents: bool = False) -> tuple[str, ...]:
    """Return the scenarios that can show that a client breaks a rule, sorted; all if it is not known.

    Those are the ones in which stored results of the same client break it. Without any: those that promise to test the
    rule, and those in which the stored results have checked it.
    """
    seen = [(case.scenario, each.status) for case in stored for each in case.outcomes if each.rule == rule]
    broken = {name for name, status in seen if status is Status.FAILED}
    known = scenarios.played_by_clients(wire, agents=agents)
    promising = {each.name for each in known if rule in promised(each, wire)}
    chosen = broken or promising | {name for name, status in seen if status is Status.PASSED}
    return tuple([each.name for each in known if each.name in chosen or not chosen])


def search(versions: Sequence[str], judge: Judge, good: str = "", bad: str = "") -> Bisection:
    """Return where a rule is first broken and where it is first kept again; `versions` are sorted, the oldest first.

    With both `good` and `bad`, only the releases between them are tried. Without `bad`, the newest release is tried,
    then a sample. Raises UnknownName, and Unusable if `good` or `bad` does not show what it is named for.
    """
    for named in filter(None, (good, bad)):
        if named not in versions:
            raise UnknownName("release", named, versions)
    trials = _Trials(versions, judge)
    at_bad = trials.expected(bad, BAD) if bad else trials.sampled(versions.index(good) if good else 0)
    if at_bad is None:
        return Bisection(verdicts=trials.verdicts)
    if good:
        edge = trials.edge(at_bad, trials.expected(good, GOOD))
        is_older = versions.index(good) < at_bad
        return Bisection(edge if is_older else None, None if is_older else edge, trials.verdicts)
    older, newer = [trials.outwards(at_bad, step) for step in (-1, 1)]
    first_bad, first_fixed = [None if found is None else trials.edge(*found) for found in (older, newer)]
    return Bisection(first_bad, first_fixed, trials.verdicts)


class _Trials:
    """The releases of a search, each tried at most once."""

    def __init__(self, versions: Sequence[str], judge: Judge) -> None:
        self._versions, self._judge = versions, judge
        self.verdicts: dict[str, ReleaseVerdict] = {}

    def kind(self, at: int) -> str:
        """Return the kind of verdict of a release, which is tried now if it was not."""
        version = self._versions[at]
        if version not in self.verdicts:
            self.verdicts[version] = self._judge(version)
        return self.verdicts[version].kind

    def expected(self, version: str, kind: str) -> int:
        """Return where a release stands; raises Unusable if its verdict is another one."""
        at = self._versions.index(version)
        if self.kind(at) == SKIPPED:
            raise Unusable(f"{version} shows nothing, choose another release: {self.verdicts[version].why}")
        if self.kind(at) != kind:
            other = "--bad" if kind == BAD else "--good"
            raise Unusable(f"{version} {self.kind(at)} the rule; {other} has to name a release that {kind} it")
        return at

    def sampled(self, start: int) -> int | None:
        """Return a release that breaks the rule: the newest, else one of a sample that gets finer and finer."""
        last = len(self._versions) - 1
        for number in range(_MAX_SAMPLES):
            at = last - round((last - start) * _fraction(number))
            if self.kind(at) == BAD:
                return at
        return None

    def outwards(self, bad: int, step: int) -> tuple[int, int] | None:
        """Return the last bad and the first good release on the way from a bad one to the oldest or to the newest.

        The steps double, so that the nearest change is found and not one of another time.
        """
        end = len(self._versions) - 1 if step > 0 else 0
        silent: int | None = None
        for distance in _doubled(abs(end - bad)):
            at = bad + step * distance
            if self.kind(at) == GOOD:
                return self._last_bad(bad, at), at
            if self.kind(at) == SKIPPED:
                silent = at if silent is None else silent
        return None if silent is None else self._before_silence(self._last_bad(bad, silent), silent)

    def _last_bad(self, start: int, end: int) -> int:
        """Return the bad release between two places that is nearest to the second."""
        known = [at for at, version in enumerate(self._versions) if self._is(version, BAD)]
        return min([at for at in known if min(start, end) <= at <= max(start, end)], key=lambda at: abs(at - end))

    def _before_silence(self, bad: int, silent: int) -> tuple[int, int] | None:
        """Return the edge between a bad release and those that show nothing, if there is one."""
        while abs(silent - bad) > 1:
            middle = (bad + silent) // 2
            kind = self.kind(middle)
            if kind == GOOD:
                return bad, middle
            bad, silent = (middle, silent) if kind == BAD else (bad, middle)
        return None

    def edge(self, bad: int, good: int) -> Edge:
        """Return where the verdict changes between a bad and a good release, by halves."""
        low, high = sorted((bad, good))
        silent = 0
        while silent < MAX_SKIPPED:
            inside = [at for at in range(low + 1, high) if not self._is(self._versions[at], SKIPPED)]
            if not inside:
                break
            middle = min(inside, key=lambda at: abs(2 * at - low - high))
            kind = self.kind(middle)
            silent += kind == SKIPPED
            if kind != SKIPPED:
                low, high = (middle, high) if kind == self.kind(low) else (low, middle)
        return Edge(self._versions[high], self._versions[low], tuple(self._versions[low + 1 : high]))

    def _is(self, version: str, kind: str) -> bool:
        return version in self.verdicts and self.verdicts[version].kind == kind


def _doubled(distance: int) -> Iterator[int]:
    """Yield 1, 2, 4 …, and the distance itself at the end."""
    step = 1
    while step < distance:
        yield step
        step *= 2
    if distance:
        yield distance


def _fraction(number: int) -> float:
    """Return 0, 1/2, 1/4, 3/4, 1/8 …: the numbers of a sample that gets finer (van der Corput's sequence)."""
    value, half = 0.0, 0.5
    while number:
        number, bit = divmod(number, 2)
        value += bit * half
        half /= 2
    return value
