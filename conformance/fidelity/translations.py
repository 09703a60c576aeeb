"""What parties without faults would have sent: the right translation of a request or a reply, and the next request.

A rule that such an exchange breaks, too, is broken by what its sender was given, not by the sender.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.fidelity.passages import Pair
from conformance.fidelity.spoken import Spoken
from conformance.judge import check
from conformance.profiles import Profile
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.native import CHAT, OWN
from conformance.wire.values import as_object, objects
from conformance.wires import as_sent, by_name

MESSAGES: Final = "messages"
SETTINGS: Final = "settings"
REPLY: Final = "reply"
"""The parts of an exchange that are translated on their own."""

_NAMES: Final = ("token limit", "temperature", "top_p", "stop texts", "reply format", "effort")
_KEPT: Final = ("model", "stream", "stream_options")
"""What a gateway decides by itself in a request."""


def broken(exchange: Exchange, profile: Profile | None) -> Iterator[str]:
    """Yield the rules that an exchange breaks on its own."""
    for outcome in check((exchange,), profile):
        if outcome.findings:
            yield outcome.rule


def newly_broken(body: Mapping[str, Any], asked: Exchange, profile: Profile | None) -> frozenset[str]:
    """Return the rules that a request of chat completions would break at a provider, beyond those that `asked` does."""
    if profile is None:
        return frozenset()
    return frozenset(broken(as_sent(body, asked.protocol), profile)) - frozenset(
        broken(as_sent(as_object(asked.request), asked.protocol), profile)
    )


def inherent(session: Sequence[Pair], profile: Profile | None) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each pair, the part, and each rule that its right translation breaks."""
    for pair in session:
        if pair.answer is None:
            continue
        asked, given = as_object(pair.answer.request), as_object(pair.front.request)
        if asked and "messages" in given:
            # The settings are the gateway's: what is asked is whether the client's messages are right under them.
            made = as_sent({**asked, "messages": given["messages"]}, pair.answer.protocol)
            yield from ((pair.number, MESSAGES, rule) for rule in broken(made, profile))
            yield from ((pair.number, SETTINGS, rule) for rule in broken(_set(given, asked, pair), profile))
        made_reply = _replied(pair)
        if made_reply is not None:
            yield from ((pair.number, REPLY, rule) for rule in broken(made_reply, None))


def _set(given: Mapping[str, Any], asked: Mapping[str, Any], pair: Pair) -> Exchange:
    """Return the right translation of a request with its settings; what no wire knows is passed on."""
    own = {key: asked[key] for key in _KEPT if key in asked}
    protocol = pair.backs[-1].protocol
    made = as_sent({**_translatable(given, pair), **own}, protocol)
    native, front = as_object(made.as_received.request), as_object(pair.front.as_received.request)
    same_wire = pair.front.protocol == protocol
    kept = {key: value for key, value in front.items() if key not in native and (same_wire or given.get(key) == value)}
    known = {path[0] for name in _NAMES for path in by_name(pair.front.protocol).settings(name)}
    further = {
        key: value for key, value in kept.items() if same_wire or key not in {*known, "messages", "tools", "stream"}
    }
    if not further:
        return made
    whole = Exchange.of_plain({**native, **further}, url=made.as_received.url, model=made.model)
    return whole if protocol == CHAT else by_name(protocol).translate_one(whole)


def broken_in_session(session: Sequence[Pair], number: int, profile: Profile | None) -> Iterator[str]:
    """Yield the rules that the right translation of what a client says breaks after the earlier exchanges behind."""
    pair = next(each for each in session if each.number == number)
    asked = pair.backs[-1]
    body = {**as_object(asked.request), "messages": as_object(pair.front.request).get("messages") or []}
    earlier = [each.answer for each in session if each.number < number and each.answer is not None]
    for outcome in check((*earlier, as_sent(body, asked.protocol)), profile):
        if any([finding.at.startswith(f"/{len(earlier)}/") for finding in outcome.findings]):
            yield outcome.rule


def alone(pair: Pair) -> Exchange:
    """Return the request behind a gateway without its reply."""
    asked = pair.backs[-1]
    received = asked.as_received
    made = Exchange.of_plain(received.request, url=received.url, model=asked.model)
    return made if asked.protocol == CHAT else by_name(asked.protocol).translate_one(made)


def _translatable(given: Mapping[str, Any], pair: Pair) -> dict[str, Any]:
    """Return a request without the members that only the client's wire has, which a gateway has to translate."""
    front, back = by_name(pair.front.protocol), pair.answer.protocol if pair.answer is not None else ""
    if front.name == back:
        return dict(given)
    chat = {path[0] for name in _NAMES[:-1] for path in by_name(CHAT).settings(name)} | {"reasoning_effort"}
    own = {path[0] for name in _NAMES for path in front.settings(name)} - chat
    return {key: value for key, value in given.items() if key not in own}


def _replied(pair: Pair) -> Exchange | None:
    """Return the provider's reply as the client's wire has it; None if there is no whole one."""
    answer = pair.answer
    found = Index((answer,)).replies if answer is not None else ()
    if not found or not found[0].complete or (answer is not None and (answer.status or 200) >= 400):
        return None
    usages = Index((answer,)).usages if answer is not None else ()
    choice = {"index": 0, "message": _plain(found[0].message), "finish_reason": found[0].finish_reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": pair.front.model}
    body = {**head, "choices": [choice], "usage": dict(usages[-1].value) if usages else None}
    wire, received = by_name(pair.front.protocol), pair.front.as_received
    asked = as_object(received.request)
    native = body if wire.name == CHAT else wire.writing.reply(body, asked)
    made = Exchange.of_plain(asked, native, 200, url=received.url, model=pair.front.model)
    return wire.translate_one(made) if wire.name != CHAT else made


def continued(earlier: Pair, asked: Exchange, protocol: str) -> Exchange | None:
    """Return the next request of a client that sends back the reply of a pair as it came, with a result for each call.

    `asked`: the request whose settings it has.
    """
    reply = Spoken(earlier.front, "response").reply
    before = as_object(earlier.front.request).get("messages")
    if not reply or not isinstance(before, list):
        return None
    message = {"role": "assistant", **_plain(reply)}
    native = earlier.front.native
    if native is not None and native.protocol == protocol:
        message[OWN] = by_name(protocol).writing.own(native)
    results = [
        {"role": "tool", "tool_call_id": call.get("id"), "content": "done"}
        for _, call in objects(message.get("tool_calls"))
    ]
    body = {**as_object(asked.request), "messages": [*before, message, *results]}
    return as_sent(body, protocol)


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message of a reply as a whole one: without the numbers that calls have in a stream."""
    made = {key: value for key, value in message.items() if value is not None or key == "content"}
    calls = [
        {key: value for key, value in call.items() if key != "index"} for _, call in objects(made.get("tool_calls"))
    ]
    made.pop("tool_calls", None)
    return made | ({"tool_calls": calls} if calls else {})
