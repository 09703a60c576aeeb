"""The rule set: one file a rule, the folder is the registry.

A rule's id is its path (`rules/tool_calls/id_unique.py` is `tool-calls/id-unique`), its title the first line of its
docstring. It is judged over the parts of one view, and is written once for every use: what `check` prints, what the
simulator refuses, what a probe expects and what fails an adapter.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from conformance.errors import UnknownName
from conformance.profiles import Source
from conformance.results import NOTHING_TO_JUDGE, Level, Outcome, Status
from conformance.rule_ids import current_id, matches
from conformance.rules._context import Context, Fault
from conformance.wire.exchange import Conversation
from conformance.wire.views import View


@dataclass(frozen=True, slots=True)
class Example:
    """A conversation as an edit of a valid one: `fixtures/wire/<base>.json` with some pointers changed.

    `claims` are what a profile would say; a rule that needs claims has examples that bring them.
    """

    base: str
    edits: Mapping[str, Any] = field(default_factory=dict)
    claims: Mapping[str, Any] = field(default_factory=dict)

    def conversation(self) -> Conversation:
        """Return the edited conversation."""
        # Imported here because only tests and explanations look at examples.
        from conformance.documents import read_json
        from conformance.documents.pointer import edit
        from conformance.formats.records import exchange
        from conformance.resources import folder

        path = folder("fixtures") / "wire" / f"{self.base}.json"
        return tuple(exchange(each, str(path)) for each in edit(read_json(path), self.edits))


def example(base: str, edits: Mapping[str, Any] | None = None, claims: Mapping[str, Any] | None = None) -> Example:
    """Return an example: the name of a base, the edits by pointer, the claims of its provider."""
    return Example(base, edits or {}, claims or {})


__all__ = [
    "Context", "Example", "Fault", "Judge", "Rule", "Source", "Where", "advice", "current_id", "example", "load",
    "rule", "select",
]  # fmt: skip

_FIX: Final = re.compile(r"To fix it,\s+", re.IGNORECASE)

MAX_CACHED: Final = 256
"""Outcomes of fewer elements than this are kept, so that memory does not grow with the sizes that were seen."""

UNCLAIMED = -1
"""The key, beside the counts of what was judged, of the outcome for want of a claim."""

Judge: TypeAlias = Callable[[Any, Context], Iterable[Fault] | None]
Where: TypeAlias = Callable[[Any, Context], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One fact that must hold, and how to tell.

    `on`: the view whose parts are judged. `where`: which of them it concerns. `needs`: claims without which it says
    nothing. `refused`: the claim that says what the provider does about a breach. `by_schema`: the schemas find the
    faults and the judge only hands them on, so that a valid body costs nothing; `handed`: the claims about these.
    """

    id: str
    level: Level
    on: View
    judge: Judge
    doc: str
    source: Source
    bad: Sequence[Example]
    good: Sequence[Example]
    where: Where | None
    needs: tuple[str, ...]
    refused: str | None
    by_schema: bool
    handed: tuple[str, ...]
    outcomes: dict[int, Outcome]

    @property
    def title(self) -> str:
        """Return the first line of the rule's documentation: a present-tense fact."""
        return self.doc.partition("\n")[0]

    @property
    def family(self) -> str:
        """Return the part of the id before the slash."""
        return self.id.partition("/")[0]

    @property
    def claims(self) -> tuple[str, ...]:
        """Return the names of the claims that this rule puts to the test."""
        return (*self.needs, *((self.refused,) if self.refused else ()))

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the names of all claims that this rule goes by, those first that it declares."""
        # Imported here because only explanations and reports ask.
        from conformance import profiles
        from conformance.rules._reads import spelled

        named = spelled((self.judge, self.where), tuple(profiles.vocabulary()))
        return tuple(dict.fromkeys((*self.claims, *self.handed, *named)))

    def passed(self, judged: int) -> Outcome:
        """Return the outcome of a rule that found nothing in so many parts; none at all is not applicable."""
        outcome = self.outcomes.get(judged)
        if outcome is None:
            status = Status.PASSED if judged else Status.NOT_APPLICABLE
            reason = "" if judged else f"{NOTHING_TO_JUDGE}: no {self.on.name} that the rule concerns"
            outcome = Outcome(self.id, status, self.level, judged, (), reason)
            if judged < MAX_CACHED:
                self.outcomes[judged] = outcome
        return outcome

    def unclaimed(self) -> Outcome:
        """Return the outcome where the profile does not claim what the rule needs."""
        outcome = self.outcomes.get(UNCLAIMED)
        if outcome is None:
            reason = f"nothing is claimed of {' and '.join(self.needs)}"
            outcome = self.outcomes[UNCLAIMED] = Outcome(self.id, Status.NOT_APPLICABLE, self.level, reason=reason)
        return outcome


def rule(  # noqa: PLR0913 — each is one declared fact of a rule, given by name
    level: Level,
    *,
    on: View,
    source: Source,
    bad: Sequence[Example],
    good: Sequence[Example] = (),
    where: Where | None = None,
    needs: tuple[str, ...] = (),
    refused: str | None = None,
    by_schema: bool = False,
    handed: tuple[str, ...] = (),
) -> Callable[[Judge], Rule]:
    """Make a judge into a rule; the id comes from its module's path, the documentation from its docstring."""

    def declare(judge: Judge) -> Rule:
        name = _id(judge.__module__)
        doc = "\n".join(line.strip() for line in (judge.__doc__ or "").strip().splitlines())
        return Rule(name, level, on, judge, doc, source, bad, good, where, needs, refused, by_schema, handed, {})

    return declare


def _id(module: str) -> str:
    family, fact = module.rsplit(".", 2)[-2:]
    return f"{family}/{fact}".replace("_", "-")


@cache
def load() -> tuple[Rule, ...]:
    """Return every rule of the package, ordered by id."""
    root = Path(__file__).parent
    modules = [
        f"{__name__}.{path.parent.name}.{path.stem}"
        for path in root.glob("*/*.py")
        if not path.name.startswith("_") and not path.parent.name.startswith("_")
    ]
    found: list[Rule] = [importlib.import_module(module).judge for module in modules]
    return tuple(sorted(found, key=lambda each: each.id))


def select(patterns: Iterable[str]) -> tuple[Rule, ...]:
    """Return the rules whose current or former ids match one of the globs; raises UnknownName if one matches none."""
    every = load()
    chosen: dict[str, Rule] = {}
    for pattern in patterns:
        fitting = [each for each in every if matches(pattern, each.id)]
        if not fitting:
            raise UnknownName("rule", pattern, (each.id for each in every))
        chosen |= {each.id: each for each in fitting}
    return tuple(chosen[name] for name in sorted(chosen))


def advice(doc: str) -> tuple[str, str]:
    """Return why a rule exists and how to fix a violation, from its documentation; each is empty if not documented."""
    text = doc.partition("\n")[2].strip()
    found = _FIX.search(text)
    if found is None:
        return text, ""
    fix = text[found.end() :].strip()
    return text[: found.start()].strip(), fix[:1].upper() + fix[1:]
