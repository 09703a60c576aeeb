"""Exchanges of the made-up wire as those of chat completions."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.wire.blocks import Block
from conformance.wire.drafts import Draft, SubPlaces, Transcript, as_chat, events_of
from conformance.wire.exchange import Exchange
from conformance.wire.native import Native, NativeEvent
from conformance.wire.sse import read
from conformance.wire.values import objects

_INSIDE: Final = SubPlaces(
    call={("id",): ("tag",), ("function", "arguments"): ("how",)}, result={("tool_call_id",): ("tag",)}
)


def translator(*, apart: bool = False) -> Callable[[Exchange], Exchange]:
    return _translated


def _translated(exchange: Exchange) -> Exchange:
    draft = Draft(_INSIDE)
    request, response = exchange.request, exchange.response
    if type(request) is dict:
        _read(request.get("utterances"), ("request", "utterances"), draft)
        request = {key: value for key, value in request.items() if key != "utterances"} | {"messages": draft.messages}
    events: tuple[NativeEvent, ...] = ()
    reply = response
    if exchange.streamed and type(response) is str:
        events = events_of(read(response))
        reply = assembled(response)
    if type(reply) is dict and "utterance" in reply:
        message: dict[str, Any] = {"role": "assistant", "content": None}
        blocks = _blocks(reply["utterance"], ("response", "utterance"), draft)
        draft.fill(message, ("response", "choices", 0, "message"), blocks)
        reason = "tool_calls" if "tool_calls" in message else "stop"
        response = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
        response |= {key: reply[key] for key in ("id", "model", "usage") if key in reply}
    native = Native("parrot", exchange.request, exchange.response, events, reply, places=draft.places)
    return as_chat(exchange, request, response, native, exchange.model)


def transcript(native: dict[str, Any], draft: Transcript) -> None:
    held = ("utterances",) if "utterances" in native else ("utterance",)
    draft.rest(native, held, (), "a transcript holds only messages")
    if "utterance" in native:
        draft.turn(_blocks(native["utterance"], ("utterance",), draft), ("utterance",))
    _read(native.get("utterances"), ("utterances",), draft)


def assembled(text: str) -> dict[str, Any]:
    whole: dict[str, Any] = {"utterance": {"who": "parrot", "said": "", "chores": []}}
    for data in read(text).data:
        event = json.loads(data)
        whole |= {key: value for key, value in event.items() if key != "utterance"}
        whole["utterance"]["said"] += event["utterance"].get("said", "")
        whole["utterance"]["chores"] += event["utterance"].get("chores", [])
    return whole


def _read(utterances: Any, place: Place, draft: Draft) -> None:
    for position, each in objects(utterances):
        at = (*place, position)
        if each.get("who") == "parrot":
            draft.turn(_blocks(each, at, draft), at)
        elif each.get("who") == "chore":
            message = {"role": "tool", "tool_call_id": each.get("tag"), "content": each.get("said")}
            draft.ask("user", [Block("result", message, at)], at)
        else:
            draft.say({"keeper": "system"}.get(str(each.get("who")), "user"), each.get("said"), at)


def _blocks(utterance: Mapping[str, Any], place: Place, draft: Draft) -> Iterator[Block]:
    draft.rest(utterance, ("who", "said", "chores"), place, "chat completions has no such field")
    if utterance.get("said"):
        yield Block("text", utterance["said"], place)
    for position, chore in objects(utterance.get("chores")):
        function = {"name": chore.get("what"), "arguments": chore.get("how")}
        yield Block(
            "call", {"id": chore.get("tag"), "type": "function", "function": function}, (*place, "chores", position)
        )
