"""The same scenarios on several wires of one provider, and what differs between them.

A provider that serves one model on several wires translates between them, and what a translation loses, no rule about
one wire can see. The requests of a scenario say the same on each wire, so a model that replies by a script must say the
same, and the tokens that it read tell how many it was shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from conformance.errors import InvalidDocument
from conformance.observations import words
from conformance.observations.comparing import contrasts
from conformance.scenarios import Scenario
from conformance.suite.run import Run
from conformance.suite.turns import Progress

_SHAPES: Final = ("ids", "parallel-calls", "reasoning-on-tool-turns")
"""The observations of a whole conversation that do not depend on the names of a wire."""


@dataclass(frozen=True, slots=True)
class WireDifference:
    """What differs between the wires in one case: `turn` is 0 for what concerns all turns; `values` are by wire."""

    case: str
    turn: int
    what: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CaseAgreement:
    """One case on all wires: its differences, or why it was not compared."""

    case: str
    differences: tuple[WireDifference, ...]
    left_out: str = ""


def agreement(runs: Mapping[str, Run]) -> Iterator[CaseAgreement]:
    """Yield each case of the scenarios for providers, played on every wire; raises Unusable.

    `runs` are the runs of one provider, by wire.
    """
    first = next(iter(runs.values()))
    for scenario, variant in first.cases():
        yield _of_case(scenario, variant, runs)


def _of_case(scenario: Scenario, variant: str, runs: Mapping[str, Run]) -> CaseAgreement:
    name = f"{scenario.name}.{variant}"
    for wire, run in runs.items():
        unmet = run.unmet(scenario)
        if unmet is not None:
            return CaseAgreement(name, (), f"{wire}: ruled out by the claim {unmet}")
    try:
        played = {wire: run.progress(scenario, variant) for wire, run in runs.items()}
    except InvalidDocument as error:
        return CaseAgreement(name, (), str(error))
    for wire, progress in played.items():
        if progress.is_inconclusive:
            return CaseAgreement(name, (), f"{wire}: {progress.note}")
    return CaseAgreement(name, tuple(_differences(name, played)))


def _differences(case: str, played: Mapping[str, Progress]) -> Iterator[WireDifference]:
    yield from _of_turn(case, 0, {wire: _whole(progress) for wire, progress in played.items()})
    for turn, exchanges in enumerate(zip(*[each.exchanges for each in played.values()], strict=False), 1):
        yield from _of_turn(case, turn, dict(zip(played, map(words.reply, exchanges), strict=True)))


def _whole(progress: Progress) -> Mapping[str, str]:
    seen = words.core_facts(tuple(progress.exchanges))
    shapes = {name: ", ".join(seen.get(name, ())) or words.NONE for name in _SHAPES}
    return {"end": progress.note or "played to its end", **shapes}


def _of_turn(case: str, turn: int, texts: Mapping[str, Mapping[str, str]]) -> Iterator[WireDifference]:
    for what, values in contrasts(texts, words.NONE):
        yield WireDifference(case, turn, what, values)
