"""Requests beyond the scenarios, each for claims that no scenario shows."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import orjson

from conformance.discovery.found import MEDIUM, Claims, Found
from conformance.discovery.session import Session
from conformance.discovery.verdicts import refusal, same_refusal
from conformance.discovery.wires import max_tokens, sections
from conformance.evidence.reading import digest
from conformance.scenarios import load, tool_definitions
from conformance.suite.observations import reasoning_fields
from conformance.suite.run_claims import question, reasoning_tokens
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT

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

    claims: Claims
    conversations: tuple[Conversation, ...]
    open: Mapping[str, str]


def reasons(exchange: Exchange) -> bool:
    """Return True if a reply shows or counts reasoning."""
    shown = any(reasoning_fields(reply) for reply in Index((exchange,)).replies)
    return shown or reasoning_tokens(exchange.response) > 0


def thinking(session: Session, model: str, length: str) -> Further:
    """Ask whether the model thinks by default, and which known switch turns it on or off."""
    base = _body(session, model, question().turns[0].user or "", length)
    first = session.any_answer(base)
    if first is None or not Index((first,)).replies:
        return Further({}, (), {"thinking.mode": "the plain question got no usable reply"})
    by_default, name, tried = reasons(first), digest(first), 0
    switch, wanted = ("thinking.off", False) if by_default else ("thinking.on", True)
    seen: list[Conversation] = [(first,)]
    for members in known_switches(switch, session.wire):
        tried += 1
        exchange = session.any_answer({**base, **members})
        if exchange is None or exchange.status != 200 or not Index((exchange,)).replies:
            continue
        if reasons(exchange) is wanted:
            seen.append((exchange,))
            return Further(_switched(switch, members, name, digest(exchange)), tuple(seen), {})
    if by_default:
        note = f"none of {tried} known switches turned it off"
        claims = {"thinking.mode": Found("default-on", name, MEDIUM, note), "thinking.on": Found({}, name)}
        return Further(claims, tuple(seen), {"thinking.off": note})
    note = f"no reply carried or counted reasoning, and none of {tried} known switches changed that"
    field = {"reasoning.response-field": Found("none", name, MEDIUM, note)}
    return Further(field, tuple(seen), {"thinking.mode": f"{note}; it may be hidden"})


def _switched(switch: str, members: Body, first: str, name: str) -> Claims:
    wanted = switch == "thinking.on"
    other = {} if wanted else {"thinking.on": Found({}, first)}
    leaves = list(_leaves(members, ""))
    # A budget beside a switch is none itself.
    words = [(at, value) for at, value in leaves if isinstance(value, (bool, str))]
    switches = [{"at": at, "equals": value, "thinks": wanted} for at, value in words or leaves]
    return {
        "thinking.mode": Found("default-off" if wanted else "default-on", first),
        switch: Found(members, name),
        "thinking.switches": Found(switches, name, MEDIUM),
        **other,
    }


def _leaves(held: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in held.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}/{key}")
        else:
            yield f"{prefix}/{key}", value


@cache
def known_switches(name: str, wire: str = CHAT) -> tuple[Body, ...]:
    """Return the values of a claim in what all shipped profiles say of a wire, the most common one first."""
    found: Counter[bytes] = Counter()
    for profile in sections(wire):
        for claims in (profile.claims, *(model.claims for model in profile.models)):
            values = [each.value for each in claims.get(name, ()) if isinstance(each.value, dict) and each.value]
            found.update({orjson.dumps(value, option=orjson.OPT_SORT_KEYS) for value in values})
    return tuple([orjson.loads(text) for text, _ in sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))])


def single_requests(session: Session, model: str, length: str, *, thinks: bool) -> Further:
    """Send each of the single requests: without usage asked for, cut off, with a tool choice, to no model."""
    claims: Claims = {}
    seen: list[Conversation] = []
    hello = _body(session, model, load("plain-answer").turns[0].user or "", length)
    for body in ({**hello, "stream": True}, {**hello, length: 1}):
        exchange = session.any_answer(body)
        seen += [(exchange,)] if exchange is not None and exchange.status == 200 else []
    unknown = session.any_answer({**hello, "model": _NO_SUCH_MODEL})
    if unknown is not None and (unknown.status or 0) >= 400:
        claims["http.unknown-model-status"] = Found(unknown.status, digest(unknown))
        value = refusal([unknown])
        value |= {"message": value["message"].replace(_NO_SUCH_MODEL, "{model}")} if "message" in value else {}
        claims["request.unknown-model"] = Found(value, digest(unknown))
    elif unknown is not None:
        claims["request.unknown-model"] = Found("ignored", digest(unknown))
    chosen = _choices(session, model, length, thinks=thinks)
    return Further(claims | chosen.claims, (*seen, *chosen.conversations), chosen.open)


def _choices(session: Session, model: str, length: str, *, thinks: bool) -> Further:
    """Send a request with each tool choice."""
    scenario = load("one-tool-call")
    base = _body(session, model, scenario.turns[0].user or "", length)
    base["tools"] = [tool_definitions()[name] for name in scenario.tools]
    sent = {name: session.any_answer({**base, "tool_choice": choice}) for name, choice in _CHOICES.items()}
    answers = {name: each for name, each in sent.items() if each is not None}
    accepted = [name for name, each in answers.items() if each.status == 200]
    seen = tuple([(answers[name],) for name in accepted])
    rejected = {name: each for name, each in answers.items() if name not in accepted}
    if rejected and thinks:
        found = {
            f"thinking.with-{name}-tool-choice": Found(refusal([each]), digest(each), MEDIUM)
            for name, each in rejected.items()
            if name != "none"
        }
        if len(found) > 1 and same_refusal(*[each.value for each in found.values()]):
            found = {"thinking.with-tool-choice": next(iter(found.values()))}
        return Further(found, seen, {"tools.choices": "some are rejected, perhaps only because the model thinks"})
    claims = {}
    if len(answers) == len(_CHOICES):
        first = digest(next(iter(answers.values())))
        claims["tools.choices"] = Found(["auto", *accepted], first, MEDIUM)
        if rejected:
            each = next(iter(rejected.values()))
            claims["tools.choice-unsupported"] = Found(refusal([each]), digest(each), MEDIUM)
    return Further(claims, seen, {})


def longest_id(session: Session, refused: Exchange, own: int) -> Found | None:
    """Return the greatest length of an id in a request, between that of the provider's own ids and a rejected one."""
    body = refused.request or {}
    sent = [call["id"] for message in body["messages"] for call in message.get("tool_calls") or ()]
    low, high, shown = own, max(map(len, sent)), refused
    while high - low > 1:
        middle = (low + high) // 2
        exchange = session.any_answer(_with_ids(body, "x" * middle))
        if exchange is None:
            return None
        if exchange.status == 200:
            low = middle
        else:
            high, shown = middle, exchange
    return Found({"limit": low, "refusal": refusal([refused, shown])}, digest(shown))


def _with_ids(body: Mapping[str, Any], identifier: str) -> Body:
    changed: Body = orjson.loads(orjson.dumps(body))
    for message in changed["messages"]:
        if "tool_call_id" in message:
            message["tool_call_id"] = identifier
        for call in message.get("tool_calls") or ():
            call["id"] = identifier
    return changed


def _body(session: Session, model: str, text: str, length: str) -> Body:
    return {"model": model, "messages": [{"role": "user", "content": text}], length: max_tokens(session.wire)}
