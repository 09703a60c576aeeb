"""How many checks of results conform, fail, or are only declared."""

from collections.abc import Iterable
from dataclasses import dataclass

from conformance.gate import check_results
from conformance.results import Evidence
from conformance.results.runs import Results


@dataclass(frozen=True, slots=True)
class CheckCounts:
    """Numbers of checks (rules and probes) over all cases of a subject; each check counts once.

    `conforms` and `fails` were observed: live, in recordings or with an engine. `declared`: only the simulator played
    them, which tests the suite and not the subject.
    """

    conforms: int = 0
    fails: int = 0
    declared: int = 0

    @property
    def observed(self) -> int:
        """Return the number of checks that were observed."""
        return self.conforms + self.fails


def count(many: Iterable[Results]) -> CheckCounts:
    """Count the checks of results; one fails if it fails, errors, or is untested though promised, in any case."""
    observed: dict[tuple[str, str], bool] = {}
    declared: set[tuple[str, str]] = set()
    for results in many:
        kinds = {case.name: case.evidence for case in results.cases}
        for result in check_results(results):
            name = (result.subject, result.check)
            # An adapter is itself under test, even though the provider is simulated.
            if kinds[result.case] is Evidence.SIMULATED and not results.provider:
                declared.add(name)
            else:
                observed[name] = observed.get(name, True) and not result.is_bad
    conforms = sum(observed.values())
    return CheckCounts(conforms, len(observed) - conforms, len(declared - observed.keys()))
