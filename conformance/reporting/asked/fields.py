"""The fields of a request, each with the claims that it follows: value, date, confidence, sources, and disagreement."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place, render
from conformance.profiles import Claim, Profile, rejects_or_damages
from conformance.reporting.asked.requests import Sample, Wish, switch
from conformance.reporting.matrix.sentences import describe
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT
from conformance.wire.reasoning import ALL_KEYS, SIGNATURE_KEYS
from conformance.wires import as_sent, by_name

_IDS: Final = ("ids.format", "ids.input-pattern", "ids.rewritten", "gemini.call-ids")
_DETAILS: Final = ("reasoning_details", "thinking_blocks")


class OtherSource(NamedTuple):
    """What another source says of a claim, and where."""

    value: str
    source: str


class FieldClaim(NamedTuple):
    """A claim that a field follows; `read` is the last day on which one of its sources was read.

    `others` are the sources that disagree. `choice` says which choice is the safe one, if there are any.
    """

    name: str
    value: str
    read: str = ""
    confidence: str = ""
    sources: tuple[str, ...] = ()
    others: tuple[OtherSource, ...] = ()
    choice: str = ""


class SentField(NamedTuple):
    """A field of both requests, or of the second alone: its places in the body, what is sent, and the claims behind it.

    Without a place it is one that is left out; without claims, it is as on the canonical wire.
    """

    pointers: tuple[str, ...]
    sent: str
    claims: tuple[FieldClaim, ...] = ()


def sent_bodies(found: Sample, profile: Profile) -> tuple[Any, Any]:
    """Return the bodies of both requests as they are sent on the wire of a profile."""
    first, second = (as_sent(each, profile.wire) for each in (found.first, found.second))
    return _body(first), _body(second)


def url(profile: Profile, body: Mapping[str, Any]) -> str:
    """Return the address of a request; the base URL of a provider with one for each customer is left open."""
    return f"{profile.base_url or '$BASE_URL'}{by_name(profile.wire).path(body)}"


def fields(found: Sample, profile: Profile, wish: Wish) -> tuple[SentField, ...]:
    """Return the fields of the second request that claims are about; the parameters are those of the first, too."""
    exchange = as_sent(found.second, profile.wire)
    places: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    request: Any = exchange.request
    for number, message in enumerate(request["messages"]):
        for inside, sent, names in _of_message(message, found.second, profile.wire):
            places.setdefault((sent, names), []).append(_native(exchange, ("request", "messages", number, *inside)))
    parts = [_field(tuple(found), sent, names, profile) for (sent, names), found in places.items()]
    return (*_parameters(found.second, _body(exchange), profile, wish), *parts)


def _body(exchange: Exchange) -> Any:
    return exchange.request if exchange.native is None else exchange.native.request


def _native(exchange: Exchange, place: Place) -> str:
    """Return the pointer of a part of the canonical request into the body that is sent."""
    moved = (0, *place) if exchange.native is None else exchange.native.place((0, *place))
    return render(moved[2:])


def _parameters(
    canonical: Mapping[str, Any], body: Mapping[str, Any], profile: Profile, wish: Wish
) -> Iterator[SentField]:
    claims = profile.at(profile.model)
    switches = {name for on in (True, False) for name in switch(claims, on=on)} if wish.thinking is not None else set()
    turned = "thinking.off" if wish.thinking is False else "thinking.on"
    for name in body:
        if name in switches and canonical.get(name) is not None:
            yield _field((f"/{name}",), "the switch of thinking", (turned, "thinking.mode"), profile)
        elif name == "tools":
            names = ("tools.supported", "thinking.with-tools", *(("tools.parallel",) if wish.parallel else ()))
            yield _field(("/tools",), "the tools", names, profile)
        elif name == "stream":
            yield _field(("/stream",), "the reply is streamed", ("stream.done", "stream.usage"), profile)
        elif name == "max_tokens":
            yield _field(("/max_tokens",), "the limit of the reply", ("request.max-tokens-fields",), profile)
        elif name == "model":
            yield SentField(("/model",), profile.model or "any model")
    if not switches & set(canonical):
        yield _field((), "no switch of thinking", ("thinking.mode",), profile)


def _of_message(
    message: Mapping[str, Any], request: Mapping[str, Any], wire: str
) -> Iterator[tuple[Place, str, tuple[str, ...]]]:
    """Yield the parts of a message, what is sent there, and the names of the claims about it."""
    calls = message.get("tool_calls") or []
    if message["role"] == "assistant":
        yield from _reasoning(message, "tool" if calls else "plain")
        if calls and wire == CHAT and not message.get("content"):
            yield from _empty(message)
        for number, call in enumerate(calls):
            yield ("tool_calls", number, "id"), "as in the reply", _IDS
            if "extra_content" in call:
                names = ("signature.field", "signature.omitted", "signature.altered")
                yield ("tool_calls", number, "extra_content"), "the signature, as in the reply", names
    if message["role"] == "tool":
        yield ("tool_call_id",), "the id of the call", ("results.without-id", "results.unknown-id")
        if "name" in message:
            yield ("name",), "the name of the function", ("results.name-missing", "results.name-field")
        if len([each for each in request["messages"] if each["role"] == "tool"]) > 1:
            yield (), "in the order of the calls", ("results.reversed",)


def _reasoning(message: Mapping[str, Any], turn: str) -> Iterator[tuple[Place, str, tuple[str, ...]]]:
    kept = [key for key in ALL_KEYS if key in message and key not in SIGNATURE_KEYS]
    omitted = f"reasoning.omitted-on-{turn}-turn"
    on_plain = () if turn == "tool" else ("reasoning.on-plain-turn",)
    for key in kept:
        # What is claimed of one field comes with the field.
        names = ("reasoning.request-field", omitted, *on_plain, f"reasoning.input.{key}")
        signed = ("signature.field", "signature.omitted", "signature.altered") if key in _DETAILS else ()
        sent = "the reasoning, as in the reply" if message[key] not in ("", " ", []) else "empty reasoning"
        yield (key,), sent, (*names, "reasoning.altered", *signed)
    if not kept:
        yield (), "no text of the reasoning", ("reasoning.request-field", omitted, *on_plain)


def _empty(message: Mapping[str, Any]) -> Iterator[tuple[Place, str, tuple[str, ...]]]:
    """Yield how a message with calls writes that it has no text."""
    names = {kind: f"content.{kind}-on-tool-turn" for kind in ("null", "empty", "absent")}
    kind = "absent" if "content" not in message else "null" if message["content"] is None else "empty"
    others = tuple([name for name in names.values() if name != names[kind]])
    yield ("content",), {"null": "null", "empty": '""', "absent": "left out"}[kind], (names[kind], *others)


def _field(pointers: tuple[str, ...], sent: str, names: Sequence[str], profile: Profile) -> SentField:
    claims = [(name, profile.claim(name, profile.model)) for name in names]
    contested = profile.contested(profile.model)
    return SentField(
        pointers, sent, tuple([_claim(name, claim, contested) for name, claim in claims if claim is not None])
    )


def _claim(name: str, claim: Claim, contested: Mapping[str, Any]) -> FieldClaim:
    days = [source.read or source.searched for source in claim.source]
    others = tuple([OtherSource(_words(name, each.value), each.source.text) for each in claim.disagrees])
    choice = ""
    if name in contested:
        choice = "sources disagree; what no source says is refused is sent"
    elif others:
        refuses = rejects_or_damages(claim.value)
        choice = (
            "sources disagree; the refusal is avoided" if refuses else "sources disagree; neither says it is refused"
        )
    sources = tuple(dict.fromkeys([source.link or source.text for source in claim.source]))
    return FieldClaim(name, _words(name, claim.value), max(days, default=""), claim.confidence, sources, others, choice)


def _words(name: str, value: Any) -> str:
    return describe(name, value, str)
