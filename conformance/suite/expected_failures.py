"""Expected failures in a run of the suites: which failures they cover, and which of them are stale."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from conformance.baseline import Entry, fits
from conformance.gate import GateResult, evaluate, names
from conformance.results import Evidence
from conformance.results.runs import Case, Results


@dataclass(frozen=True, slots=True)
class ExpectedFailures:
    """The expected failures of one subject, on a day (ISO 8601)."""

    entries: tuple[Entry, ...]
    today: str

    @classmethod
    def of_subject(cls, subject: str, entries: Sequence[Entry], today: str) -> "ExpectedFailures":
        """Return the entries that may apply to this subject.

        An entry whose first segment has a star may apply to other subjects, too; only the gate over all results can
        tell whether it is stale.
        """
        return cls(tuple([each for each in entries if fits(_subject(each), subject)]), today)

    def covering(self, subject: str, case: Case, fact: str) -> Entry | None:
        """Return the entry in force that covers a failure; `fact` is a rule's id or `probes/<probe>`.

        A failure of the simulator is a bug of this project and never expected.
        """
        if case.evidence is Evidence.SIMULATED:
            return None
        named = names(subject, case.name, fact)
        return next((each for each in self._in_force() if each.covers(named)), None)

    def naming(self, subject: str, case: Case, fact: str) -> Entry | None:
        """Return the entry that names exactly this fact in this case; if the fact passes, the entry is stale.

        An entry with a star or without a case is judged at the end of the run, a flaky one never.
        """
        named = f"{subject}/{case.name}/{fact}"
        return next((each for each in self._in_force() if each.match == named and not each.flaky), None)

    def check_entries(self, results: Results, *, is_complete: bool) -> GateResult:
        """Return which of the entries that name this subject are stale, expired or unmatched.

        An entry that no longer fails or matches nothing is only reported after a complete run, an expired one always.
        """
        named = [each for each in self.entries if "*" not in _subject(each)]
        found = evaluate([results], named, self.today)
        expired = GateResult(expired=found.expired)
        return replace(expired, stale=found.stale, unmatched=found.unmatched) if is_complete else expired

    def _in_force(self) -> list[Entry]:
        return [each for each in self.entries if not each.has_expired(self.today)]


def _subject(entry: Entry) -> str:
    """Return the segment of an entry's pattern that names the subject."""
    return entry.match.partition("/")[0]
