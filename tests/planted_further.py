"""Further losses of a gateway: of order, of types, of counts, of what makes a stream one, and those of bytes alone."""

import json
import re
from dataclasses import replace
from typing import Any

from conformance.transport.http import HttpReply
from tests.gateways import is_stream, on_streams, on_values
from tests.planted_losses import Body, Planted, _message, _messages, _reply, _request, _with_arguments


def _swapped_users(body: Body) -> None:
    messages = body["messages"]
    users = [at for at, each in enumerate(messages) if each["role"] == "user"]
    if len(users) > 1:
        messages[users[0]], messages[users[-1]] = messages[users[-1]], messages[users[0]]


def _twice(body: Body) -> None:
    first = next(each for each in body["messages"] if each["role"] == "user")
    body["messages"].insert(body["messages"].index(first), dict(first))


def _other_type(body: Body) -> None:
    for message in body["messages"]:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if part["type"] == "image_url":
                part["image_url"] = {"url": part["image_url"]["url"].replace("image/png", "image/jpeg")}


def _image_first(body: Body) -> None:
    for message in body["messages"]:
        if isinstance(message.get("content"), list):
            message["content"] = message["content"][::-1]


def _merged_answers(body: Body) -> None:
    messages = body["messages"]
    answers = [each for each in messages if each["role"] == "assistant" and not each.get("tool_calls")]
    if len(answers) > 1:
        answers[0]["content"] = f"{answers[0]['content']}{answers[1]['content']}"
        messages.remove(answers[1])


def _reasoning_in_another_turn(body: Body) -> None:
    turns = [each for each in body["messages"] if each["role"] == "assistant"]
    for key in ("reasoning_content", "reasoning_details") if len(turns) > 1 else ():
        values = [each.pop(key, None) for each in turns[:2]]
        for turn, value in zip(turns[:2], values[::-1], strict=True):
            turn.update({key: value} if value else {})


def _other_description(body: Body) -> None:
    properties = body["tools"][0]["function"]["parameters"]["properties"]
    name = next(iter(properties))
    properties[name] = {**properties[name], "description": "a value"}


def _failed(message: Body) -> None:
    message["is_error"] = True


def _shouted(message: Body) -> None:
    message["content"] = message["content"].upper()


def _shortened(message: Body) -> None:
    message["content"] = message["content"].replace("rather ", "")


def _floats(text: str) -> str:
    return json.dumps(json.loads(text, parse_int=float))


def _calls_of_deltas(change: Any) -> Any:
    def changed(value: Any) -> Any:
        for choice in value.get("choices") or ():
            for call in (choice.get("delta") or {}).get("tool_calls") or ():
                change(call)
        return value

    return lambda reply: on_values(changed)(reply) if is_stream(reply) else reply


def _as_json(reply: HttpReply) -> HttpReply:
    return replace(reply, headers={**reply.headers, "content-type": "application/json"}) if is_stream(reply) else reply


def _accepted(reply: HttpReply) -> HttpReply:
    return replace(reply, status=200) if reply.status >= 400 else reply


_UNNAMED = on_streams(lambda text: [re.sub(rb"^event: .*\n", b"", text, flags=re.MULTILINE)])
_NOT_DONE = on_streams(lambda text: [text.replace(b"data: [DONE]\n\n", b"")])
_NOT_STOPPED = on_streams(lambda text: [re.sub(rb"event: message_stop\ndata: .*\n\n", b"", text)])
_ONE_INDEX = _calls_of_deltas(lambda call: call.update(index=0))
_NAMES = _calls_of_deltas(lambda call: call["function"].update(name="get_weather"))

NEWEST = (
    Planted("turns-in-order", "request", "across-turns", _request(_swapped_users)),
    Planted("turns-in-order", "request", "single/image", _request(_image_first)),
    Planted("user-texts-kept", "request", "one-tool-call", _request(_twice), ("responses", "chat")),
    Planted("is-error-kept", "request", "one-tool-call", _messages(_failed, "tool"), ("messages", "messages")),
    Planted("images-kept", "request", "single/image", _request(_other_type), ("chat", "messages")),
    Planted("reasoning-kept", "request", "across-turns", _request(_merged_answers), ("gemini", "chat")),
    Planted("reasoning-kept", "request", "interleaved-thinking", _request(_reasoning_in_another_turn)),
    Planted("schemas-kept", "request", "one-tool-call", _request(_other_description), ("responses", "messages")),
    Planted("results-kept", "request", "tool-fails", _messages(_shouted, "tool"), ("gemini", "chat")),
    Planted("arguments-kept", "reply", "single/tools", _message(_with_arguments(_floats)), ("messages", "responses")),
    Planted("usage-kept", "reply", "plain-answer", _reply(lambda body: body.update(usage={})), ("gemini", "chat")),
    Planted("answers-kept", "reply", "single/tools", _message(_shortened), ("gemini", "responses")),
    Planted("refusal-status-kept", "reply", "single/refused-400", {"quirk": _accepted}, ("responses", "messages")),
    Planted("front-reply-valid", "reply", "plain-answer", {"quirk": _UNNAMED}),
    Planted("front-reply-valid", "reply", "plain-answer", {"quirk": _NOT_DONE}, ("chat", "messages")),
    Planted("front-reply-valid", "reply", "plain-answer", {"quirk": _NOT_STOPPED}),
    Planted("front-reply-valid", "reply", "plain-answer", {"quirk": _as_json}, ("responses", "chat")),
    Planted("front-reply-valid", "reply", "parallel-tool-calls", {"quirk": _ONE_INDEX}, ("chat", "chat")),
    Planted("front-reply-valid", "reply", "parallel-tool-calls", {"quirk": _NAMES}, ("chat", "messages")),
)
"""Losses that were invented when those of `planted_losses` were all found."""
