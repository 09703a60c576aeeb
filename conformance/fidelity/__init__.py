"""Whether what passes a gateway stays what it is: facts about the four bodies of an exchange, and who loses something.

The front request, the back request, the back reply and the front reply are compared as canonical conversations, each
piece with what it became. Losing or changing is a finding; renaming as the other wire needs is right; what is added is
counted. A finding names the party that passed the piece on, with the place before it and the place after it.

Each fact is one file in `facts/`; the folder is the registry. Its id is `gateway/` and the file's name, its title the
first line of its docstring. As with rules, a fact finds the elements to check first, and without any does not apply.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.documents.pointer import REMOVE, parse, place_of, value_at
from conformance.fidelity.examples import GatewayExample, example
from conformance.fidelity.passages import CLIENT, GATEWAY, Pair, Passage, passages
from conformance.profiles import Profile, Source
from conformance.results import NOTHING_TO_JUDGE, Finding, Level, Outcome, Status
from conformance.rules import documentation
from conformance.wire.values import rendered

__all__ = [
    "BOTH",
    "FAMILY",
    "REMOVE",
    "REPLIES",
    "REQUESTS",
    "Difference",
    "FidelityFact",
    "Level",
    "PassageLoss",
    "Source",
    "differences",
    "example",
    "fact",
    "judge",
    "load",
]  # fmt: skip

FAMILY: Final = "gateway"
"""The first part of the id of each fact."""

REQUESTS: Final = "requests"
REPLIES: Final = "replies"
BOTH: Final = "requests and replies"

BACK_REQUEST_VALID: Final = f"{FAMILY}/back-request-valid"
FRONT_REPLY_VALID: Final = f"{FAMILY}/front-reply-valid"

GATEWAY_RULES: Final = {BACK_REQUEST_VALID: ("back", "request"), FRONT_REPLY_VALID: ("front", "response")}
"""The facts that sum up the rules about what a gateway writes itself, with the end and the body that they are about."""

_EXCERPT: Final = 120


class PassageLoss(NamedTuple):
    """What a fact finds: what became of an element, the pointers before and after, and a level of its own."""

    message: str
    at: str
    became: str
    level: Level | None = None


class Difference(NamedTuple):
    """A loss with the fact that it breaks, its level and the party that passed the piece on."""

    fact: str
    level: Level
    message: str
    at: str
    became: str
    by: str


FidelityJudge: TypeAlias = Callable[[Any, Passage], Iterable[PassageLoss]]


# Equal only if identical, and so hashable although its examples hold lists.
@dataclass(frozen=True, slots=True, eq=False)
class FidelityFact:
    """One thing that a gateway must keep, and the function that compares it.

    `on`: returns the elements of a passage to look at. `of`: whether the elements are in requests, in replies or in
    both. `element`: the name of an element in the singular. `echoed`: whether a client must keep it as well, when it
    sends a reply back. `bad` and `good`: sessions that break the fact, and others that do not.
    """

    id: str
    level: Level
    element: str
    on: Callable[[Passage], Sequence[Any]]
    of: str
    judge: FidelityJudge
    doc: str
    source: Source
    bad: Sequence[GatewayExample]
    good: Sequence[GatewayExample]
    echoed: bool

    @property
    def title(self) -> str:
        """Return the first line of the fact's documentation: a present-tense sentence."""
        return self.doc.partition("\n")[0]

    def concerns(self, passage: Passage) -> bool:
        """Return whether the fact is about a passage."""
        if passage.by == CLIENT:
            return self.echoed
        return self.of in {BOTH, REPLIES if passage.is_reply else REQUESTS}


def fact(  # noqa: PLR0913 — each is one declared fact, given by name
    level: Level,
    *,
    element: str,
    on: Callable[[Passage], Sequence[Any]],
    of: str,
    source: Source,
    bad: Sequence[GatewayExample],
    good: Sequence[GatewayExample],
    echoed: bool = False,
) -> Callable[[FidelityJudge], FidelityFact]:
    """Turn a function into a fact; its id is the name of its module, its documentation the docstring."""

    def declare(judge: FidelityJudge) -> FidelityFact:
        name = f"{FAMILY}/{judge.__module__.rpartition('.')[2].replace('_', '-')}"
        return FidelityFact(name, level, element, on, of, judge, documentation(judge), source, bad, good, echoed)

    return declare


@cache
def load() -> tuple[FidelityFact, ...]:
    """Return every fact, ordered by id."""
    folder = Path(__file__).parent / "facts"
    stems = [path.stem for path in folder.glob("*.py") if not path.name.startswith("_")]
    found: list[FidelityFact] = [importlib.import_module(f"{__name__}.facts.{stem}").judge for stem in stems]
    return tuple(sorted(found, key=lambda each: each.id))


@cache
def by_id() -> Mapping[str, FidelityFact]:
    """Return every fact by its id."""
    return {each.id: each for each in load()}


class Compared(NamedTuple):
    """What the facts found in a session: the differences, and how many elements each fact looked at."""

    differences: tuple[Difference, ...]
    looked_at: Mapping[str, int]


def differences(session: Sequence[Pair], profile: Profile | None = None) -> Compared:
    """Compare everything that passes a gateway or a client in a session; `profile` is that of the provider."""
    found: list[Difference] = []
    looked_at: dict[str, int] = {}
    for passage in passages(session, profile):
        for each in load():
            if not each.concerns(passage):
                continue
            elements = each.on(passage)
            if passage.by == GATEWAY:
                looked_at[each.id] = looked_at.get(each.id, 0) + len(elements)
            found += [
                Difference(each.id, loss.level or each.level, loss.message, loss.at, loss.became, passage.by)
                for element in elements
                for loss in each.judge(element, passage)
            ]
    return Compared(tuple(dict.fromkeys(found)), looked_at)


def judge(session: Sequence[Pair], profile: Profile | None = None) -> tuple[Outcome, ...]:
    """Return one outcome for each fact about a session, ordered by id; the losses of its client are not among them."""
    judged = differences(session, profile)
    return tuple(outcomes(judged, session))


def outcomes(judged: Compared, session: Sequence[Pair]) -> Iterator[Outcome]:
    """Yield one outcome for each fact, ordered by id, with the losses of the gateway as findings."""
    for each in load():
        count = judged.looked_at.get(each.id, 0)
        findings = tuple([_finding(d, session) for d in judged.differences if d.fact == each.id and d.by == GATEWAY])
        if findings:
            level = max((finding.level for finding in findings), key=lambda level: level.severity)
            yield Outcome(each.id, Status.FAILED, level, max(count, 1), findings)
        elif count:
            yield Outcome(each.id, Status.PASSED, each.level, count)
        else:
            reason = f"{NOTHING_TO_JUDGE}: no {each.element}"
            yield Outcome(each.id, Status.NOT_APPLICABLE, each.level, reason=reason)


def _finding(difference: Difference, session: Sequence[Pair]) -> Finding:
    text = f"{difference.message}; after it: {difference.became}"
    return Finding(difference.at, text, difference.level, excerpt=excerpt(session, difference.at), side=difference.by)


def excerpt(session: Sequence[Pair], pointer: str) -> str:
    """Return the JSON at a place of the four bodies, or the beginning of it; empty if there is none."""
    number, end, *inside = parse(pointer)
    pair = next((each for each in session if str(each.number) == number), None)
    exchange = None if pair is None else pair.front if end == "front" else pair.answer
    if exchange is None or not inside:
        return ""
    received = exchange.as_received
    body = {"request": received.request, "response": received.response}
    if type(body.get(inside[0])) is str:
        native = exchange.native
        body["response"] = [event.value for event in native.events] if native is not None else received.response
    value = value_at(body, place_of(inside))
    return "" if value is None else rendered(value)[:_EXCERPT]
