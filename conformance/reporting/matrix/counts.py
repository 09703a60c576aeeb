"""How a subject stands, in a few numbers: what was seen to conform apart from what is only declared."""

from collections.abc import Iterable
from dataclasses import dataclass

from conformance.gate import Fact, facts
from conformance.results import Evidence, Results, Status


@dataclass(frozen=True, slots=True)
class Standing:
    """Facts by what became of them in all cases: numbers of rules and probes, each of which counts once.

    `conforms` and `fails` are those that were seen, live, in recordings or of an engine. `declared`: the simulator
    alone played them, so that they pass for the suite and not for the subject.
    """

    conforms: int = 0
    fails: int = 0
    declared: int = 0

    @property
    def seen(self) -> int:
        """Return how many facts were seen."""
        return self.conforms + self.fails


def standing(many: Iterable[Results]) -> Standing:
    """Count the facts of results; one that fails in any case, was promised and not tested, or errored, fails."""
    seen: dict[tuple[str, str], bool] = {}
    declared: set[tuple[str, str]] = set()
    for results in many:
        kinds = {case.name: case.evidence for case in results.cases}
        for fact in facts(results):
            name = (fact.subject, fact.fact)
            # A client is what is put to the test where an adapter is; that a simulator asked it takes nothing away.
            if kinds[fact.case] is Evidence.SIMULATED and not results.provider:
                declared.add(name)
            else:
                seen[name] = seen.get(name, True) and _holds(fact)
    conforms = sum(seen.values())
    return Standing(conforms, len(seen) - conforms, len(declared - seen.keys()))


def _holds(fact: Fact) -> bool:
    return not fact.is_failure and fact.status is not Status.ERRORED
