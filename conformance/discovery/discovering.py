"""Discovery of one model: plays, derives claims, and plays again with them until nothing changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from conformance import rules
from conformance.core_facts import DEFINITIONS
from conformance.discovery import foreign, further
from conformance.discovery.counting import counted, repeated_id, with_confidence
from conformance.discovery.exploring import Explored, ProbeAnswer, all_cases, explore
from conformance.discovery.interview import Interview
from conformance.discovery.reaching import QUESTION, names_model
from conformance.discovery.shipped import shown
from conformance.discovery.verdicts import refusal, verdicts
from conformance.discovery.wires import bodies, has_counterpart, max_tokens, profile_of
from conformance.errors import Unusable
from conformance.evidence.reads import deviations
from conformance.judge import check
from conformance.observations.collected import (
    HIGH,
    LOW,
    MEDIUM,
    ObservedClaim,
    ObservedClaims,
    collect,
    combined,
    id_formats,
    values,
)
from conformance.observations.refusals import is_one_error, without_words
from conformance.observations.sights import digest
from conformance.profiles import UNKNOWN, Claims, Profile
from conformance.results import Evidence, Level, Status
from conformance.results.runs import Case
from conformance.suite.failures import summary_of_probe, summary_of_rule
from conformance.suite.play import play
from conformance.suite.probes import ACCEPTED, error_text
from conformance.suite.turns import Subject
from conformance.transport.client import UnusableReply
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wire.reasoning import FIELDS, has_field

_PASSES: Final = 4
_LENGTH_PROBE: Final = "ids-long"
_BY_PLAYED: Final = ("ids.", "reasoning.", "stream.after-finish", "stream.usage-elsewhere")
"""Beginnings of the names of claims that only undisturbed scenarios show."""

_MARKED: Final = "replies begin with a byte order mark, which JSON must not (RFC 8259, 8.1); it was read without it"

_FIELD: Final = "reasoning.response-field"
_READ: Final = "reasoning.request-field"
_OMITTED: Final = "reasoning.omitted-on-tool-turn"


@dataclass(slots=True)
class Discovery:
    """What is known of one model of an endpoint.

    `open`: why claims that were asked for stay unknown. `broken`: what the endpoint does wrong whatever its profile
    claims, by case. `skipped`: cases that were not played to their end, and why.
    """

    model: str
    claims: ObservedClaims = field(default_factory=dict)
    open: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    wire: str = CHAT

    def profile(self) -> Profile:
        """Return a profile with what was found; what stays open is unknown."""
        return profile_of({**dict.fromkeys(self.open, UNKNOWN), **values(self.claims)}, self.wire)


def discover(interview: Interview, model: str) -> Discovery:
    """Ask an endpoint everything about a model, on its wire; raises Unusable if it gives no replies."""
    length = contact(interview, model)
    first = interview.exchanges[-1]
    found = Discovery(model, wire=interview.wire)
    thinking = further.thinking(interview, model, length)
    shown_field = _shown_field(thinking)
    other = foreign.tried(interview, model, length, thinking.conversations) if not shown_field else foreign.NOTHING
    thinking = further.with_field(thinking, other)
    thinks = "thinking.mode" in thinking.claims and thinking.claims["thinking.mode"].value != "never"
    single = further.single_requests(interview, model, length, thinks=thinks)
    given = {**thinking.claims, **single.claims}
    if interview.wire == CHAT:  # The only wire that has several names for this parameter.
        given["request.max-tokens-fields"] = ObservedClaim([length], digest(first), MEDIUM)
    alone = further.streams_alone(interview)
    given |= alone.claims
    if first.streamed and not interview.streams:
        given["stream.default"] = ObservedClaim(value=True, digest=digest(first))
    known: ObservedClaims = {**shown_field, **given}
    for _ in range(_PASSES):
        explored = explore(interview, profile_of(values(known), interview.wire), model)
        given = {**_adapted(explored), **given}
        questions = (*thinking.conversations, *single.conversations, *alone.conversations)
        conversations = (*explored.conversations, *questions)
        now, still_open = _derived(interview, explored, conversations, known, given)
        # Without tools, no scenario shows again that they are refused.
        if "tools.unsupported" in now:
            given |= {name: now[name] for name in ("tools.supported", "tools.unsupported")}
        asked = {**thinking.open, **single.open}
        if _FIELD in asked:
            now.pop(_FIELD, None)
        # What the questions say is more than that nothing was seen.
        found.claims = now
        found.open = {**asked, **{name: why for name, why in still_open.items() if why != _UNSEEN or name not in asked}}
        found.skipped = dict(explored.ended)
        if values(now) == values(known):
            break
        known = now
    _verify(interview, found)
    if interview.marked:
        found.broken.append(_MARKED)
    return found


def _shown_field(thinking: further.Further) -> ObservedClaims:
    """Return the field of the first reply with reasoning, so that it is sent back in the same one."""
    seen = collect(thinking.conversations, {})
    return {name: each for name, each in combined(seen).items() if name == _FIELD}


def contact(interview: Interview, model: str) -> str:
    """Send the first request and return the parameter that limits a reply; raises Unusable without a completion."""
    rejected = ""
    # Every other wire has one name for it, so another try would send the same request again.
    for length in further.LENGTHS if interview.wire == CHAT else further.LENGTHS[:1]:
        body = {"model": model, "messages": [{"role": "user", "content": QUESTION}]}
        try:
            exchange = interview.send({**body, length: max_tokens(interview.wire)})
        except UnusableReply as error:
            raise Unusable(_unanswered(error, model)) from None
        if exchange.status == 200:
            if Index((exchange,)).replies:
                return length
            answered = bodies(exchange)[1]
            raise Unusable(f"the endpoint's answer is not a reply of the wire {interview.wire}: {answered!r:.200}")
        rejected = f"HTTP {exchange.status}: {bodies(exchange)[1]!r:.300}"
    interview.streams = True
    if _answers_streams(interview, model):
        return further.LENGTHS[0]
    raise Unusable(f"the endpoint rejects a plain question to {model}: {rejected}")


def _answers_streams(interview: Interview, model: str) -> bool:
    """Return whether the first question is answered as a stream."""
    body = {"model": model, "messages": [{"role": "user", "content": QUESTION}]}
    try:
        exchange = interview.send({**body, further.LENGTHS[0]: max_tokens(interview.wire)})
    except UnusableReply:
        return False
    return exchange.status == 200 and bool(Index((exchange,)).replies)


def _unanswered(error: UnusableReply, model: str) -> str:
    """Return why the first request got no answer, in words: the key, the model, or what the client says."""
    if error.exchange is None:
        return str(error)
    status, text = error.exchange.status, error_text(bodies(error.exchange)[1])
    if status in (401, 403):
        return f"the endpoint refuses the key (HTTP {status}); --key-env names the variable that holds it"
    if status == 404 and names_model(text, error.exchange.url, model):
        return f"the endpoint serves no model {model} (HTTP 404: {text:.200}); name another one with --model"
    return str(error)


def _derived(
    interview: Interview,
    explored: Explored,
    conversations: tuple[Any, ...],
    known: ObservedClaims,
    given: ObservedClaims,
) -> tuple[ObservedClaims, dict[str, str]]:
    """Return the claims that everything so far shows, and why others stay open."""
    accepted = [each for each in conversations if each[-1].status == 200]
    rejected = [each for each in conversations if each[-1].status != 200]
    now = values(known)
    main = [each for each in explored.played if each[-1].status == 200]
    seen = collect(accepted, now)
    claims = {name: each for name, each in combined(seen).items() if not name.startswith(_BY_PLAYED)}
    claims |= {name: each for name, each in combined(collect(main, now)).items() if name.startswith(_BY_PLAYED)}
    claims |= combined(collect(rejected, now))
    claims = with_confidence(claims | id_formats(seen), [seen, collect(main, now), collect(rejected, now)])
    repeated = repeated_id(seen, claims) if "ids.numbering" in claims else ""
    if repeated and claims["ids.numbering"].value == "random":
        del claims["ids.numbering"]
    claims = shown(claims, interview.wire)
    found, still_open = verdicts(explored.answers, now)
    claims |= {name: each for name, each in found.items() if has_counterpart(name, interview.wire)}
    still_open = {name: why for name, why in still_open.items() if has_counterpart(name, interview.wire)}
    claims |= _ids(interview, explored)
    claims |= _tools(explored, claims)
    claims |= _sent_field(explored.played)
    claims |= given
    claims |= _read_field(claims)
    still_open |= _for_other_reasons(claims)
    if repeated:
        still_open["ids.numbering"] = f"the id {repeated:.60} came more than once, so ids are not random"
    if claims.get(_FIELD) is None and _reasons_unseen(claims):
        claims[_FIELD] = ObservedClaim("none", claims["thinking.mode"].digest, MEDIUM)
    for name, why in (("tools.supported", "the model called no tool"), ("tools.parallel", _ALONE)):
        if name not in claims:
            still_open[name] = why
    # A profile without these would say "as the canonical wire", and its runs would end with missing claims.
    still_open = {**dict.fromkeys(_of_core_facts(values(claims)), _UNSEEN), **still_open}
    still_open = {name: why for name, why in still_open.items() if name not in claims}
    return claims, still_open


_UNSEEN: Final = "no answer shows it"

_ALONE: Final = "the model made no two calls at once, which does not show that it cannot"


def _of_core_facts(claims: Claims) -> Iterator[str]:
    """Yield the claims of the core facts that other claims do not rule out."""
    for fact in DEFINITIONS:
        if not any(claims.get(name) == value for name, value in fact.ruled_out_by.items()):
            yield from fact.claims


def _reasons_unseen(claims: ObservedClaims) -> bool:
    """Return True if the model thinks, and no reply shows the text of its reasoning."""
    return "thinking.mode" in claims and claims["thinking.mode"].value != "never"


def _ids(interview: Interview, explored: Explored) -> ObservedClaims:
    """Return the claims about ids in requests that several probes show only together."""
    by_form = {each.probe.name: each for each in explored.answers if each.probe.name.startswith("ids-")}
    long, nine = by_form.get(_LENGTH_PROBE), by_form.get("ids-nine")
    counted = by_form.get("ids-counted")
    if long is None or nine is None or counted is None or not _rejects(long):
        return {}
    if not _rejects(counted) and not _rejects(nine):
        replies = Index(long.before).replies
        own = [len(call.id) for reply in replies for call in reply.calls if isinstance(call.id, str)]
        longest = further.longest_id(interview, long.exchange, max([9, *own]))
        return {} if longest is None else {"ids.input-max-length": longest}
    if _rejects(counted) and not _rejects(nine):
        value = {"pattern": "[a-zA-Z0-9]{9}", "refusal": refusal([counted.exchange, long.exchange])}
        return {"ids.input-pattern": ObservedClaim(value, digest(counted.exchange), MEDIUM)}
    return {}


def _rejects(answer: ProbeAnswer) -> bool:
    return answer.exchange.status != 200


def _tools(explored: Explored, claims: ObservedClaims) -> ObservedClaims:
    """Return that tools are not supported, if the first request with some was rejected."""
    if "tools.supported" in claims:
        return {}
    asked: list[Exchange] = [each[0] for each in explored.conversations if len(each) == 1]
    rejected = [each for each in asked if (each.request or {}).get("tools") and 400 <= (each.status or 0) < 500]
    if not rejected:
        return {}
    name, times = digest(rejected[0]), len(rejected)
    return {
        "tools.supported": counted(ObservedClaim(value=False, digest=name), times),
        "tools.unsupported": counted(ObservedClaim(refusal(rejected[:1]), name), times),
    }


def _adapted(explored: Explored) -> ObservedClaims:
    """Return the claims that made an endpoint accept a history that it had rejected."""
    first = digest(explored.conversations[0][-1]) if explored.conversations else ""
    note = "the history was rejected in any other form that was tried"
    return {name: ObservedClaim(value, first, LOW, note) for name, value in explored.adapted.items()}


def _sent_field(conversations: tuple[Any, ...]) -> ObservedClaims:
    """Return the field in which the suite sent reasoning back, which the endpoint accepted; the read one is unknown."""
    for conversation in reversed(conversations):
        exchange: Exchange = conversation[-1]
        turns = [each for each in (exchange.request or {}).get("messages", ()) if each.get("role") == "assistant"]
        fields = list(dict.fromkeys(field for each in turns for field in FIELDS if has_field(each, field)))
        if exchange.status == 200 and fields:
            note = "reasoning was accepted there; whether it is read was not shown"
            return {_READ: ObservedClaim(fields[0] if len(fields) == 1 else fields, digest(exchange), LOW, note)}
    return {}


def _read_field(claims: ObservedClaims) -> ObservedClaims:
    """Return the field from which reasoning is read, if its omission is rejected and its presence is not.

    Reasoning in another field is ignored, if it is rejected in the same words as an omission.
    """
    omitted = claims.get(_OMITTED)
    response = claims.get(_FIELD)
    if omitted is None or response is None or not isinstance(omitted.value, Mapping):
        return {}
    found: ObservedClaims = {}
    sent = claims.get(_READ, response).value
    read = sent if isinstance(sent, list) else [sent]
    for name, each in claims.items():
        field = name.removeprefix("reasoning.input.")
        if field != name and is_one_error(each.value, omitted.value):
            found[name] = ObservedClaim("ignored", each.digest, MEDIUM, "rejected as if the reasoning were omitted")
        elif field in ("reasoning", "reasoning_content") and each.value == "accepted" and field not in read:
            read = [*read, field]
    if not any(found.get(f"reasoning.input.{field}") for field in read):
        found[_READ] = ObservedClaim(read[0] if len(read) == 1 else read, omitted.digest, HIGH)
    return found


def _for_other_reasons(claims: ObservedClaims) -> dict[str, str]:
    """Remove claims about tool choices that were rejected only because the model thinks; return why they stay open."""
    thinking = [each.value for name, each in claims.items() if name.startswith("thinking.with-")]
    hidden = [
        name
        for name, each in claims.items()
        if name.startswith("tools.choice-") and any(is_one_error(each.value, other) for other in thinking)
    ]
    for name in hidden:
        del claims[name]
    return dict.fromkeys(hidden, "rejected in the same words as any tool choice while the model thinks")


def _verify(interview: Interview, found: Discovery) -> None:
    """Play the suite with the profile; what it predicts wrongly becomes unknown, and what is wrong anyway is noted."""
    for _ in range(2 * _PASSES):
        subject = Subject(found.profile(), found.model, interview.send, Evidence.LIVE)
        cases = [play(scenario, variant, subject) for scenario, variant in interview.played(all_cases())]
        answers = {
            (each.case, each.probe.name): each for each in explore(interview, subject.profile, found.model).answers
        }
        doubtful = {name: why for case in cases for name, why in _doubtful(case, found, answers)}
        if not doubtful:
            break
        for name, why in doubtful.items():
            one = found.claims.pop(name)
            if (wordless := without_words(one.value)) != one.value:
                found.claims[name] = one._replace(value=wordless)
            else:
                found.open[name] = why
    found.broken = list(dict.fromkeys(line for case in cases for line in breaches(case)))
    found.skipped |= {case.name: case.note for case in cases if case.note and case.outcomes}


def breaches(case: Case) -> Iterator[str]:
    """Yield what an endpoint does wrong in a case, in one line each; what was not tested is no breach.

    In a case that ended early, only its replies are judged: its probes would repeat why it ended.
    """
    wrong = [each for each in case.outcomes if each.status is Status.FAILED and each.level is Level.MUST]
    yield from (f"{case.name}: {summary_of_rule(each)}" for each in wrong)
    for each in case.probes if not case.note else ():
        if each.status is Status.FAILED:
            yield f"{case.name}: {summary_of_probe(each)}"


def _predicting(answer: ProbeAnswer, found: Discovery) -> list[str]:
    """Return the claims by which the request of a probe would be rejected."""
    profile = found.profile()
    sent = Exchange.of_plain(request=answer.exchange.request, model=found.model)
    conversation = (*answer.before, sent)
    claims = deviations(conversation, profile)
    here = f"/{len(answer.before)}/"
    rejected: list[str] = []
    for outcome in check(conversation, profile):
        for finding in outcome.findings:
            if finding.refusal is not None and finding.at.startswith(here):
                name = claims.get((outcome.rule, finding.at, finding.message), "")
                rejected += [name] if name in found.claims else rules.by_id()[outcome.rule].claims
    return [name for name in dict.fromkeys(rejected) if name in found.claims]


def _doubtful(
    case: Case, found: Discovery, answers: Mapping[tuple[str, str], ProbeAnswer]
) -> Iterator[tuple[str, str]]:
    """Yield the claims that predicted an answer that did not come, or a reply that is otherwise, and why."""
    known = {
        probe.name: probe for scenario, _ in all_cases() if scenario.name == case.scenario for probe in scenario.probes
    }
    for result in case.probes:
        probe = known.get(result.name)
        answer = answers.get((case.name, result.name))
        if probe is None or probe.breaks is None or result.status is not Status.FAILED or answer is None:
            continue
        (rule,) = rules.select([probe.breaks])
        why = f"{case.name}: {result.name}: expected {result.expected}, got {result.observed}"[:300]
        own = [name for name in (*probe.claims, *rule.claims) if name in found.claims]
        culprits = _predicting(answer, found) if result.expected != ACCEPTED else []
        yield from ((name, why) for name in culprits or own)
    for outcome in case.outcomes:
        if outcome.status is Status.FAILED and outcome.level is Level.MUST:
            why = f"{case.name}: {outcome.rule}: {outcome.findings[0].message}"[:300]
            reads = rules.by_id()[outcome.rule].reads
            yield from ((name, why) for name in reads if name in found.claims and found.claims[name].confidence != HIGH)
