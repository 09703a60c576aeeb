"""The published matrix: every subject by every rule, probe and claim, from committed results.

A pure function of `reports/results/`, the profiles, the rules and the baseline, which each report format renders. Each
kind of evidence has cells of its own.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from shlex import quote
from typing import Any, Final

from conformance import baseline, profiles, scenarios
from conformance.adapters import loop, timeline
from conformance.adapters.loop import Fact
from conformance.adapters.timeline import Timeline
from conformance.baseline import Entry, cover
from conformance.documents import read_json
from conformance.errors import UnknownName
from conformance.gate import failures
from conformance.profiles import UNKNOWN, UPSTREAM, Claim, Profile, vocabulary
from conformance.reporting.matrix import PROBES, WORST_FIRST, Cell, brief, cells
from conformance.reporting.text import plural
from conformance.resources import folder, unpacked
from conformance.results import PUBLIC_RECORDINGS, TRAFFIC, Evidence, Finding, Verdict
from conformance.results.calibration import RecordingCounts, counts
from conformance.results.comparisons import TITLES
from conformance.results.files import CALIBRATION, RECORDED, read_all, read_shipped
from conformance.results.runs import MINE, Results
from conformance.rules import Rule
from conformance.wire.native import CHAT
from conformance.wire.views import Side

ADAPTER: Final = "adapter"
"""The kind of a subject that is an adapter."""

ENGINE: Final = "engine"
"""The kind of a profile of software that you run yourself."""

SPECIFICATION: Final = "specification"
"""The kind of a profile of a document, which is no provider."""

CLAIMS: Final = "claims"
"""The family of the rows for claims."""

SOURCES: Final = "sources"
"""The evidence of a claim that nobody observed: its sources."""

EARLIER: Final = "earlier"
"""The folder with the results of an earlier run, beside `results`."""

FAILING: Final = (Verdict.DEPARTS, Verdict.BREAKS, Verdict.UNTESTED, Verdict.ERRORED)
"""The verdicts that a reader has to look at."""


@dataclass(frozen=True, slots=True)
class TableSubject:
    """A provider, a further model of one, or an adapter with a provider.

    `kind` is the kind of its profile (vendor, host, gateway, engine) or `adapter`. `provider` is the profile that it is
    checked against, which is about one `wire` of a `service`: `deepseek.messages` is about messages of deepseek.
    `versions` are those of the software under test. `mine`: a user's own.
    """

    name: str
    title: str
    kind: str
    provider: str
    model: str
    versions: Mapping[str, str] = field(default_factory=dict)
    mine: bool = False
    service: str = ""
    wire: str = CHAT

    @property
    def provider_title(self) -> str:
        """Return the title without the wire, which profiles of other wires have behind it."""
        return self.title.replace(f" ({self.wire})", "")


@dataclass(frozen=True, slots=True)
class TableRow:
    """A rule, loop fact, probe or claim, named `<family>/<rest>`.

    `level` and `side` are empty for a probe or claim. `claims`: those that a rule or probe reads.
    """

    family: str
    name: str
    title: str
    level: str = ""
    side: str = ""
    claims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell of the table.

    `evidence` is the name of a kind, or `sources`. `expected` is the reason of the baseline entry for a failure.
    `claim` is set in rows for claims. `command` repeats the observation; it is empty if no command can.
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
    command: str = ""

    @property
    def is_claim(self) -> bool:
        """Return True for a cell in the row of a claim."""
        return self.row.startswith(f"{CLAIMS}/")


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that the table is made from.

    `calibration`: by provider, the objects in `reports/results/calibration/`. `own_profiles` and `own_entries` are the
    profiles and the expected failures of a user's own results, which are among the results. `earlier`: the results of
    an earlier run, which reports compare with; without any, they say so. `timelines`: what releases of clients break.
    `gateways`: the results of gateways, of which the matrix has no cells.
    """

    results: Sequence[Results]
    profiles: Mapping[str, Profile]
    calibration: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    entries: Sequence[Entry] = ()
    own_profiles: Mapping[str, Profile] = field(default_factory=dict)
    own_entries: Sequence[Entry] = ()
    earlier: Sequence[Results] = ()
    timelines: Sequence[Timeline] = ()
    gateways: Sequence[Results] = ()

    def profile_of(self, results: Results) -> Profile:
        """Return the profile that results were checked against."""
        own = self.own_profiles.get(results.profile) if results.mine else None
        return own or self.profiles[results.profile]


@dataclass(frozen=True, slots=True)
class Table:
    """The whole matrix: subjects by name, rows by family and name, cells by subject, row, variant and evidence.

    `inputs` is what it was made from, for reports that show more of a subject than its cells.
    """

    subjects: tuple[TableSubject, ...]
    rows: tuple[TableRow, ...]
    cells: tuple[TableCell, ...]
    inputs: Inputs

    def of(self, subject: str) -> tuple[TableCell, ...]:
        """Return the cells of one subject."""
        begin = bisect_left(self.cells, subject, key=attrgetter("subject"))
        return self.cells[begin : bisect_right(self.cells, subject, begin, key=attrgetter("subject"))]


def load_inputs(reports: Path | None = None) -> Inputs:
    """Return the inputs in a folder of reports, by default the project's own."""
    root = folder("reports") if reports is None else reports
    calibrated = sorted(unpacked(root / "results" / CALIBRATION).glob("*.json"))
    calibration: dict[str, Any] = {path.stem: read_json(path) for path in calibrated}
    results = [*_with_recordings(read_shipped(root))]
    named = sorted({each.profile for each in results} | calibration.keys())
    entries = baseline.load(root / "expected-failures.yaml")
    earlier = tuple(read_all([root / EARLIER])) if (root / EARLIER).is_dir() else ()
    known = {name: profiles.load(name) for name in named}
    timelines = timeline.stored(root / timeline.FOLDER)
    gateways = unpacked(root / "results" / "gateways")
    run = read_all([gateways]) if gateways.is_dir() else ()
    return Inputs(results, known, calibration, entries, earlier=earlier, timelines=timelines, gateways=run)


def _with_recordings(shipped: Mapping[str, Results]) -> Iterator[Results]:
    """Yield results, those of a provider with the case that sums up its public recordings."""
    for path, each in sorted(shipped.items(), key=lambda item: item[1].name):
        if not path.startswith(f"{RECORDED}/"):
            recorded = shipped.get(f"{RECORDED}/{each.subject}.json")
            own = recorded if not each.provider and not each.further else None
            yield replace(each, cases=(*each.cases, *own.cases)) if own else each


def table(inputs: Inputs, today: str = "") -> Table:
    """Return the matrix; entries of the baseline that have expired by `today` (ISO 8601) cover nothing."""
    rules = loop.with_rules()
    subjects: dict[str, TableSubject] = {}
    found: list[TableCell] = []
    for results in inputs.results:
        profile = inputs.profile_of(results)
        subjects[results.name] = _subject(results, profile)
        found += _observed(results, profile, inputs, today)
    for name, profile in inputs.profiles.items():
        # Claims stand with the provider, or with a user's own subject if the provider is its own, too.
        holders = [each for each in subjects.values() if each.provider == name and each.kind != ADAPTER]
        for subject in [each for each in holders if each.name == name] or holders[:1]:
            found += _claimed(subject.name, subject.model, profile, inputs.calibration.get(name, {}))
    rows = [_row(name, rules) for name in dict.fromkeys([cell.row for cell in found])]
    rows.sort(key=lambda row: (row.family in (PROBES, CLAIMS), row.family, row.name))
    positions = {row.name: position for position, row in enumerate(rows)}
    found.sort(key=lambda cell: (cell.subject, positions[cell.row], cell.variant, cell.evidence))
    return Table(tuple([subjects[name] for name in sorted(subjects)]), tuple(rows), tuple(found), inputs)


def worst(cells: Iterable[TableCell]) -> dict[tuple[str, str], Verdict]:
    """Return the worst verdict of each subject in each row, over all variants and kinds of evidence."""
    found: dict[tuple[str, str], Verdict] = {}
    for cell in cells:
        key = cell.subject, cell.row
        found[key] = min(cell.verdict, found.get(key, cell.verdict), key=WORST_FIRST.index)
    return found


def _subject(results: Results, profile: Profile) -> TableSubject:
    title, kind = f"{profile.title} ({MINE})" if results.mine else profile.title, profile.kind
    if results.provider:
        title, kind = f"{results.name.partition('/')[0]} on {profile.title}", ADAPTER
    shared = results.model, results.versions, results.mine, profile.service, profile.wire
    return TableSubject(results.name, title, kind, profile.name, *shared)


def _observed(results: Results, profile: Profile, inputs: Inputs, today: str) -> Iterator[TableCell]:
    """Yield the cells of rules and probes, and the reasons why some failures are expected."""
    evidence = inputs.calibration.get(profile.name, {})
    known = profile.at(results.model, "")
    confirmed = {name: counts(evidence, profile, name, results.model).confirmed for name in known} if evidence else {}
    # Entries about a user's own results name them as the gate does.
    failed = failures(replace(results, mine=False))
    covered = cover(failed, inputs.own_entries if results.mine else inputs.entries, today).expected
    reasons = {(failure.case, failure.check): entry.reason for failure, entry in covered}
    for cell in cells(results, profile, confirmed):
        is_probe = cell.family == PROBES
        check = f"{PROBES}/{cell.row.partition(': ')[2]}" if is_probe else cell.row
        expected = [reasons.get((case, check), "") for case in cell.cases]
        yield TableCell(
            results.name,
            f"{PROBES}/{cell.row}" if is_probe else cell.row,
            cell.variant,
            cell.verdict,
            cell.evidence.value,
            # The recordings are of many models and days, each with claims of its own.
            "" if _is_public(cell) else cell.claimed,
            cell.observed,
            expected[0] if expected and all(expected) else "",
            cell.judged,
            cell.cases,
            cell.findings,
            command=_command(results, cell),
        )


def _claimed(name: str, model: str, profile: Profile, calibration: Mapping[str, Any]) -> Iterator[TableCell]:
    """Yield the cells of claims, with what recordings of real traffic and engines show of them."""
    for claim, value in sorted(profile.at(model, "").items()):
        counted = counts(calibration, profile, claim, model)
        entry = profile.claim(claim, model)
        # That it depends on who replies is known, though it says nothing of the wire.
        shown = UPSTREAM if entry is not None and entry.value == UPSTREAM else value
        verdict, kind, observed = claim_evidence(profile, entry, counted, shown)
        yield TableCell(
            name,
            f"{CLAIMS}/{claim}",
            "",
            verdict,
            kind,
            brief(shown),
            observed,
            judged=counted.confirmed + counted.contradicted or counted.engine,
            claim=entry,
            command=f"conformance evidence list --claim {claim} --provider {name}" if kind == Evidence.RECORDED else "",
        )


def claim_evidence(
    profile: Profile, claim: Claim | None, counted: RecordingCounts, value: Any
) -> tuple[Verdict, str, str]:
    """Return the verdict on a claim, its evidence, and in words what was observed; empty if nothing was."""
    verdict, kind, observed = _verdict(value, counted)
    if kind == SOURCES and claim is not None and profile.kind == ENGINE and value != UNKNOWN:
        kind, observed = _measured(claim, observed)
    return verdict, kind, observed


def _measured(claim: Claim, observed: str) -> tuple[str, str]:
    """Return the evidence of a claim about an engine that no exchange confirms, and what was observed, in words."""
    measured = [each.engine for each in claim.source if each.engine]
    if not measured:
        return SOURCES, observed
    return Evidence.ENGINE, "; ".join(filter(None, [f"measured on {', '.join(measured)}", observed]))


def _verdict(value: Any, counted: RecordingCounts) -> tuple[Verdict, str, str]:
    """Return the verdict on a claim, its evidence, and in words what was observed; empty if nothing was."""
    if value == UNKNOWN:
        return Verdict.UNKNOWN, SOURCES, ""
    words = [
        f"contradicted by {plural(counted.contradicted, 'recording')}" if counted.contradicted else "",
        f"confirmed by {plural(counted.confirmed, 'recording')}" if counted.confirmed else "",
        f"another value in {plural(counted.otherwise, 'recording')}" if counted.otherwise else "",
        f"answered in {plural(counted.answered, 'recording')}" if counted.answered else "",
        f"not counted: {counted.artefacts}, {'; '.join(counted.reasons)}" if counted.artefacts else "",
    ]
    observed = "; ".join(filter(None, words))
    if counted.contradicted:
        return Verdict.DEPARTS, Evidence.RECORDED, observed
    if counted.confirmed:
        return Verdict.CONFORMS, Evidence.RECORDED, observed
    if counted.engine:
        measured = f"confirmed by {plural(counted.engine, 'exchange')} with the engine"
        return Verdict.CONFORMS, Evidence.ENGINE, "; ".join(filter(None, [measured, observed]))
    return Verdict.DECLARED, SOURCES, observed


def _row(name: str, rules: Mapping[str, Rule | Fact]) -> TableRow:
    family, _, rest = name.partition("/")
    if family == CLAIMS:
        return TableRow(family, name, vocabulary()[rest])
    if family == PROBES:
        scenario, _, wanted = rest.partition(": ")
        probe = next((each for each in scenarios.load(scenario).probes if each.name == wanted), None)
        title = probe.title if probe else TITLES.get(wanted, "")
        return TableRow(family, name, title, claims=probe.claims if probe else ())
    if name not in rules:
        raise UnknownName("rule id in results file", name, rules)
    rule = rules[name]
    if isinstance(rule, Rule):
        return TableRow(family, name, rule.title, rule.level.value, rule.on.side.value, rule.reads)
    return TableRow(family, name, rule.title, rule.level.value, Side.CLIENT.value)


def _command(results: Results, cell: Cell) -> str:
    """Return the command that repeats an observation; names in results of others are quoted for a shell."""
    scenario = quote(cell.cases[0].partition(".")[0]) if cell.cases else ""
    subject, provider, model = quote(results.subject), quote(results.provider), quote(results.model)
    if scenario == TRAFFIC:
        return f"conformance proxy --provider {quote(results.profile)}"
    if results.provider:
        return f"conformance adapter run {subject} --provider {provider} --scenario {scenario}"
    if _is_public(cell):
        return f"pytest --provider={subject} --evidence recorded"
    live = " --live" if cell.evidence is Evidence.LIVE else ""
    live += " --base-url URL" if live and results.mine else ""
    return f"pytest --provider={subject} --model {model}{live} -k {scenario}"


def _is_public(cell: Cell) -> bool:
    """Return True for a cell that sums up public recordings."""
    return bool(cell.cases) and all(case.partition(".")[0] == PUBLIC_RECORDINGS for case in cell.cases)
