"""The rule set: one file per rule; the folder is the registry.

A rule's id is its path (`rules/tool_calls/id_unique.py` is `tool-calls/id-unique`), its title the first line of its
docstring. It checks the elements of one view and serves every use: what `check` prints, what the simulator rejects,
what a probe expects and what fails an adapter.
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.errors import UnknownName
from conformance.profiles import Source
from conformance.results import NOTHING_TO_JUDGE, Harm, Level, Outcome, Status
from conformance.rules.context import Claimed, Context, Fault
from conformance.wire.exchange import Conversation
from conformance.wire.native import CHAT
from conformance.wire.views import View
from conformance.wires import NAMES, NATIVE

__all__ = [
    "BESIDE", "ELEMENT", "EVERY", "HISTORY", "NATIVE", "TURN", "UNCLAIMED", "WITH_IDS", "WITH_REASONING", "Claimed",
    "Context", "Example", "Fault", "Judge", "KnownBy", "Reach", "Rule", "Settled", "Source", "When", "Where",
    "advice", "by_id", "described_by", "example", "load", "of_traffic", "rule", "select", "unless_faulty",
]  # fmt: skip

Judge: TypeAlias = Callable[[Any, Context], Iterable[Fault] | None]
Where: TypeAlias = Callable[[Any, Context], bool]
When: TypeAlias = Callable[[Claimed], bool]
KnownBy: TypeAlias = Callable[[Claimed], str]
Settled: TypeAlias = Callable[[Any, Sequence[Fault]], bool]
Until: TypeAlias = Callable[[Any], Iterable[Any]]

_FIX: Final = re.compile(r"To fix it,\s+", re.IGNORECASE)
EVERY: Final = NAMES
"""The wires of a rule that holds on all of them; NATIVE are those of a rule about bodies as they are."""
WITH_IDS: Final = (CHAT, "messages", "responses")
"""The wires on which every call has an id; in Gemini ids are optional, and derived from places where there are none."""
WITH_REASONING: Final = WITH_IDS
"""The wires on which reasoning comes back as it was said; in Gemini, signatures hold it, and its text is a summary."""

_NOTHING: Final[Mapping[str, Any]] = {}

UNCLAIMED: Final = -1
"""Stands for the number of judged elements if a claim that a rule needs is not known."""
MAX_CACHED: Final = 256
"""Outcomes of fewer elements than this are kept, so that memory does not grow with the sizes that were seen."""


class Reach(StrEnum):
    """How far a rule reads around an element, beside the claims and the parameters of its request.

    `beside`: it reads no message at all, but parameters or tools. `element`: it reads the element alone. `turn`: also
    its turn, what stands before it, and whether a user message follows; of a native message, also the one that follows
    directly. `history`: anything else. What a rule found beside the messages holds as long as all that is there stays
    the same; what it found in a message holds in a later request that begins with the same messages, unless it reads
    the history. A rule about requests that says `element` or `turn` reads the messages one by one, through its context.
    """

    BESIDE = "beside"
    ELEMENT = "element"
    TURN = "turn"
    HISTORY = "history"


BESIDE: Final = Reach.BESIDE
ELEMENT: Final = Reach.ELEMENT
TURN: Final = Reach.TURN
HISTORY: Final = Reach.HISTORY


class Example(NamedTuple):
    """A conversation as an edit of a valid one: `fixtures/wire/<base>.json` with some pointers changed.

    `claims` are those of its provider; a rule that needs claims has examples with them.
    """

    base: str
    edits: Mapping[str, Any] = _NOTHING
    claims: Mapping[str, Any] = _NOTHING

    def conversation(self) -> Conversation:
        """Return the edited conversation."""
        # Imported here because only tests and explanations look at examples.
        from conformance.documents import read_json
        from conformance.documents.pointer import edit
        from conformance.formats.records import exchange
        from conformance.resources import folder

        path = folder("fixtures") / "wire" / f"{self.base}.json"
        return tuple(exchange(each, str(path)) for each in edit(read_json(path), self.edits))

    def difference(self) -> Iterator[tuple[str, str, Any]]:
        """Return what the edits remove from the base (`-`) and what they add (`+`), each with its pointer."""
        from conformance.documents import read_json
        from conformance.documents.pointer import differences
        from conformance.resources import folder

        return differences(read_json(folder("fixtures") / "wire" / f"{self.base}.json"), self.edits)


def example(base: str, edits: Mapping[str, Any] | None = None, claims: Mapping[str, Any] | None = None) -> Example:
    """Return an example: the name of a base, the edits by pointer, the claims of its provider."""
    return Example(base, edits or _NOTHING, claims or _NOTHING)


class _Outcomes(dict[int, Outcome]):
    """The outcomes of a rule that finds nothing wrong, by the number of elements that it judged, or `UNCLAIMED`."""

    def __init__(self, rule: str, level: Level, view: View, needs: tuple[str, ...]) -> None:
        self._rule, self._level, self._view, self._needs = rule, level, view, needs

    def __missing__(self, judged: int) -> Outcome:
        if judged == UNCLAIMED:
            reason = f"not documented: {', '.join(self._needs)}"
        else:
            reason = "" if judged else f"{NOTHING_TO_JUDGE}: no {self._view.name} that the rule concerns"
        status = Status.PASSED if judged > 0 else Status.NOT_APPLICABLE
        outcome = Outcome(self._rule, status, self._level, max(judged, 0), (), reason)
        # A peer chooses how many elements there are.
        if judged < MAX_CACHED:
            self[judged] = outcome
        return outcome


# Equal only if identical, and so hashable although their examples hold lists.
@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One fact that must hold, and how to check it.

    `on`: the view whose elements are checked. `among`: a condition of them that several rules have, asked once for all
    of these rules. `where`: which of those the rule concerns. `when`: whether the claims let
    it apply, asked once for all exchanges with the same claims. `needs`: the claims without which it does not apply.
    `claim`: the claim that says what the provider does about a violation. `reads`: every claim
    that it asks for, these first. `by_schema`: the schemas find the faults, so that a valid body costs nothing.
    `known_by`: names the claim that describes a violation by a provider, if there is one; it is not news then.
    `harm`: what a violation does to an agent; by default that of the family, in its `__init__.py`.
    `wires`: the wires on which the rule holds; one that names chat completions looks at translated exchanges.
    `provoked`: suites provoke what the rule finds, so that only traffic is judged by it. `reach`: how far it reads.
    `settled`: whether what it found in an element holds for good, if it does not always. `until`: the ids of calls of
    which another call with the same id, in a later reply or message, may change what was found in an element.
    `outcomes`: those if it finds nothing wrong, by the number of judged elements.
    """

    id: str
    level: Level
    on: View
    judge: Judge
    doc: str
    source: Source
    bad: Sequence[Example]
    good: Sequence[Example]
    among: Where | None
    where: Where | None
    when: When | None
    needs: tuple[str, ...]
    claim: str | None
    reads: tuple[str, ...]
    by_schema: bool
    known_by: KnownBy | None
    harm: Harm
    wires: tuple[str, ...]
    provoked: bool
    reach: Reach
    settled: Settled | None
    until: Until | None
    outcomes: Mapping[int, Outcome]

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
        """Return the claims that the rule needs, and the one about a violation."""
        return (*self.needs, *((self.claim,) if self.claim else ()))

    def concerns(self, element: Any, context: Context) -> bool:
        """Return whether an element is one that the rule concerns."""
        return (self.among is None or self.among(element, context)) and (
            self.where is None or self.where(element, context)
        )


def rule(  # noqa: PLR0913 — each is one declared fact of a rule, given by name
    level: Level,
    *,
    on: View,
    source: Source,
    bad: Sequence[Example],
    good: Sequence[Example] = (),
    among: Where | None = None,
    where: Where | None = None,
    when: When | None = None,
    needs: tuple[str, ...] = (),
    claim: str | None = None,
    reads: tuple[str, ...] = (),
    by_schema: bool = False,
    known_by: KnownBy | None = None,
    harm: Harm | None = None,
    wires: tuple[str, ...] = (CHAT,),
    provoked: bool = False,
    reach: Reach = HISTORY,
    settled: Settled | None = None,
    until: Until | None = None,
) -> Callable[[Judge], Rule]:
    """Make a function into a rule; the id comes from its module's path, the documentation from its docstring.

    `reads` are the claims that it asks for beside `needs` and `claim`. `wires` are those on which it holds.
    `harm` is needed where a violation does something else to an agent than those of the other rules of the family.
    `provoked`: suites provoke what it finds, so that it judges traffic alone. `reach`: how far it reads. `settled`:
    whether what it found in an element holds, whatever follows; it is asked where the reach is not the history.
    `until`: the ids of calls that must not come again for that; a rule about replies that are sent back may have it.
    """

    def declare(judge: Judge) -> Rule:
        name = _id(judge.__module__)
        return Rule(
            name,
            level,
            on,
            judge,
            documentation(judge),
            source,
            bad,
            good,
            among,
            where,
            when,
            needs,
            claim,
            tuple(dict.fromkeys((*needs, *([claim] if claim else []), *reads))),
            by_schema,
            known_by,
            harm or _harm_of_family(judge.__module__),
            wires,
            provoked,
            reach,
            settled,
            until,
            _Outcomes(name, level, on, needs),
        )

    return declare


def documentation(judge: Callable[..., Any]) -> str:
    """Return the docstring of the function of a rule or a fact, without indentation."""
    return "\n".join([line.strip() for line in (judge.__doc__ or "").strip().splitlines()])


def unless_faulty(_element: Any, faults: Sequence[Fault]) -> bool:
    """Return whether nothing was found: a later reply may show that what was found came from the provider."""
    return not faults


def _harm_of_family(module: str) -> Harm:
    """Return the harm that the package of a rule's module states; the rules of tests have none, and are form."""
    # The package is there: it is imported before each of its modules.
    harm: Harm = getattr(sys.modules.get(module.rpartition(".")[0]), "HARM", Harm.FORM)
    return harm


def described_by(name: str, *words: str) -> KnownBy:
    """Return what names a claim where it is one of these words, or lists one; without words, where it is true."""

    def known_by(claimed: Claimed) -> str:
        is_known = claimed.claims_any(name, *words) if words else claimed.claim(name) is True
        return name if is_known else ""

    return known_by


def _id(module: str) -> str:
    family, fact = module.rsplit(".", 2)[-2:]
    return f"{family}/{fact}".replace("_", "-")


@cache
def load() -> tuple[Rule, ...]:
    """Return the rules that hold of every conversation, ordered by id."""
    return tuple([each for each in of_traffic() if not each.provoked])


@cache
def of_traffic() -> tuple[Rule, ...]:
    """Return every rule of the package, ordered by id: also those that find what suites provoke."""
    paths = [path for path in Path(__file__).parent.glob("*/*.py") if path.name != "__init__.py"]
    found: list[Rule] = [importlib.import_module(f"{__name__}.{path.parent.name}.{path.stem}").judge for path in paths]
    return tuple(sorted(found, key=lambda each: each.id))


@cache
def by_id() -> Mapping[str, Rule]:
    """Return every rule of the package by its id."""
    return {rule.id: rule for rule in of_traffic()}


def select(patterns: Iterable[str]) -> tuple[Rule, ...]:
    """Return the rules whose ids match one of the globs; raises UnknownName if one matches none."""
    return _selected(tuple(patterns))


@lru_cache(maxsize=MAX_CACHED)
def _selected(patterns: tuple[str, ...]) -> tuple[Rule, ...]:
    """Return the same rules for the same globs: what is planned for a set of rules is kept by its identity."""
    every = of_traffic()
    chosen: dict[str, Rule] = {}
    for pattern in patterns:
        fitting = [each for each in every if fnmatchcase(each.id, pattern)]
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
