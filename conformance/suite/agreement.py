"""The same scenarios on several wires of one provider, and what differs between them.

A provider that serves one model on several wires translates between them, and what a translation loses, no rule about
one wire can see. The requests of a scenario say the same on each wire, so a model that replies by a script must say the
same, and the tokens that it read tell how many it was shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from conformance.convert import ingress
from conformance.errors import InvalidDocument
from conformance.scenarios import Scenario
from conformance.suite.observations import observe, prompt_tokens
from conformance.suite.play import Progress
from conformance.suite.run import Run
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index

_ABSENT: Final = "none"
_SHAPES: Final = ("ids", "parallel-calls", "reasoning-on-tool-turns")
"""The observations of a whole conversation that do not depend on the names of a wire."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between the wires in one case: `turn` is 0 for what concerns all turns; `values` are by wire."""

    case: str
    turn: int
    what: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CaseAgreement:
    """One case on all wires: its differences, or why it was not compared."""

    case: str
    differences: tuple[Difference, ...]
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


def _differences(case: str, played: Mapping[str, Progress]) -> Iterator[Difference]:
    ends = {wire: progress.note or "played to its end" for wire, progress in played.items()}
    yield from _if_different(case, 0, "end", ends)
    seen = {wire: observe(tuple(progress.exchanges)) for wire, progress in played.items()}
    for key in _SHAPES:
        shown = {wire: ", ".join(values.get(key, ())) or _ABSENT for wire, values in seen.items()}
        yield from _if_different(case, 0, key, shown)
    for turn, exchanges in enumerate(zip(*[each.exchanges for each in played.values()], strict=False), 1):
        said = dict(zip(played, map(_said, exchanges), strict=True))
        for what in next(iter(said.values())):
            yield from _if_different(case, turn, what, {wire: values[what] for wire, values in said.items()})


def _if_different(case: str, turn: int, what: str, values: Mapping[str, str]) -> Iterator[Difference]:
    if len(set(values.values())) > 1:
        yield Difference(case, turn, what, values)


def _said(exchange: Exchange) -> dict[str, str]:
    """Return what a reply says, in the words of the canonical message, and the tokens of what the model read."""
    index = Index((exchange,))
    found = index.replies
    message: Mapping[str, Any] = ingress.read(found[0].message, {}) if found else {}
    calls = [each["function"] for each in message.get("tool_calls", ())]
    return {
        "status": str(exchange.status),
        "text": _words(message.get("content")),
        "reasoning": _words(message.get("reasoning_content")),
        "calls": "; ".join([f"{call['name']} {_arguments(call['arguments'])}" for call in calls]) or _ABSENT,
        "finish": str(found[0].finish_reason) if found else _ABSENT,
        "prompt tokens": _ABSENT if (count := prompt_tokens(index)) is None else str(count),
    }


def _words(value: Any) -> str:
    """Return a text without the white space around it; servers differ in it from reply to reply."""
    return str(value or "").strip() or _ABSENT


def _arguments(text: str) -> str:
    """Return arguments in one way of writing: wires where they are an object have no white space to compare."""
    try:
        return orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONDecodeError:
        return text
