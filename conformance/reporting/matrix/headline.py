"""The headline of the published matrix: its subjects, checks and evidence in numbers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

from conformance.gate import check_results
from conformance.reporting.matrix.table import ADAPTER, Table, TableCell, worst
from conformance.reporting.text import plural
from conformance.results import Evidence, Verdict


@dataclass(frozen=True, slots=True)
class Headline:
    """The numbers; the fields are the keys of `headline` in matrix.json.

    `claims` are about `providers`, each with a source; `recordings` of real traffic of `recorded` providers confirm or
    contradict some of them, and engines show the value of further ones, which are `measured`. `unknown` claims have no
    documented value. `engine_facts` are checks of the `engines` that were run: `engine_departs` fail a SHOULD or MAY,
    `engine_breaks` a MUST. `declared` checks were only simulated.
    `adapters` were driven in `pairings` with a provider each, through `played` cases, of which `clean` break no MUST.
    In `clean_pairings`, no case breaks one.
    """

    providers: int
    claims: int
    confirmed: int
    contradicted: int
    measured: int
    unknown: int
    recordings: int
    recorded: int
    engines: tuple[str, ...]
    engine_facts: int
    engine_departs: int
    engine_breaks: int
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
            f"**{plural(self.claims, 'claim')} about {plural(self.providers, 'provider')}, each with its source.** "
            f"{plural(self.recordings, 'recording')} of real traffic from {plural(self.recorded, 'provider')} confirm "
            f"{self.confirmed:,} of them and contradict {self.contradicted:,} in part; engines show {self.measured:,} "
            f"more; the other {rest:,} rest on their sources alone. {self.unknown:,} more are unknown: no source was "
            "found."
        )

    def _engines(self, shown: Callable[[str], str]) -> Iterator[str]:
        if self.engines:
            named = ", ".join([shown(each) for each in self.engines])
            yield (
                f"**{plural(len(self.engines), 'open-source engine')} tested** with a small scripted model ({named}): "
                f"{plural(self.engine_facts, 'check')}, of which {self.engine_breaks:,} failed a MUST and "
                f"{self.engine_departs:,} a SHOULD or MAY."
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
    shipped = [subject for subject in table.subjects if not subject.mine]
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
    failed = {(result.subject, result.case) for each in driven for result in check_results(each) if result.is_bad}
    calibration = table.inputs.calibration
    services = {subject.name: subject.service for subject in shipped}
    titles = {subject.service: subject.title for subject in reversed(shipped) if subject.kind != ADAPTER}
    return Headline(
        # A provider that was tested on several wires is one provider: `deepseek` and `deepseek.messages`.
        providers=len({subject.service for subject in shipped if subject.kind != ADAPTER}),
        claims=len(claims) - _count(claims, Verdict.UNKNOWN),
        confirmed=_count([cell for cell in claims if cell.evidence == Evidence.RECORDED], Verdict.CONFORMS),
        contradicted=_count(claims, Verdict.DEPARTS),
        measured=sum(1 for cell in claims if cell.evidence == Evidence.ENGINE),
        unknown=_count(claims, Verdict.UNKNOWN),
        recordings=sum(each.get("recordings", 0) for each in calibration.values()),
        recorded=len({services.get(name, name) for name, each in calibration.items() if each.get("recordings")}),
        engines=tuple(dict.fromkeys([titles[services[subject]] for subject, _ in engines])),
        engine_facts=sum(1 for verdict in engines.values() if verdict is not Verdict.UNKNOWN),
        engine_departs=sum(1 for verdict in engines.values() if verdict is Verdict.DEPARTS),
        engine_breaks=sum(1 for verdict in engines.values() if verdict in (Verdict.BREAKS, Verdict.UNTESTED)),
        declared=sum(1 for verdict in simulated.values() if verdict is Verdict.DECLARED),
        adapters=len({subject.name.partition("/")[0] for subject in adapters}),
        pairings=len(adapters),
        clean_pairings=len({each.name for each in driven} - {subject for subject, _ in failed}),
        played=len(played),
        clean=sum(1 for case in played if case not in failed),
        expected=sum(1 for cell in checks if cell.expected),
    )


def _count(cells: Iterable[TableCell], verdict: Verdict) -> int:
    return sum(1 for cell in cells if cell.verdict is verdict)
