"""Twins: one request, sent twice and once in the other form, plain or streamed; what its replies must have in common.

Only what the model's own choice cannot explain is compared: calls with calls, text with text. Whether a reply shows
reasoning may be chance, so it takes as many replies of each form as tell the model's doing from the host's.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

from conformance import linear
from conformance.documents import parse_json
from conformance.errors import InvalidDocument, Unusable
from conformance.observations.counts import prompt_tokens
from conformance.observations.replies import is_reasoned, reasoning_fields
from conformance.profiles import UNKNOWN, Claims
from conformance.results import Status
from conformance.suite.repeating import MODELS_DOING, REPLIES, ReplyReading, lost
from conformance.wire.elements import Call, Reply
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index

TWINS: Final = 2
"""How many more requests a twinned one costs."""

AGREE: Final = "as in the other replies to the same request"

_PREFIX: Final = re.compile(r"[A-Za-z]+[_-]")
_STREAM: Final = ("stream", "stream_options")
_NO_USAGE: Final = frozenset({"none", "vendor", "choice"})
"""Values of the claim about the usage of a stream that leave none where a client looks for it."""


class Twin(NamedTuple):
    """A reply to a twinned request; `traits` by name; None for what it does not show."""

    streamed: bool
    calls: bool
    reasoned: bool
    traits: Mapping[str, Any]

    @property
    def form(self) -> str:
        """Return how the reply was requested, in words."""
        return "streamed" if self.streamed else "plain"


def other_form(body: Mapping[str, Any], claims: Claims) -> dict[str, Any]:
    """Return a request that is streamed if the given one is plain, and plain if it is streamed."""
    if body.get("stream") is True:
        rest = {name: value for name, value in body.items() if name not in _STREAM}
        return rest | ({"stream": False} if claims.get("stream.default") is True else {})
    return {**body, "stream": True, "stream_options": {"include_usage": True}}


def read(
    exchange: Exchange, body: Mapping[str, Any], send: Callable[[Mapping[str, Any]], Exchange], claims: Claims
) -> ReplyReading:
    """Return whether the reply of an exchange agrees with two more: to its body, and to that in the other form."""
    bodies = (body, other_form(body, claims))
    twins = [_twin(exchange, body, claims)]
    try:
        twins += [_twin(send(each), each, claims) for each in bodies]
        if None in twins:
            return ReplyReading(Status.UNTESTED, "a reply to the same request holds no whole message")
        found = [each for each in twins if each is not None]
        if difference := next(_differences(found, claims), ""):
            return ReplyReading(Status.FAILED, difference)
        if len({each.reasoned for each in found}) > 1:
            return _reasoning(found, bodies, send, claims)
    except (InvalidDocument, Unusable) as error:
        return ReplyReading(Status.UNTESTED, f"there is no further reply to the same request: {lost(error)}")
    return ReplyReading(Status.PASSED, AGREE)


def _reasoning(
    twins: list[Twin],
    bodies: Sequence[Mapping[str, Any]],
    send: Callable[[Mapping[str, Any]], Exchange],
    claims: Claims,
) -> ReplyReading:
    """Return whose doing it is that some replies show reasoning and others do not."""
    for body in bodies:
        streamed = body.get("stream") is True
        for _ in range(REPLIES - sum(each.streamed is streamed for each in twins)):
            further = _twin(send(body), body, claims)
            twins += [] if further is None else [further]
    shown = {streamed: [each.reasoned for each in twins if each.streamed is streamed] for streamed in (False, True)}
    words = " and ".join(
        [f"{sum(each)} of {len(each)} {'streamed' if form else 'plain'} replies" for form, each in shown.items()]
    )
    is_steady = all(len(set(each)) == 1 and len(each) == REPLIES for each in shown.values())
    if is_steady and shown[False] != shown[True]:
        return ReplyReading(Status.FAILED, f"{words} to the same request show reasoning")
    return ReplyReading(Status.PASSED, f"{AGREE}; {words} show reasoning, {MODELS_DOING}")


def _twin(exchange: Exchange, body: Mapping[str, Any], claims: Claims) -> Twin | None:
    """Return what a reply shows; None if it is no reply with a message."""
    index = Index((exchange,))
    is_cut = claims.get("finish.missing-in-stream") is not True and not all(each.complete for each in index.replies)
    if not index.replies or is_cut:
        return None
    reply = index.replies[0]
    fields = tuple(sorted(reasoning_fields(reply.message)))
    traits = {
        "prompt tokens": prompt_tokens(index),
        "usage": "present" if index.usages else "absent",
        "reasoning in": ", ".join(fields) or None,
        "finish reason": reply.finish_reason or None,
        "reply model": _model(index),
        **(_of_calls(reply) if reply.calls else {}),
    }
    return Twin(body.get("stream") is True, bool(reply.calls), is_reasoned(reply.message), traits)


def _model(index: Index) -> Any:
    """Return the last model that a reply or the chunks of a stream name."""
    named = [each.value.get("model") for each in (*index.responses, *index.chunks)]
    return next((each for each in reversed(named) if each), None)


def _of_calls(reply: Reply) -> dict[str, Any]:
    return {"ids": [call.id for call in reply.calls], "arguments": _form(reply.calls[0])}


def _form(call: Call) -> str:
    """Return the form of a call's arguments in words; white space and the order of keys do not count."""
    if not isinstance(call.arguments, str):
        return f"JSON of type {type(call.arguments).__name__}"
    try:
        value = parse_json(call.arguments or "{}", "arguments")
    except InvalidDocument:
        return "text that is not JSON"
    return f"text of JSON of type {type(value).__name__}"


def _differences(twins: Sequence[Twin], claims: Claims) -> Iterator[str]:
    """Yield what differs between two replies that are alike, in words."""
    for first, second in combinations(twins, 2):
        for name, value in first.traits.items():
            other = second.traits.get(name)
            like = first.calls is second.calls or name not in ("finish reason", "ids", "arguments")
            if value is None or other is None or not like or _agree(name, value, other):
                continue
            if first.streamed is not second.streamed and _is_claimed(name, first, second, claims):
                continue
            if first.streamed is second.streamed:
                yield f"the same request twice, {first.form}: {name} {_shown(name, value)}, then {_shown(name, other)}"
            else:
                values = f"{_shown(name, value)} {first.form}, {_shown(name, other)} {second.form}"
                yield f"the same request: {name} {values}"


def _agree(name: str, value: Any, other: Any) -> bool:
    if name != "ids":
        return bool(value == other)
    return {*map(_shape, value)} == {*map(_shape, other)}


def _shown(name: str, value: Any) -> str:
    return ", ".join([repr(each) for each in value]) if name == "ids" else str(value)


def _shape(identifier: Any) -> tuple[str, str]:
    """Return the form of an id: its prefix, and the length of the rest, which for a number may be any."""
    if not isinstance(identifier, str) or not identifier:
        return "", "no text"
    prefix = _PREFIX.match(identifier)
    rest = identifier[prefix.end() :] if prefix else identifier
    return prefix[0] if prefix else "", "a number" if rest.isdecimal() else f"{len(rest)} characters"


def _is_claimed(name: str, first: Twin, second: Twin, claims: Claims) -> bool:
    """Return True if the claims say that the two forms of a reply differ so."""
    plain, streamed = (second, first) if first.streamed else (first, second)
    if name == "usage":
        return bool(_NO_USAGE & {*_listed(claims.get("stream.usage"))})
    if name == "reasoning in":
        claimed = {*_listed(claims.get("reasoning.response-field"))}
        return {*plain.traits[name].split(", "), *streamed.traits[name].split(", ")} <= claimed
    if name == "finish reason" and first.calls:
        usual = claims.get("finish.with-calls")
        in_stream = claims.get("finish.with-calls-in-stream", usual)
        return plain.traits[name] in _listed(usual) and streamed.traits[name] in _listed(in_stream)
    if name == "ids":
        pattern = claims.get("ids.format")
        return _match(pattern, plain.traits[name]) and _match(
            claims.get("ids.format-in-stream", pattern), streamed.traits[name]
        )
    return False


def _listed(claimed: Any) -> list[Any]:
    return claimed if isinstance(claimed, list) else [claimed]


def _match(pattern: Any, ids: Sequence[Any]) -> bool:
    patterns = [each for each in _listed(pattern) if isinstance(each, str) and each != UNKNOWN]
    return all(isinstance(each, str) and any(linear.fits(one, each) for one in patterns) for each in ids)
