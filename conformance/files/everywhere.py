"""What every known provider does with a request: as it is on its own wire, prepared on the wires of the others.

An author of an agent for many hosts asks one thing: where does this break? A conversation is translated and indexed
once, rules that depend on no claim run once, and only what depends on claims runs for each provider.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from conformance import wires
from conformance.errors import ConformanceError
from conformance.files.by_model import claimed_rules
from conformance.files.lost_replies import LostReply, following, misread, unsendable
from conformance.files.prepared_requests import as_prepared, spoken, to_prepare
from conformance.files.recognition import recognise
from conformance.formats import Input
from conformance.judge import Judgement, judge_by_models
from conformance.observations.sights import kinds
from conformance.profiles import UNKNOWN, Profile, load, model_names, names, naming
from conformance.results import Finding, Level
from conformance.rules import Rule
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.views import Side, requests

_DAMAGED: Final = "damaged"
_DEVIATION: Final = "verdict"
_BETWEEN: Final = "; "


class HostVerdict(StrEnum):
    """What a provider does with the requests of an input, the worst first."""

    REFUSED = "refused"
    LOST = "reply lost"
    UNKNOWN = "unknown"
    ACCEPTED = "accepted"


class HostAnswer(NamedTuple):
    """What one provider does with the requests of an input.

    `wire`: the one that it is judged on; `prepared` if the request was translated to it. `model`: as the provider calls
    it. `serves`: whether it is known to serve it. `rule`, `at`: what decides the verdict, and where. `status`, `words`:
    the provider's answer, or what is found; empty if it accepts the request.
    """

    provider: str
    verdict: HostVerdict
    wire: str
    model: str
    serves: bool
    rule: str = ""
    at: str = ""
    status: int | None = None
    words: str = ""
    prepared: bool = False


class Everywhere(NamedTuple):
    """The answers of all providers to an input, the worst first, and its wire and model.

    `left`: how many requests were not prepared for providers of other wires, because that takes too long.
    """

    given: Input
    protocol: str
    model: str
    answers: tuple[HostAnswer, ...]
    left: int = 0


class _Asked(NamedTuple):
    """A provider on the wire of the input, with its own name of the model."""

    profile: Profile
    model: str
    serves: bool


def everywhere(given: Input, rules: Sequence[Rule], as_of: str = "") -> Everywhere | None:
    """Return what every provider does with the requests of an input; None if it has no request."""
    if given.kind == "messages":
        rules = [rule for rule in rules if not (rule.by_schema and rule.on is requests)]
    asked = [each for each in given.conversation if each.request is not None]
    if not asked:
        return None
    conversation = wires.translate(given.conversation)
    wire, model = conversation[0].protocol, next((each.model for each in asked if each.model), "")
    serving = naming.serving(model, as_of or asked[-1].date) if model else {}
    hosts = [_host(load(name), model, serving) for name in names()]
    ours = [each for each in hosts if wire in each.profile.wires]
    others = [each for each in hosts if wire not in each.profile.wires]
    end = len(conversation) - 1
    last = conversation[end]
    reply = following(last)
    unread = _misread(last, ours, recognise(given).providers, as_of)
    answers = []
    for host, each in zip(ours, _on_wire(conversation, ours, rules, as_of), strict=True):
        lost = [*unread.get(host.profile.name, ()), *_not_sent(reply, host, as_of)]
        answers.append(_worst([each, *_lost(lost, last, host, end)]))
    chosen, left = to_prepare(conversation)
    for host in others:
        found = [_numbered(_prepared(conversation[at], host, rules, as_of), at) for at in chosen]
        answers.append(_worst([*found, *_lost(_not_sent(reply, host, as_of), last, host, end)]))
    order = list(HostVerdict)
    ranked = sorted(answers, key=lambda each: (order.index(each.verdict), not each.serves, each.provider))
    return Everywhere(given, wire, model, tuple(ranked), left)


def _worst(answers: Sequence[HostAnswer]) -> HostAnswer:
    """Return the worst of the answers of one provider, the first of equal ones."""
    return min(answers, key=lambda each: list(HostVerdict).index(each.verdict))


def _numbered(answer: HostAnswer, number: int) -> HostAnswer:
    """Return the answer to a request that was judged alone, with the number of its exchange."""
    return answer._replace(at=f"/{number}{answer.at[2:]}") if answer.at.startswith("/0") else answer


def _misread(
    exchange: Exchange, hosts: Sequence[_Asked], own: Sequence[str], as_of: str
) -> Mapping[str, Sequence[LostReply]]:
    """Return what clients would not read of a recorded reply, by the providers that may have sent it.

    `own`: those that it is recognised as; if it is not, it was one that serves the model. What is as one of them
    sends it is healthy, and how others would have sent it says nothing about it.
    """
    senders = [each for each in hosts if each.profile.name in own] or [each for each in hosts if each.serves] or hosts
    found = {each.profile.name: list(misread(exchange, each.profile, each.model, as_of)) for each in senders}
    return found if all(found.values()) else {}


def _not_sent(reply: Exchange | None, host: _Asked, as_of: str) -> list[LostReply]:
    return [] if reply is None else list(unsendable(reply, host.profile, host.model, as_of))


def _lost(lost: Sequence[LostReply], exchange: Exchange, host: _Asked, number: int) -> Iterator[HostAnswer]:
    """Yield that a provider loses the recorded reply of an exchange."""
    wire = spoken(host.profile, exchange.protocol).wire
    for each in lost:
        answer = HostAnswer(host.profile.name, HostVerdict.LOST, wire, host.model, host.serves, each.rule, each.at)
        is_other = wire != exchange.protocol
        yield _numbered(answer._replace(words=each.words, prepared=is_other), number)


def _host(profile: Profile, model: str, serving: Mapping[str, str]) -> _Asked:
    own = serving.get(profile.name, "")
    # A list of messages names no model; a provider is then asked for its default one.
    return _Asked(profile, own or (model_names.spelled(profile, model) if model else profile.model), bool(own))


def _on_wire(
    conversation: Conversation, hosts: Sequence[_Asked], rules: Sequence[Rule], as_of: str
) -> Iterator[HostAnswer]:
    """Yield the answers of providers that speak the wire of a conversation."""
    chosen = claimed_rules(tuple(rules))
    served = [(each.profile, each.model) for each in hosts]
    judgements = list(judge_by_models(conversation, served, chosen, as_of))
    contested = {outcome.rule for each in judgements for outcome in each.found() if any(map(_stops, outcome.findings))}
    # What no claim is about is the same everywhere; nobody is known to accept what breaks the wire itself.
    plain = tuple([rule for rule in rules if rule.on.side == Side.CLIENT and not rule.reads])
    (canonical,) = judge_by_models(conversation, [(Profile(""), "")], plain, as_of)
    for host, judgement in zip(hosts, judgements, strict=True):
        yield _answer(host, (judgement, canonical), contested, chosen, conversation[-1])


def _answer(
    host: _Asked, judgements: Sequence[Judgement], contested: set[str], rules: Sequence[Rule], exchange: Exchange
) -> HostAnswer:
    """Return what a provider does, by the worst of what is found."""
    wire = exchange.protocol
    found = [
        (outcome.rule, finding)
        for judgement in judgements
        for outcome in judgement.found()
        for finding in outcome.findings
        if finding.side == Side.CLIENT
    ]
    for verdict, shows in _VERDICTS.items():
        for rule, finding in found:
            if shows(finding):
                return _shown(host, verdict, wire, rule, finding)
    unknown = _unclaimed(host, contested, rules, exchange)
    if unknown:
        words = f"no source says what it does: {unknown}"
        return HostAnswer(
            host.profile.name, HostVerdict.UNKNOWN, wire, host.model, host.serves, rule=unknown, words=words
        )
    return HostAnswer(host.profile.name, HostVerdict.ACCEPTED, wire, host.model, host.serves)


def _shown(host: _Asked, verdict: HostVerdict, wire: str, rule: str, finding: Finding) -> HostAnswer:
    refusal = finding.refusal
    status, message = (None, None) if refusal is None else (refusal.status, refusal.message)
    about = rule, finding.at, status, message or finding.message
    return HostAnswer(host.profile.name, verdict, wire, host.model, host.serves, *about)


def _unclaimed(host: _Asked, contested: set[str], rules: Sequence[Rule], exchange: Exchange) -> str:
    """Return the first rule by which another provider rejects the request, and of which no source is found here.

    Only claims about a deviation count: a limit or a pattern that was looked for and not found limits nothing.
    """
    claims = host.profile.on(exchange.protocol).at(host.model, exchange.date)
    for rule in rules:
        names = [name for name in (rule.claim or "", *rule.needs) if kinds().get(name) == _DEVIATION]
        if rule.id in contested and UNKNOWN in [claims.get(name) for name in names]:
            return rule.id
    return ""


def _prepared(exchange: Exchange, host: _Asked, rules: Sequence[Rule], as_of: str) -> HostAnswer:
    """Return the answer of a provider of other wires, to the request as `prepare` makes it for the first of them."""
    profile = spoken(host.profile, exchange.protocol)
    try:
        sent, notes = as_prepared(exchange, profile, host.model, as_of)
    except ConformanceError as error:
        unknown = HostAnswer(
            host.profile.name, HostVerdict.UNKNOWN, profile.wire, host.model, host.serves, words=str(error)
        )
        return unknown._replace(prepared=True)
    answer = next(_on_wire((sent,), [host], rules, as_of))
    if notes and answer.verdict is not HostVerdict.REFUSED:
        return answer._replace(verdict=HostVerdict.LOST, prepared=True, words=_BETWEEN.join(notes))
    return answer._replace(prepared=True)


def _stops(finding: Finding) -> bool:
    return finding.level is Level.MUST and finding.refusal is not None


def _loses(finding: Finding) -> bool:
    return finding.level is Level.MUST and finding.handling == _DAMAGED


def _is_open(finding: Finding) -> bool:
    """Return whether nothing says what a provider does about a fault that breaks the wire itself."""
    return finding.handling == UNKNOWN or (finding.level is Level.MUST and finding.refusal is None)


_VERDICTS: Final = {HostVerdict.REFUSED: _stops, HostVerdict.LOST: _loses, HostVerdict.UNKNOWN: _is_open}
