"""The headline of the published matrix: how much is said of whom, and on what it rests, in numbers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

from conformance.gate import Fact, facts
from conformance.reporting.matrix import WORST_FIRST, Verdict
from conformance.reporting.matrix.table import CLAIMS, Entered, Table
from conformance.results import Evidence, Status


@dataclass(frozen=True, slots=True)
class Headline:
    """What is counted.

    `claims` are made of `providers`, each with a source; `recordings` of real traffic of `recorded` of them confirm or
    contradict some; `unknown` more were looked for and not found. `engine_facts` are rules and probes of the `engines`
    that really ran, of which `engine_departs` miss what is recommended and `engine_breaks` break a MUST. `declared`
    facts were played by the simulator alone. `adapters` were driven in `pairings` with a provider each, through
    `played` cases, of which `clean` break no MUST; in `clean_pairings` no case does.
    """

    providers: int
    claims: int
    confirmed: int
    contradicted: int
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
        """Return the headline in sentences, as Markdown, a line each; `shown` makes Markdown of a title."""
        return (self._claims(), *self._engines(shown), self._declared(), *self._adapters(), *self._expected())

    def _claims(self) -> str:
        alone = self.claims - self.confirmed - self.contradicted
        return (
            f"**{_counted(self.claims, 'claim')} about {_counted(self.providers, 'provider')}, each with its source.** "
            f"{_counted(self.recordings, 'recording')} of real traffic of {_counted(self.recorded, 'provider')} speak "
            f"of them: {self.confirmed:,} are confirmed, {self.contradicted:,} contradicted in part, {alone:,} rest on "
            f"their sources alone. What else was looked for and not found, {self.unknown:,} times, is not claimed."
        )

    def _engines(self, shown: Callable[[str], str]) -> Iterator[str]:
        if self.engines:
            named = ", ".join([shown(each) for each in self.engines])
            yield (
                f"**{_counted(len(self.engines), 'open-source engine')} really ran** ({named}), with a small scripted "
                f"model: of {_counted(self.engine_facts, 'fact')} that were put to the test, {self.engine_breaks:,} "
                f"break a MUST and {self.engine_departs:,} miss a recommendation."
            )

    def _declared(self) -> str:
        return (
            f"**{_counted(self.declared, 'fact')} about the other providers declared, not proven**: the simulator "
            "plays what their profiles claim, which proves the suite and not the provider."
        )

    def _adapters(self) -> Iterator[str]:
        if self.adapters:
            yield (
                f"**{_counted(self.adapters, 'adapter')} driven** through the simulator, in "
                f"{_counted(self.pairings, 'pairing')} with a provider: {self.clean:,} of "
                f"{_counted(self.played, 'case')} break no MUST, and in {self.clean_pairings:,} of the pairings none "
                "does."
            )

    def _expected(self) -> Iterator[str]:
        if self.expected:
            yield f"Known and explained: {_counted(self.expected, 'failure')}."


def headline(table: Table) -> Headline:
    """Count what a table says."""
    kinds = {subject.name: subject.kind for subject in table.subjects}
    claims = [cell for cell in table.cells if cell.row.startswith(f"{CLAIMS}/")]
    seen = [cell for cell in table.cells if not cell.row.startswith(f"{CLAIMS}/")]
    ran = worst([cell for cell in seen if cell.evidence == Evidence.ENGINE])
    alone = worst([cell for cell in seen if kinds[cell.subject] != "adapter" and cell.evidence == Evidence.SIMULATED])
    adapters = [subject for subject in table.subjects if subject.kind == "adapter"]
    driven = [each for each in table.observed.results if each.provider]
    played = [(each.name, case.name) for each in driven for case in each.cases if case.outcomes]
    failed = {(fact.subject, fact.case) for each in driven for fact in facts(each) if _fails(fact)}
    calibration = table.observed.calibration.values()
    titles = {subject.name: subject.title for subject in table.subjects}
    return Headline(
        providers=len({subject.provider for subject in table.subjects if subject.kind != "adapter"}),
        claims=len(claims) - _count(claims, Verdict.UNKNOWN),
        confirmed=_count(claims, Verdict.CONFORMS),
        contradicted=_count(claims, Verdict.DEPARTS),
        unknown=_count(claims, Verdict.UNKNOWN),
        recordings=sum(each.get("recordings", 0) for each in calibration),
        recorded=sum(1 for each in calibration if each.get("recordings")),
        engines=tuple(dict.fromkeys([titles[subject] for subject, _ in ran])),
        engine_facts=sum(1 for verdict in ran.values() if verdict is not Verdict.UNKNOWN),
        engine_departs=sum(1 for verdict in ran.values() if verdict is Verdict.DEPARTS),
        engine_breaks=sum(1 for verdict in ran.values() if verdict in (Verdict.BREAKS, Verdict.UNTESTED)),
        declared=sum(1 for verdict in alone.values() if verdict is Verdict.DECLARED),
        adapters=len({subject.name.partition("/")[0] for subject in adapters}),
        pairings=len(adapters),
        clean_pairings=len({each.name for each in driven} - {subject for subject, _ in failed}),
        played=len(played),
        clean=sum(1 for case in played if case not in failed),
        expected=sum(1 for cell in table.cells if cell.expected),
    )


def _fails(fact: Fact) -> bool:
    return fact.is_failure or fact.status is Status.ERRORED


def worst(cells: Iterable[Entered]) -> dict[tuple[str, str], Verdict]:
    """Return the worst verdict of each row of each subject, over its variants and kinds of evidence."""
    found: dict[tuple[str, str], Verdict] = {}
    for cell in cells:
        key = cell.subject, cell.row
        found[key] = min(cell.verdict, found.get(key, cell.verdict), key=WORST_FIRST.index)
    return found


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _count(cells: Iterable[Entered], verdict: Verdict) -> int:
    return sum(1 for cell in cells if cell.verdict is verdict)
