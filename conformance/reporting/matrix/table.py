"""The published matrix: every subject against every rule, probe and claim, from results that were written down.

A pure function of `reports/results/`, the profiles, the rules and the baseline; each report format shows it in its own
way. Evidence of different kinds stands in different cells.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conformance import gate, scenarios
from conformance.adapters import loop
from conformance.adapters.loop import Fact
from conformance.baseline import Entry, cover
from conformance.errors import UnknownName
from conformance.profiles import UNKNOWN, Claim, Profile, vocabulary
from conformance.reporting.matrix import PROBES, Cell, Verdict, cells, words
from conformance.results import Evidence, Finding, Results
from conformance.rules import Rule, load
from conformance.wire.views import Side

CLAIMS: Final = "claims"
"""The family of the rows that claims make."""

SOURCES: Final = "sources"
"""What stands for evidence where a claim is known from its sources alone."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Who is judged. `kind` is that of its profile (vendor, host, gateway, engine), or adapter.

    `provider` is the profile by which it is judged, `versions` are those of what was run.
    """

    name: str
    title: str
    kind: str
    provider: str
    model: str
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One rule, loop fact, probe or claim, by the name `<family>/<rest>`.

    `level` and `side` are empty where it is no rule and no fact. `claims`: those that a rule or a probe goes by.
    """

    family: str
    name: str
    title: str
    level: str = ""
    side: str = ""
    claims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entered:
    """One cell of the table.

    `evidence` is the name of a kind, or `sources`. `expected` is the reason of the baseline's entry that covers a
    failure. `claim` is the claim with its sources where the row is one; `again` the command that repeats the
    observation, empty where no command can.
    """

    subject: str
    row: str
    variant: str
    verdict: Verdict
    evidence: str
    claimed: str = ""
    observed: str = ""
    expected: str = ""
    judged: int = 0
    cases: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    claim: Claim | None = None
    again: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that the table is made of: results, and what recordings of real traffic say of claims.

    `calibration`: by provider, the objects of `reports/results/calibration/`.
    """

    results: Sequence[Results]
    profiles: Mapping[str, Profile]
    calibration: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    entries: Sequence[Entry] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """The whole matrix: subjects by name, rows by family and name, cells in their order.

    `observed` is what it was made of, for reports that tell more of a subject than its cells.
    """

    subjects: tuple[Subject, ...]
    rows: tuple[Row, ...]
    cells: tuple[Entered, ...]
    observed: Observed

    def of(self, subject: str) -> tuple[Entered, ...]:
        """Return the cells of one subject."""
        return tuple([cell for cell in self.cells if cell.subject == subject])

    def verdicts(self, subject: str) -> dict[tuple[Verdict, str], int]:
        """Return how many cells of a subject say what, by verdict and kind of evidence."""
        counted: dict[tuple[Verdict, str], int] = {}
        for cell in self.of(subject):
            key = cell.verdict, cell.evidence
            counted[key] = counted.get(key, 0) + 1
        return counted


def table(observed: Observed, today: str = "") -> Table:
    """Return the matrix of everything that was observed; `today` (ISO 8601) ends entries of the baseline."""
    rules: dict[str, Rule | Fact] = {rule.id: rule for rule in load()}
    rules |= {fact.id: fact for fact in loop.load()}
    rows: dict[str, Row] = {}
    subjects: dict[str, Subject] = {}
    entered: list[Entered] = []
    for results in observed.results:
        profile = observed.profiles[results.profile]
        subjects[results.name] = _subject(results, profile)
        for cell in _seen(results, profile, observed, today):
            rows.setdefault(cell.row, _row(cell.row, rules))
            entered.append(cell)
    for name, profile in observed.profiles.items():
        if name in subjects:
            for cell in _claimed(name, subjects[name].model, profile, observed.calibration.get(name, {})):
                rows.setdefault(cell.row, _row(cell.row, rules))
                entered.append(cell)
    ordered = sorted(rows.values(), key=lambda row: (row.family in (PROBES, CLAIMS), row.family, row.name))
    places = {row.name: place for place, row in enumerate(ordered)}
    entered.sort(key=lambda cell: (cell.subject, places[cell.row], cell.variant, cell.evidence))
    return Table(tuple([subjects[name] for name in sorted(subjects)]), tuple(ordered), tuple(entered), observed)


def _subject(results: Results, profile: Profile) -> Subject:
    if results.provider:
        title = f"{results.subject} on {profile.title}"
        return Subject(results.name, title, "adapter", profile.name, results.model, results.versions)
    return Subject(results.name, profile.title, profile.kind, profile.name, results.model, results.versions)


def _seen(results: Results, profile: Profile, observed: Observed, today: str) -> Iterator[Entered]:
    """Yield what was observed of rules and probes, and what of it was expected."""
    confirmed = {
        name: counts["confirmed"]
        for name, counts in observed.calibration.get(profile.name, {}).get("claims", {}).items()
    }
    failed = [fact for fact in gate.facts(results) if fact.is_failure]
    reasons = {_key(fact): entry.reason for fact, entry in cover(failed, observed.entries, today).expected}
    for cell in cells(results, profile, confirmed):
        found = [reasons.get((case, _fact(cell))) for case in cell.cases]
        yield Entered(
            results.name,
            _row_name(cell),
            cell.variant,
            cell.verdict,
            cell.evidence.value,
            cell.claimed,
            cell.observed,
            next((each for each in found if each), "") if all(found) else "",
            cell.judged,
            cell.cases,
            cell.findings,
            again=_again(results, cell),
        )


def _claimed(name: str, model: str, profile: Profile, calibration: Mapping[str, Any]) -> Iterator[Entered]:
    """Yield what is claimed of a subject, and what recordings of real traffic say of it."""
    counts = calibration.get("claims", {})
    for each, value in sorted(profile.at(model, "").items()):
        told = counts.get(each, {"confirmed": 0, "contradicted": 0})
        verdict, observed = _verdict(value, told["confirmed"], told["contradicted"])
        evidence = Evidence.RECORDED.value if observed else SOURCES
        claim = profile.claim(each, model)
        yield Entered(
            name,
            f"{CLAIMS}/{each}",
            "",
            verdict,
            evidence,
            words(value),
            observed,
            judged=sum(told.values()),
            claim=claim,
        )


def _verdict(value: Any, confirmed: int, contradicted: int) -> tuple[Verdict, str]:
    """Return what a claim's cell says, and in words what was observed; none where nothing was."""
    if value == UNKNOWN:
        return Verdict.UNKNOWN, ""
    if contradicted:
        return Verdict.DEPARTS, f"contradicted by {contradicted} of {confirmed + contradicted} recordings"
    if confirmed:
        return Verdict.CONFORMS, f"confirmed by {confirmed} recording{'s' if confirmed > 1 else ''}"
    return Verdict.DECLARED, ""


def _row_name(cell: Cell) -> str:
    return f"{PROBES}/{cell.row}" if cell.family == PROBES else cell.row


def _fact(cell: Cell) -> str:
    """Return the name of a cell's fact, as the gate has it."""
    return f"{PROBES}/{cell.row.partition(': ')[2]}" if cell.family == PROBES else cell.row


def _key(fact: gate.Fact) -> tuple[str, str]:
    return fact.case, fact.fact


def _row(name: str, rules: Mapping[str, Rule | Fact]) -> Row:
    family, _, rest = name.partition("/")
    if family == CLAIMS:
        return Row(family, name, vocabulary()[rest])
    if family == PROBES:
        scenario, _, wanted = rest.partition(": ")
        probe = next((each for each in scenarios.load(scenario).probes if each.name == wanted), None)
        return Row(family, name, probe.title if probe else "", claims=probe.claims if probe else ())
    if name not in rules:
        raise UnknownName("rule in results", name, rules)
    rule = rules[name]
    if isinstance(rule, Rule):
        return Row(family, name, rule.title, rule.level.value, rule.on.side.value, rule.reads)
    return Row(family, name, rule.title, rule.level.value, Side.CLIENT.value)


def _again(results: Results, cell: Cell) -> str:
    """Return the command that repeats an observation."""
    if results.provider:
        return f"conformance adapter run {results.subject} --provider {results.provider} --scenario {_scenario(cell)}"
    command = f"pytest --provider={results.subject} --model {results.model}"
    live = " --live" if cell.evidence is Evidence.LIVE else ""
    return f"{command}{live} -k {_scenario(cell)}"


def _scenario(cell: Cell) -> str:
    return cell.cases[0].partition(".")[0] if cell.cases else ""
