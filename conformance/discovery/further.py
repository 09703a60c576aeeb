"""Requests beyond the scenarios, each for claims that no scenario shows."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from conformance.discovery import foreign
from conformance.discovery.counting import counted
from conformance.discovery.interview import Interview
from conformance.discovery.shipped import known_switches
from conformance.discovery.verdicts import is_error_in_200, refusal
from conformance.discovery.wires import max_tokens
from conformance.observations.collected import LOW, MEDIUM, ObservedClaim, ObservedClaims
from conformance.observations.counts import reasoning_tokens
from conformance.observations.refusals import is_one_error
from conformance.observations.replies import is_reasoned
from conformance.observations.sights import digest
from conformance.scenarios import load, tool_definitions
from conformance.suite.run_claims import question
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index

Body = dict[str, Any]

LENGTHS: Final = ("max_tokens", "max_completion_tokens")
"""The parameters that limit a reply, the more common one first."""

_NO_SUCH_MODEL: Final = "no-such-model"
_CHOICES: Final[Mapping[str, Any]] = {
    "none": "none",
    "required": "required",
    "named": {"type": "function", "function": {"name": "get_weather"}},
}


class Further(NamedTuple):
    """What further requests show: claims, the exchanges, and why claims stay open, by claim."""

    claims: ObservedClaims
    conversations: tuple[Conversation, ...]
    open: Mapping[str, str]


def reasons(exchange: Exchange) -> bool:
    """Return True if a reply shows or counts reasoning."""
    index = Index((exchange,))
    if foreign.looks_like_reasoning(exchange):
        return True
    return any(is_reasoned(reply.message) for reply in index.replies) or reasoning_tokens(index) > 0


def thinking(interview: Interview, model: str, length: str) -> Further:
    """Ask whether the model thinks by default, and which known switch turns it on or off."""
    base = _body(interview, model, question().turns[0].user or "", length)
    first = interview.any_answer(base)
    if first is None or not Index((first,)).replies:
        return Further({}, (), {"thinking.mode": "the plain question got no usable reply"})
    by_default, name, tried = reasons(first), digest(first), 0
    switch, wanted = ("thinking.off", False) if by_default else ("thinking.on", True)
    seen: list[Conversation] = [(first,)]
    for members in known_switches(switch, interview.wire):
        tried += 1
        exchange = interview.any_answer({**base, **members})
        if exchange is None or exchange.status != 200 or not Index((exchange,)).replies:
            continue
        if reasons(exchange) is wanted:
            seen.append((exchange,))
            return Further(_switched(switch, members, name, digest(exchange)), tuple(seen), {})
    if by_default:
        note = f"none of {tried} known switches turned it off"
        claims = {
            "thinking.mode": ObservedClaim("default-on", name, MEDIUM, note),
            "thinking.on": ObservedClaim({}, name),
        }
        return Further(claims, tuple(seen), {"thinking.off": note})
    note = f"no reply carried or counted reasoning, and none of {tried} known switches changed that"
    field = {"reasoning.response-field": ObservedClaim("none", name, MEDIUM, note)}
    return Further(field, tuple(seen), {"thinking.mode": f"{note}; it may be hidden"})


def with_field(found: Further, tried: foreign.Tried) -> Further:
    """Return what is known of thinking with an unknown text field that was tried as reasoning."""
    if not tried.note:
        return found
    claims = {name: each for name, each in found.claims.items() if name != "reasoning.response-field"}
    seen = (*found.conversations, *tried.conversations)
    if not tried.key:
        other = "reasoning.request-field" if tried.thinks else "thinking.mode"
        open_ = {name: tried.note for name in ("reasoning.response-field", other) if name not in claims}
        if tried.thinks:
            shown = digest(tried.conversations[0][0])
            claims = {**_thinks(shown, tried.note), **claims}
        return Further(claims, seen, {**{name: why for name, why in found.open.items() if name not in claims}, **open_})
    shown = tried.claims["reasoning.response-field"].digest
    open_ = {name: why for name, why in found.open.items() if name != "thinking.mode"}
    return Further({**_thinks(shown, tried.note), **claims, **tried.claims}, seen, open_)


def _thinks(shown: str, note: str) -> ObservedClaims:
    """Return that the model thinks without being asked to."""
    mode = ObservedClaim("default-on", shown, LOW, note)
    return {"thinking.mode": mode, "thinking.on": ObservedClaim({}, shown, LOW)}


def _switched(switch: str, members: Body, first: str, name: str) -> ObservedClaims:
    wanted = switch == "thinking.on"
    other = {} if wanted else {"thinking.on": ObservedClaim({}, first)}
    leaves = list(_leaves(members, ""))
    # A budget beside a switch does not switch thinking by itself.
    words = [(at, value) for at, value in leaves if isinstance(value, (bool, str))]
    switches = [{"at": at, "equals": value, "thinks": wanted} for at, value in words or leaves]
    return {
        "thinking.mode": ObservedClaim("default-off" if wanted else "default-on", first),
        switch: ObservedClaim(members, name),
        "thinking.switches": ObservedClaim(switches, name, MEDIUM),
        **other,
    }


def _leaves(held: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in held.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}/{key}")
        else:
            yield f"{prefix}/{key}", value


def single_requests(interview: Interview, model: str, length: str, *, thinks: bool) -> Further:
    """Send each of the single requests: without usage asked for, cut off, with a tool choice, to no model."""
    claims: ObservedClaims = {}
    seen: list[Conversation] = []
    hello = _body(interview, model, load("plain-answer").turns[0].user or "", length)
    for body in ({**hello, "stream": True}, {**hello, length: 1}):
        exchange = interview.any_answer(body)
        seen += [(exchange,)] if exchange is not None and exchange.status == 200 else []
    unknown = interview.any_answer({**hello, "model": _NO_SUCH_MODEL})
    if unknown is not None and (unknown.status or 0) >= 400:
        claims["http.unknown-model-status"] = counted(ObservedClaim(unknown.status, digest(unknown)), 1)
        value = refusal([unknown])
        value |= {"message": value["message"].replace(_NO_SUCH_MODEL, "{model}")} if "message" in value else {}
        claims["request.unknown-model"] = counted(ObservedClaim(value, digest(unknown)), 1)
    elif unknown is not None and not is_error_in_200(unknown):
        claims["request.unknown-model"] = counted(ObservedClaim("ignored", digest(unknown)), 1)
    chosen = _choices(interview, model, length, thinks=thinks)
    return Further(claims | chosen.claims, (*seen, *chosen.conversations), chosen.open)


def _choices(interview: Interview, model: str, length: str, *, thinks: bool) -> Further:
    """Send a request with each tool choice."""
    scenario = load("one-tool-call")
    base = _body(interview, model, scenario.turns[0].user or "", length)
    base["tools"] = [tool_definitions()[name] for name in scenario.tools]
    sent = {name: interview.any_answer({**base, "tool_choice": choice}) for name, choice in _CHOICES.items()}
    answers = {name: each for name, each in sent.items() if each is not None}
    answers = {name: each for name, each in answers.items() if not is_error_in_200(each)}
    accepted = [name for name, each in answers.items() if each.status == 200]
    seen = tuple([(answers[name],) for name in accepted])
    rejected = {name: each for name, each in answers.items() if name not in accepted}
    if rejected and thinks:
        found = {
            f"thinking.with-{name}-tool-choice": ObservedClaim(refusal([each]), digest(each), MEDIUM)
            for name, each in rejected.items()
            if name != "none"
        }
        if len(found) > 1 and is_one_error(*[each.value for each in found.values()]):
            found = {"thinking.with-tool-choice": next(iter(found.values()))}
        return Further(found, seen, {"tools.choices": "some are rejected, perhaps only because the model thinks"})
    claims = {}
    if len(answers) == len(_CHOICES):
        first = digest(next(iter(answers.values())))
        claims["tools.choices"] = ObservedClaim(["auto", *accepted], first, MEDIUM)
        if rejected:
            each = next(iter(rejected.values()))
            claims["tools.choice-unsupported"] = ObservedClaim(refusal([each]), digest(each), MEDIUM)
    return Further(claims, seen, {})


def streams_alone(interview: Interview) -> Further:
    """Return that a request that asks for no stream is refused, by the first question; nothing where streams are."""
    if not interview.streams:
        return Further({}, (), {})
    refused = next(each for each in interview.exchanges if (each.status or 0) >= 400)
    conflict = {"when": [{"at": "/stream", "not-in": [True]}], "verdict": refusal([refused])}
    claim = ObservedClaim([conflict], digest(refused), MEDIUM, "the endpoint answers in streams alone")
    # On Gemini, the path asks for a stream, and no claim is about paths.
    claims = {} if interview.wire == "gemini" else {"request.conflicts": claim}
    return Further(claims, ((refused,),), {})


def longest_id(interview: Interview, refused: Exchange, own: int) -> ObservedClaim | None:
    """Return the greatest length of an id in a request, between that of the provider's own ids and a rejected one."""
    body = refused.request or {}
    sent = [call["id"] for message in body["messages"] for call in message.get("tool_calls") or ()]
    low, high, shown = own, max(map(len, sent)), refused
    while high - low > 1:
        middle = (low + high) // 2
        exchange = interview.any_answer(_with_ids(body, "x" * middle))
        if exchange is None:
            return None
        if exchange.status == 200:
            low = middle
        else:
            high, shown = middle, exchange
    return ObservedClaim({"limit": low, "refusal": refusal([refused, shown])}, digest(shown))


def _with_ids(body: Mapping[str, Any], identifier: str) -> Body:
    changed: Body = orjson.loads(orjson.dumps(body))
    for message in changed["messages"]:
        if "tool_call_id" in message:
            message["tool_call_id"] = identifier
        for call in message.get("tool_calls") or ():
            call["id"] = identifier
    return changed


def _body(interview: Interview, model: str, text: str, length: str) -> Body:
    return {"model": model, "messages": [{"role": "user", "content": text}], length: max_tokens(interview.wire)}
