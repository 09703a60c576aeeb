"""Loop facts: what an agent loop owes the conversation beside the form of its requests.

Rules judge what stands in requests. Whether the text in a result is that of its own call, whether half a reply was
taken for an answer, whether a batch ran at once, can only be told by someone who knows the script and hears the answer.

One file a fact; the folder is the registry. A fact's id is its file, its title the first line of its docstring. As
with rules, parts are found first and judged then: where there is no part, a fact is not applicable and never passed.
"""

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from conformance.adapters.loop._answer import Answer, Event, Raised
from conformance.adapters.loop._session import Played, parsed
from conformance.documents.pointer import render
from conformance.results import NOTHING_TO_JUDGE, Finding, Level, Outcome, Status
from conformance.rules import Fault, Source
from conformance.scenarios import Scenario

__all__ = [
    "ANSWERED", "FAMILY", "Answer", "Event", "Fact", "Fault", "Judge", "Level", "Parts", "Played", "Raised", "Source",
    "fact", "judge", "load", "parsed",
]  # fmt: skip

FAMILY: Final = "loop"
"""What the ids of facts begin with."""

ANSWERED: Final = f"{FAMILY}/every-prompt-answered"
"""The fact that speaks of every case: without an answer nothing can be said of it."""

Judge: TypeAlias = Callable[[Any, Played], Iterable[Fault]]


@dataclass(frozen=True, slots=True)
class Parts:
    """Where a fact looks: a kind of part in the singular, and how to find all of them in what was played.

    `is_told` says whether the answer tells what is needed for that, which no driver has to,
    `is_due` whether a script is sure to bring such parts, so that none is a fault.
    """

    name: str
    select: Callable[[Played], Sequence[Any]]
    is_told: Callable[[Played], bool] = lambda _played: True
    is_due: Callable[[Scenario], bool] = lambda _scenario: False


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact that must hold of a loop, and how to tell."""

    id: str
    level: Level
    on: Parts
    judge: Judge
    doc: str
    source: Source

    @property
    def title(self) -> str:
        """Return the first line of the fact's documentation: a present-tense sentence."""
        return self.doc.partition("\n")[0]

    def outcome(self, played: Played) -> Outcome:
        """Return what the fact says of what was played."""
        parts = self.on.select(played)
        if not parts:
            reason = f"{NOTHING_TO_JUDGE}: no {self.on.name}"
            if not self.on.is_told(played):
                reason = f"the answer does not tell: no {self.on.name}"
            return Outcome(self.id, Status.NOT_APPLICABLE, self.level, reason=reason)
        findings = tuple([self._finding(part, fault) for part in parts for fault in self.judge(part, played)])
        if not findings:
            return Outcome(self.id, Status.PASSED, self.level, len(parts))
        level = max((finding.level for finding in findings), key=lambda each: each.weight)
        return Outcome(self.id, Status.FAILED, level, len(parts), findings)

    def _finding(self, part: Any, fault: Fault) -> Finding:
        place = (*part.place, *fault.at) if fault.place is None else fault.place
        return Finding(render(place), fault.message, fault.level or self.level)


def fact(level: Level, *, on: Parts, source: Source) -> Callable[[Judge], Fact]:
    """Make a judge into a fact; the id comes from its module's name, the documentation from its docstring."""

    def declare(judge: Judge) -> Fact:
        name = f"{FAMILY}/{judge.__module__.rpartition('.')[2].replace('_', '-')}"
        doc = "\n".join([line.strip() for line in (judge.__doc__ or "").strip().splitlines()])
        return Fact(name, level, on, judge, doc, source)

    return declare


@cache
def load() -> tuple[Fact, ...]:
    """Return every fact, ordered by id."""
    stems = [path.stem for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("_")]
    found: list[Fact] = [importlib.import_module(f"{__name__}.{stem}").judge for stem in stems]
    return tuple(sorted(found, key=lambda each: each.id))


def judge(played: Played) -> tuple[Outcome, ...]:
    """Return one outcome a fact, in the order of their ids."""
    return tuple([each.outcome(played) for each in load()])
