"""The compatibility matrix: what is claimed, what was observed, and on what evidence."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.profiles import UNKNOWN, Profile
from conformance.results import Evidence, Finding, Level, Outcome, Status, Verdict
from conformance.results.runs import Case, ProbeResult, Results
from conformance.rules import Rule, by_id

PROBES = "probes"
"""The family of all probes; it comes after the families of the rules."""


CELL_VERDICTS = tuple([verdict for verdict in Verdict if verdict is not Verdict.NOT_APPLICABLE])
"""The verdicts that a cell can have; what does not apply has no cell."""

WORST_FIRST = (
    Verdict.ERRORED,
    Verdict.BREAKS,
    Verdict.UNTESTED,
    Verdict.DEPARTS,
    Verdict.UNKNOWN,
    Verdict.CONFORMS,
    Verdict.DECLARED,
)
"""The first of several verdicts in this order stands for all of them."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The result of one rule or probe for one subject in one variant.

    `claimed` is what the profile claims and `observed` what was observed, in words. `judged` is the number of checked
    elements. `cases` are those with this verdict, as `<scenario>.<variant>`, and `findings` their findings.
    """

    family: str
    row: str
    variant: str
    verdict: Verdict
    evidence: Evidence
    claimed: str = ""
    observed: str = ""
    judged: int = 0
    cases: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def cells(results: Results, profile: Profile, confirmed: Mapping[str, int] | None = None) -> tuple[Cell, ...]:
    """Return the cells of a subject, ordered by family, row and variant; rules that never applied have none.

    `confirmed`: how many recordings of real traffic confirm each claim.
    """
    if results.claims:
        profile = profile.with_claims({name: claim.value for name, claim in results.claims.items()})
    claims = profile.at(results.model, "")
    rules = by_id()
    found: dict[tuple[str, str, str, Evidence], list[Cell]] = {}
    # Each case has outcomes of the same rules, whose claims are said in the same words.
    claimed = {name: _claimed(rule, claims, confirmed or {}) for name, rule in rules.items()}
    for case in results.cases:
        for cell in (*_of_rules(case, claimed), *_of_probes(case)):
            found.setdefault((cell.family, cell.row, cell.variant, cell.evidence), []).append(cell)
    ordered = sorted(found.items(), key=lambda each: (each[0][0] == PROBES, each[0]))
    merged = [_merged(each) for _, each in ordered]
    return tuple([_of_adapter(each) for each in merged] if results.provider else merged)


def _of_adapter(cell: Cell) -> Cell:
    """Return a cell of an adapter, for which a pass against the simulator conforms."""
    return replace(cell, verdict=Verdict.CONFORMS) if cell.verdict is Verdict.DECLARED else cell


def _of_rules(case: Case, claimed: Mapping[str, str]) -> Iterable[Cell]:
    for outcome in case.outcomes:
        if outcome.status is not Status.NOT_APPLICABLE:
            yield Cell(
                outcome.rule.partition("/")[0],
                outcome.rule,
                case.variant,
                _verdict(outcome, case.evidence),
                case.evidence,
                claimed.get(outcome.rule, ""),
                outcome.findings[0].message if outcome.findings else outcome.reason,
                outcome.judged,
                (case.name,),
                outcome.findings,
            )


def _of_probes(case: Case) -> Iterable[Cell]:
    for probe in case.probes:
        row = f"{case.scenario}: {probe.name}"
        verdict = _probe_verdict(probe, case.evidence)
        yield Cell(PROBES, row, case.variant, verdict, case.evidence, probe.expected, probe.observed, 1, (case.name,))


def _verdict(outcome: Outcome, evidence: Evidence) -> Verdict:
    if outcome.status is Status.PASSED:
        return Verdict.DECLARED if evidence is Evidence.SIMULATED else Verdict.CONFORMS
    if outcome.status is Status.FAILED:
        return Verdict.BREAKS if outcome.level is Level.MUST else Verdict.DEPARTS
    return Verdict.UNTESTED if outcome.status is Status.UNTESTED else Verdict.ERRORED


def _probe_verdict(probe: ProbeResult, evidence: Evidence) -> Verdict:
    if probe.status is Status.PASSED:
        return Verdict.DECLARED if evidence is Evidence.SIMULATED else Verdict.CONFORMS
    if probe.status is Status.NOT_APPLICABLE:
        return Verdict.UNKNOWN
    return Verdict.BREAKS if probe.status is Status.FAILED else Verdict.UNTESTED


def _claimed(rule: Rule, claims: Mapping[str, Any], confirmed: Mapping[str, int]) -> str:
    """Return the claims that a rule reads, in a few words, each with the number of recordings that confirm it."""
    shown = []
    for name in rule.reads:
        if claims.get(name, UNKNOWN) != UNKNOWN:
            seen = f" ({confirmed[name]} seen)" if confirmed.get(name) else ""
            shown.append(brief(claims[name]) + seen)
    return "; ".join(shown)


def counts_in_words(verdicts: Iterable[Verdict]) -> str:
    """Return how many cells have each verdict, as one line."""
    counted = Counter(verdicts)
    shown = [f"{counted[verdict]} {verdict.value}" for verdict in CELL_VERDICTS if counted[verdict]]
    return ", ".join(shown) or "nothing was checked"


def brief(value: Any) -> str:
    """Return a claim's value in a few words: a refusal as its status and text, a list separated by commas."""
    if isinstance(value, Mapping):
        refusal = value.get("refusal", value)
        if "status" in refusal:
            return f"{refusal['status']}" + (f" {refusal['message']}" if refusal.get("message") else "")
        return ", ".join(f"{key}: {brief(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(brief(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _merged(group: list[Cell]) -> Cell:
    """Return one cell for all scenarios of a row: the worst verdict, and the sum of what was checked."""
    if len(group) == 1:
        return group[0]
    worst = min(group, key=lambda cell: WORST_FIRST.index(cell.verdict))
    worst_cells = [cell for cell in group if cell.verdict is worst.verdict]
    return replace(
        worst,
        judged=sum(cell.judged for cell in group),
        cases=tuple([name for cell in worst_cells for name in cell.cases]),
        findings=tuple([finding for cell in worst_cells for finding in cell.findings]),
    )
