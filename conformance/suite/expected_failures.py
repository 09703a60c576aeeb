"""Expected failures in a run of the suites: what they excuse, and what ends the run because it is no excuse."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from conformance.baseline import Entry, fits
from conformance.gate import GateResult, evaluate, names
from conformance.results import Case, Evidence, Results
from conformance.rule_ids import all_ids


@dataclass(frozen=True, slots=True)
class Excuses:
    """The expected failures about one subject, on a day (ISO 8601)."""

    entries: tuple[Entry, ...]
    today: str

    @classmethod
    def about(cls, subject: str, entries: Sequence[Entry], today: str) -> "Excuses":
        """Return those of some entries that a run of this subject says something of.

        One whose first part has a star may be about others, too, and excuses here what it covers; that it covers
        nothing is for the gate over all results to say.
        """
        return cls(tuple([each for each in entries if fits(_whom(each), subject)]), today)

    def of(self, subject: str, case: Case, fact: str) -> Entry | None:
        """Return the entry in force that excuses a failure; `fact` is a rule's id, or `probes/<probe>`.

        What the simulator does is this project's own and never excused.
        """
        if case.evidence is Evidence.SIMULATED:
            return None
        named = names(subject, case.name, fact)
        return next((each for each in self._in_force() if each.covers(named)), None)

    def of_nothing_else(self, subject: str, case: Case, fact: str) -> Entry | None:
        """Return the entry that names this fact in this case and no other, so that a pass makes it untrue at once.

        One with a star, or without the case, is judged when all that it may cover is known; one that is flaky, never.
        """
        named = [f"{subject}/{case.name}/{each}" for each in all_ids(fact)]
        return next((each for each in self._in_force() if each.match in named and not each.flaky), None)

    def judgement(self, results: Results, *, whole: bool) -> GateResult:
        """Return what the gate says of the entries themselves that name this subject.

        That one is mended, or fits nothing, can be told after a whole run alone; that it is past its end, always.
        """
        named = [each for each in self.entries if "*" not in _whom(each)]
        found = evaluate([results], named, self.today)
        told = GateResult(expired=found.expired)
        return replace(told, stale=found.stale, unmatched=found.unmatched) if whole else told

    def _in_force(self) -> list[Entry]:
        return [each for each in self.entries if not each.has_expired(self.today)]


def _whom(entry: Entry) -> str:
    """Return the part of an entry's pattern that says which subject it is about."""
    return entry.match.partition("/")[0]
