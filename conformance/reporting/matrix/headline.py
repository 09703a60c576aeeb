"""The headline of the published matrix: its subjects, checks and evidence in numbers."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

from conformance.gate import broken_cases
from conformance.profiles import UPSTREAM
from conformance.reporting.matrix.table import ADAPTER, SPECIFICATION, Table, TableCell, worst
from conformance.reporting.text import plural
from conformance.results import Evidence, Verdict

OPEN: Final = "open"
_MEASURED: Final = "measured"
_RECORDED: Final = "recorded"
_INFERRED: Final = "inferred"


@dataclass(frozen=True, slots=True)
class Headline:
    """The numbers; the fields are the keys of `headline` in matrix.json.

    `claims` are about `providers`; `open` have a source that a reader can open, `measured_only`, `recorded_only` and
    `inferred` rest on a measurement, on recordings in words and on an inference alone. `recordings` of real traffic of
    `recorded` providers confirm or contradict some of them, and exchanges with engines that are stored show `measured`
    further ones. `upstream` claims say that it depends on who replies. `unknown` claims have no documented value.
    `engine_facts` are checks of the `engines` that were run: `engine_departs` fail a SHOULD or MAY, `engine_breaks` a
    MUST, `engine_untested` had nothing to check. `declared` checks were only simulated.
    `adapters` were driven in `pairings` with a provider each, through `played` cases, of which `clean` break no MUST.
    In `clean_pairings`, no case breaks one.
    """

    providers: int
    claims: int
    confirmed: int
    contradicted: int
    measured: int
    open: int
    measured_only: int
    recorded_only: int
    inferred: int
    upstream: int
    unknown: int
    recordings: int
    recorded: int
    engines: tuple[str, ...]
    engine_facts: int
    engine_departs: int
    engine_breaks: int
    engine_untested: int
    declared: int
    adapters: int
    pairings: int
    clean_pairings: int
    played: int
    clean: int
    expected: int

    def to_json(self) -> dict[str, object]:
        """Return the numbers as a JSON object."""
        return asdict(self)

    def lines(self, shown: Callable[[str], str] = str) -> tuple[str, ...]:
        """Return the headline as paragraphs of Markdown; `shown` escapes a title."""
        return (self._claims(), *self._engines(shown), self._declared(), *self._adapters(), *self._expected())

    def _claims(self) -> str:
        rest = self.claims - self.confirmed - self.contradicted - self.measured
        return (
            f"**{plural(self.claims, 'claim')} about {plural(self.providers, 'provider')}; {self.open:,} have a source "
            f"that you can open.** {self._closed()}{plural(self.recordings, 'recording')} of real traffic from "
            f"{plural(self.recorded, 'provider')} confirm {self.confirmed:,} of them and contradict "
            f"{self.contradicted:,} in part; stored exchanges with engines show {self.measured:,} more; the other "
            f"{rest:,} rest on their sources alone{self._upstream()}. {self.unknown:,} more are unknown: no source was "
            "found."
        )

    def _closed(self) -> str:
        """Return what the claims rest on that have no source to open."""
        parts = (
            (self.measured_only, "were measured on an engine, and the exchange is not stored"),
            (self.inferred, "follow from something else"),
            (self.recorded_only, "rest on recordings that are named only in words"),
        )
        named = [f"{number:,} {words}" for number, words in parts if number]
        return f"Of the others, {'; '.join(named)}. " if named else ""

    def _upstream(self) -> str:
        return f" ({self.upstream:,} of these say that it depends on who replies)" if self.upstream else ""

    def _engines(self, shown: Callable[[str], str]) -> Iterator[str]:
        if self.engines:
            named = ", ".join([shown(each) for each in self.engines])
            yield (
                f"**{plural(len(self.engines), 'open-source engine')} tested** with a small scripted model ({named}): "
                f"{plural(self.engine_facts, 'check')}, of which {self.engine_breaks:,} failed a MUST and "
                f"{self.engine_departs:,} a SHOULD or MAY; {self.engine_untested:,} more had nothing to check."
            )

    def _declared(self) -> str:
        return (
            f"**{plural(self.declared, 'check')} of the other providers declared, not observed**: the simulator plays "
            "what their profiles claim, which tests the suite and not the provider."
        )

    def _adapters(self) -> Iterator[str]:
        if self.adapters:
            yield (
                f"**{plural(self.adapters, 'adapter')} tested** against the simulator, in "
                f"{plural(self.pairings, 'pairing')} with a provider. {self.clean:,} of {plural(self.played, 'case')} "
                f"and {self.clean_pairings:,} of the pairings break no MUST."
            )

    def _expected(self) -> Iterator[str]:
        if self.expected:
            yield f"Expected failures: {self.expected:,}."


def headline(table: Table) -> Headline:
    """Count what a table contains, without a user's own subjects, which reports count apart."""
    shipped = [subject for subject in table.subjects if not subject.mine and subject.kind != SPECIFICATION]
    kinds = {subject.name: subject.kind for subject in shipped}
    claims = [cell for cell in table.cells if cell.is_claim and cell.subject in kinds]
    checks = [cell for cell in table.cells if not cell.is_claim and cell.subject in kinds]
    engines = worst([cell for cell in checks if cell.evidence == Evidence.ENGINE])
    simulated = worst(
        [cell for cell in checks if kinds[cell.subject] != ADAPTER and cell.evidence == Evidence.SIMULATED]
    )
    adapters = [subject for subject in shipped if subject.kind == ADAPTER]
    driven = [each for each in table.inputs.results if each.provider and not each.mine]
    played = [(each.name, case.name) for each in driven for case in each.cases if case.outcomes]
    failed = {(each.name, case) for each in driven for case in broken_cases(each)}
    calibration = table.inputs.calibration
    services = {subject.name: subject.service for subject in shipped}
    titles = {subject.service: subject.title for subject in reversed(shipped) if subject.kind != ADAPTER}
    rests = Counter(rests_on(cell) for cell in claims if cell.verdict is not Verdict.UNKNOWN)
    return Headline(
        # A provider that was tested on several wires is one provider: `deepseek` and `deepseek.messages`.
        providers=len({subject.service for subject in shipped if subject.kind != ADAPTER}),
        claims=len(claims) - _count(claims, Verdict.UNKNOWN),
        confirmed=_count([cell for cell in claims if cell.evidence == Evidence.RECORDED], Verdict.CONFORMS),
        contradicted=_count(claims, Verdict.DEPARTS),
        measured=_count([cell for cell in claims if cell.evidence == Evidence.ENGINE], Verdict.CONFORMS),
        open=rests[OPEN],
        measured_only=rests[_MEASURED],
        recorded_only=rests[_RECORDED],
        inferred=rests[_INFERRED],
        upstream=sum(1 for cell in claims if cell.claim is not None and cell.claim.value == UPSTREAM),
        unknown=_count(claims, Verdict.UNKNOWN),
        recordings=sum(each.get("recordings", 0) for each in calibration.values()),
        recorded=len({services.get(name, name) for name, each in calibration.items() if each.get("recordings")}),
        engines=tuple(dict.fromkeys([titles[services[subject]] for subject, _ in engines])),
        engine_facts=sum(1 for verdict in engines.values() if verdict not in (Verdict.UNKNOWN, Verdict.UNTESTED)),
        engine_departs=sum(1 for verdict in engines.values() if verdict is Verdict.DEPARTS),
        engine_breaks=sum(1 for verdict in engines.values() if verdict is Verdict.BREAKS),
        engine_untested=sum(1 for verdict in engines.values() if verdict is Verdict.UNTESTED),
        declared=sum(1 for verdict in simulated.values() if verdict is Verdict.DECLARED),
        adapters=len({subject.name.partition("/")[0] for subject in adapters}),
        pairings=len(adapters),
        clean_pairings=len({each.name for each in driven} - {subject for subject, _ in failed}),
        played=len(played),
        clean=sum(1 for case in played if case not in failed),
        expected=sum(1 for cell in checks if cell.expected),
    )


def rests_on(cell: TableCell) -> str:
    """Return what a reader has of a claim: a source or a recording to open, or what stands in its place."""
    if cell.evidence == Evidence.RECORDED or (cell.evidence == Evidence.ENGINE and cell.verdict is Verdict.CONFORMS):
        return OPEN
    sources = cell.claim.source if cell.claim is not None else ()
    if any(source.link for source in sources):
        return OPEN
    if any(source.engine for source in sources):
        return _MEASURED
    return _RECORDED if any(source.recorded or source.exchange for source in sources) else _INFERRED


def _count(cells: Iterable[TableCell], verdict: Verdict) -> int:
    return sum(1 for cell in cells if cell.verdict is verdict)
