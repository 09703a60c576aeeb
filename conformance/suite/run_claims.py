"""The claims of one run, over those of the profile: the user's, and what the reply to one plain question shows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import orjson

from conformance import profiles, scenarios
from conformance.core_facts import DEFINITIONS, CoreFact
from conformance.documents import parse_yaml
from conformance.errors import ConformanceError, Unusable
from conformance.observations import words
from conformance.observations.collected import collect, combined, id_formats, values
from conformance.observations.comparing import Relation, relation
from conformance.observations.counts import reasoning_tokens
from conformance.profiles import UNKNOWN, Claims
from conformance.results import Verdict
from conformance.results.runs import Case, RunClaim
from conformance.scenarios import Scenario
from conformance.suite.options import OFF, ON
from conformance.suite.turns import Subject, converse
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index

MODE: Final = "thinking.mode"
FIELD: Final = "reasoning.response-field"
USER, QUESTION = "user", "question"
"""Who makes a claim of a run."""

ADVICE: Final = "--thinking on or --thinking off"
_WORDS: Final = {USER: "yours", QUESTION: "observed"}
_ASKED: Final = "reasoning-without-tools"


@dataclass(frozen=True, slots=True)
class ThinkingAnswer:
    """What the reply to the plain question shows: claims by name, and a note in words."""

    claims: Claims
    note: str


def given_claims(claims: Claims, thinking: str, texts: Iterable[str]) -> dict[str, RunClaim]:
    """Return the user's claims: those of --thinking, over the claims of the profile, and each NAME=VALUE of --claim.

    Raises Unusable, which names the claim and what is allowed.
    """
    given = dict(map(_parsed, texts))
    if thinking in (ON, OFF):
        if MODE in given:
            raise Unusable(f"--thinking {thinking} and --claim {MODE} exclude each other; omit one of them")
        always = claims.get(MODE) == "always"
        given[MODE] = ("always" if always else "default-on") if thinking == ON else "never"
    return {name: RunClaim(value, USER) for name, value in given.items()}


def _parsed(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator:
        raise Unusable(f"--claim: expected NAME=VALUE, got {text!r}")
    try:
        parsed = parse_yaml(value.encode(), name).value
        profiles.check_claim(name, parsed)
    except ConformanceError as error:
        raise Unusable(f"--claim {name}: {error}") from None
    return name, parsed


def switch(claims: Claims, thinking: str) -> Mapping[str, Any]:
    """Return what turns thinking on or off in every request, as far as the claims know it."""
    body = claims.get(f"thinking.{thinking}") if thinking in (ON, OFF) else None
    return body if isinstance(body, dict) else {}


def with_switch(body: Mapping[str, Any], members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a request body with these members, unless it has its own."""
    return {**body, **{name: value for name, value in members.items() if name not in body}}


@cache
def question() -> Scenario:
    """Return the plain question: the first turn of a scenario that makes a model think, without its probes."""
    scenario = scenarios.load(_ASKED)
    return replace(scenario, name="thinking-question", exercises=(), turns=scenario.turns[:1], needs={}, probes=())


def assumed(claims: Claims) -> Claims:
    """Return the claims that make a run send the most requests, as long as the question is not answered."""
    field = {FIELD: "reasoning_content"} if claims.get(FIELD) == UNKNOWN else {}
    return {MODE: "default-on", **field}


def ask(subject: Subject) -> ThinkingAnswer:
    """Ask the plain question once, and return what the reply shows; without a usable reply, no claims."""
    progress = converse(question(), "plain", subject)
    exchanges = tuple(progress.exchanges)
    replies = Index(exchanges).replies
    if progress.note or not replies:
        return ThinkingAnswer({}, f"there was no usable reply: {progress.note or 'it holds no message'}")
    fields = words.core_facts(exchanges).get("reasoning-fields", ())
    return _conclusion(fields, replies[0].message, exchanges[0], subject.claims)


def _conclusion(
    fields: Sequence[str], message: Mapping[str, Any], exchange: Exchange, claims: Claims
) -> ThinkingAnswer:
    is_open = claims.get(FIELD) == UNKNOWN
    if fields:
        claimed = {FIELD: fields[0] if len(fields) == 1 else list(fields)} if is_open else {}
        return ThinkingAnswer({MODE: "default-on", **claimed}, f"the reply carries reasoning in {', '.join(fields)}")
    if foreign := [*_foreign_fields(message)]:
        return ThinkingAnswer(
            {MODE: "default-on"},
            f"the reply carries text in {', '.join(foreign)}, which is not a known reasoning field",
        )
    if count := reasoning_tokens(Index((exchange,))):
        claimed = {FIELD: "none"} if is_open else {}
        return ThinkingAnswer(
            {MODE: "default-on", **claimed}, f"the reply counts {count} reasoning tokens but carries no reasoning"
        )
    if isinstance(claims.get("thinking.on"), dict):
        return ThinkingAnswer({MODE: "default-off"}, "the reply carries no reasoning")
    return ThinkingAnswer({}, "the reply carries no reasoning, and the profile does not know how to turn thinking on")


def _foreign_fields(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of a message that hold text and whose names look like reasoning."""
    for name, value in message.items():
        if isinstance(value, str) and value and any(word in name.lower() for word in ("reason", "think", "thought")):
            yield name


def contradicted(claims: Mapping[str, RunClaim], exchanges: Iterable[Exchange], known: Claims) -> Iterator[str]:
    """Yield in words each claim of the user of which the replies show another value."""
    own = {name: claim for name, claim in claims.items() if claim.by == USER}
    seen = collect([(each,) for each in exchanges], known) if own else {}
    observed = values({**combined(seen), **id_formats(seen)})
    for name in sorted(own.keys() & observed.keys()):
        if relation(name, observed[name], own[name].value) is Relation.DIFFERENT:
            yield f"{name}: claimed {_with_origin(own[name])}, observed {_text(observed[name])}"


def missing(facts: Iterable[CoreFact], claims: Claims, *, is_whole: bool) -> Iterator[str]:
    """Yield the claims of core facts that are not made, though nothing rules their facts out.

    After a whole run, a claim that is `unknown` is missing, too, if nothing else of its fact could be tested.
    """
    for fact in facts:
        if fact.verdict is not Verdict.NOT_APPLICABLE:
            names = dict.fromkeys([*fact.claimed, *(name for group in fact.needs for name in group)])
            absent = UNKNOWN if is_whole and fact.verdict is Verdict.UNKNOWN else None
            yield from [each for each in names if claims.get(each) in (None, absent)]


def described(claims: Mapping[str, RunClaim]) -> str:
    """Return the claims of a run in words: `thinking.mode: never (yours)`."""
    return "; ".join([f"{name}: {_with_origin(claim)}" for name, claim in claims.items()])


def _with_origin(claim: RunClaim) -> str:
    return f"{_text(claim.value)} ({_WORDS[claim.by]})"


def header_lines(model: str, claims: Mapping[str, RunClaim], *, asks: bool) -> Iterator[str]:
    """Yield what the header of a run says: its claims, and that it will ask whether the model thinks."""
    if claims:
        yield f"claims of this run: {described(claims)}"
    if asks:
        yield (
            f"whether {model} thinks is unknown, so the run first asks it one plain question; "
            f"to set it instead, add {ADVICE}"
        )


def answer_line(model: str, answer: ThinkingAnswer, claims: Mapping[str, RunClaim]) -> str:
    """Return what came of the question whether the model thinks."""
    observed = {name: claim for name, claim in claims.items() if claim.by == QUESTION}
    outcome = f"For this run: {described(observed)}" if observed else f"{MODE} stays unknown; to set it, add {ADVICE}"
    return f"Asked whether {model} thinks: {answer.note}. {outcome}."


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def with_run_claims(
    facts: Sequence[CoreFact], cases: Sequence[Case], claims: Mapping[str, RunClaim], *, is_live: bool
) -> tuple[CoreFact, ...]:
    """Return core facts that name the claims of the run, and in a live run say how to make an unknown need known.

    If the user says that the model never thinks and replies carry reasoning, what that rules out is untested.
    """
    return tuple([_with_run_claims(fact, cases, claims, is_live=is_live) for fact in facts])


def _with_run_claims(
    fact: CoreFact, cases: Sequence[Case], claims: Mapping[str, RunClaim], *, is_live: bool
) -> CoreFact:
    (definition,) = [each for each in DEFINITIONS if each.name == fact.name]
    others = {name: words for name, words in fact.claimed.items() if name not in claims}
    concerned = (*definition.claims, *definition.ruled_out_by)
    own = {name: _with_origin(claim) for name, claim in claims.items() if name in concerned}
    fact = replace(fact, claimed={**others, **own})
    never = claims.get(MODE)
    if MODE in definition.ruled_out_by and never is not None and (never.value, never.by) == ("never", USER):
        fields = dict.fromkeys(each for case in cases for each in case.observed.get("reasoning-fields", ()))
        if fields:
            reason = f"{MODE}: never (yours), but replies carry reasoning in {', '.join(fields)}"
            return replace(fact, verdict=Verdict.UNTESTED, observed=", ".join(fields), reasons=(reason,))
    if fact.verdict is Verdict.NOT_APPLICABLE:
        ((name,),), (reason,) = fact.needs, fact.reasons
        return replace(fact, reasons=(f"{reason} ({_WORDS[claims[name].by]})",)) if name in claims else fact
    if fact.verdict is Verdict.UNKNOWN and is_live:
        pairs = zip(fact.reasons, fact.needs, strict=True)
        return replace(fact, reasons=tuple([f"{reason}; to test it, add {_advice(needs)}" for reason, needs in pairs]))
    return fact


def _advice(needs: Sequence[str]) -> str:
    return " and ".join([ADVICE if name == MODE else f"--claim {name}=VALUE" for name in needs])
