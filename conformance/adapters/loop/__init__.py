"""Loop facts: what an agent loop must do beyond the form of its requests.

Rules check requests. Some faults are visible only in comparison with the script and the answer: a tool message with the
result of another call, half a reply that was used as an answer, a batch that ran one call after the other.

Each fact is one file; the folder is the registry. Its id is the file's name, its title the first line of the docstring.
As with rules, a fact first finds the elements to check: without any it does not apply, and never passes.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from conformance import rules
from conformance.adapters.loop._session import ClientSession, DriverAnswer, LoopEvent, RaisedError, parse_arguments
from conformance.documents.pointer import render
from conformance.results import NOTHING_TO_JUDGE, Finding, Level, Outcome, Status
from conformance.rules import Fault, Rule, Source
from conformance.scenarios import Scenario
from conformance.wire.views import Side

__all__ = [
    "ANSWERED",
    "FAMILY",
    "ClientSession",
    "DriverAnswer",
    "Fact",
    "FactJudge",
    "Fault",
    "Level",
    "LoopEvent",
    "LoopView",
    "RaisedError",
    "Source",
    "fact",
    "judge",
    "load",
    "parse_arguments",
]  # fmt: skip

FAMILY: Final = "loop"
"""The first part of the id of each fact."""

ANSWERED: Final = f"{FAMILY}/every-prompt-answered"
"""The fact that every case tests: an adapter that does not answer shows nothing else."""

FactJudge: TypeAlias = Callable[[Any, ClientSession], Iterable[Fault]]


@dataclass(frozen=True, slots=True)
class LoopView:
    """Where a fact looks: the name of a kind of element in the singular, and how to find all of them in a session.

    `is_reported` returns whether the answer has the information needed, which drivers may omit. `is_guaranteed` returns
    whether a scenario always leads to such elements, so that finding none leaves the fact untested.
    """

    name: str
    select: Callable[[ClientSession], Sequence[Any]]
    is_reported: Callable[[ClientSession], bool] = lambda _session: True
    is_guaranteed: Callable[[Scenario], bool] = lambda _scenario: False


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact that must hold for a loop, and the function that checks it."""

    id: str
    level: Level
    on: LoopView
    judge: FactJudge
    doc: str
    source: Source

    @property
    def title(self) -> str:
        """Return the first line of the fact's documentation: a present-tense sentence."""
        return self.doc.partition("\n")[0]

    def outcome(self, session: ClientSession) -> Outcome:
        """Return the outcome of the fact for a session."""
        elements = self.on.select(session)
        if not elements:
            reason = f"{NOTHING_TO_JUDGE}: no {self.on.name}"
            if not self.on.is_reported(session):
                reason = f"the answer does not report it: no {self.on.name}"
            return Outcome(self.id, Status.NOT_APPLICABLE, self.level, reason=reason)
        findings = tuple(
            [self._finding(each, fault, session) for each in elements for fault in self.judge(each, session)]
        )
        if not findings:
            return Outcome(self.id, Status.PASSED, self.level, len(elements))
        level = max((finding.level for finding in findings), key=lambda level: level.severity)
        return Outcome(self.id, Status.FAILED, level, len(elements), findings)

    def _finding(self, element: Any, fault: Fault, session: ClientSession) -> Finding:
        place = (*element.place, *fault.at) if fault.place is None else fault.place
        native = session.conversation[int(place[0])].native if place else None
        place = place if native is None else native.place(place)
        return Finding(render(place), fault.message, fault.level or self.level, side=Side.CLIENT.value)


def fact(level: Level, *, on: LoopView, source: Source) -> Callable[[FactJudge], Fact]:
    """Turn a function into a fact; its id is the name of its module, its documentation the docstring."""

    def declare(judge: FactJudge) -> Fact:
        name = f"{FAMILY}/{judge.__module__.rpartition('.')[2].replace('_', '-')}"
        return Fact(name, level, on, judge, rules.documentation(judge), source)

    return declare


@cache
def load() -> tuple[Fact, ...]:
    """Return every fact, ordered by id."""
    stems = [path.stem for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("_")]
    found: list[Fact] = [importlib.import_module(f"{__name__}.{stem}").judge for stem in stems]
    return tuple(sorted(found, key=lambda each: each.id))


@cache
def with_rules() -> Mapping[str, Rule | Fact]:
    """Return every rule and every fact by its id: all that an adapter can be checked by."""
    return {**rules.by_id(), **{fact.id: fact for fact in load()}}


def judge(session: ClientSession) -> tuple[Outcome, ...]:
    """Return one outcome for each fact, ordered by id."""
    return tuple([each.outcome(session) for each in load()])
