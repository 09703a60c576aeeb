"""What a gateway can lose, one loss each: which fact has to find it, in which case, and how it is lost."""

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.gateways import direct
from conformance.transport.http import HttpReply

Body = dict[str, Any]


@dataclass(frozen=True)
class Planted:
    """A loss: the fact that finds it, its direction, the case that shows it, and what the gateway does."""

    fact: str
    direction: str
    case: str
    does: dict[str, Any]
    wires: tuple[str, str] = ("messages", "chat")
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return a name for the loss."""
        return f"{self.fact} {self.direction} {self.case}"


def _request(change: Callable[[Body], None]) -> dict[str, Any]:
    def changed(body: Body) -> Body:
        made = copy.deepcopy(body)
        change(made)
        return made

    return {"request": changed}


def _messages(change: Callable[[Body], None], role: str = "assistant") -> dict[str, Any]:
    def each(body: Body) -> None:
        for message in body["messages"]:
            if message["role"] == role:
                change(message)

    return _request(each)


def _reply(change: Callable[[Body], None]) -> dict[str, Any]:
    def changed(body: Body) -> Body:
        made = copy.deepcopy(body)
        change(made)
        return made

    return {"reply": changed}


def _message(change: Callable[[Body], None]) -> dict[str, Any]:
    return _reply(lambda body: change(body["choices"][0]["message"]))


def _pop(*keys: str) -> Callable[[Body], None]:
    def change(value: Body) -> None:
        for key in keys:
            value.pop(key, None)

    return change


def _lose_setting(name: str, *keys: str) -> dict[str, Any]:
    def change(body: Body) -> None:
        body[f"lost {name}"] = True
        _pop(*keys)(body)

    return _request(change)


def _schema(change: Callable[[Body], None]) -> dict[str, Any]:
    return _request(lambda body: change(body["tools"][0]["function"]["parameters"]))


def _calls(change: Callable[[list[Any]], Any]) -> Callable[[Body], None]:
    def changed(message: Body) -> None:
        if message.get("tool_calls"):
            message["tool_calls"] = change(message["tool_calls"])

    return changed


def _with_arguments(change: Callable[[str], str]) -> Callable[[Body], None]:
    def one(call: Body) -> Body:
        function = call["function"]
        return {**call, "function": {**function, "arguments": change(function["arguments"])}}

    return _calls(lambda calls: [one(each) for each in calls])


def _one_id(message: Body) -> None:
    _calls(lambda calls: [{**each, "id": "call_same"} for each in calls])(message)


def _same_ids(body: Body) -> None:
    for message in body["messages"]:
        _one_id(message)
        if message["role"] == "tool":
            message["tool_call_id"] = "call_same"


def _results(change: Callable[[list[Body]], list[Body]]) -> dict[str, Any]:
    def changed(body: Body) -> None:
        results = [each for each in body["messages"] if each["role"] == "tool"]
        new = iter(change([dict(each) for each in results]))
        body["messages"] = [next(new) if each["role"] == "tool" else each for each in body["messages"]]

    return _request(changed)


def _swapped(results: list[Body]) -> list[Body]:
    ids = [each["tool_call_id"] for each in results][::-1]
    return [{**each, "tool_call_id": other} for each, other in zip(results, ids, strict=True)]


def _no_images(body: Body) -> None:
    for message in body["messages"]:
        if isinstance(message.get("content"), list):
            message["content"] = [each for each in message["content"] if each["type"] != "image_url"]


def _no_signatures(message: Body) -> None:
    for detail in message.get("reasoning_details") or ():
        detail.pop("signature", None)


def _think_tags(message: Body) -> None:
    details = message.pop("reasoning_details", None) or ()
    text = message.pop("reasoning_content", "") or "".join([each.get("text", "") for each in details])
    message["content"] = f"<think>{text}</think>{message.get('content') or ''}"


def _twice(message: Body) -> None:
    message["content"] = (message.get("content") or "") * 2


def _finished(_got: Any) -> Body:
    return direct.body({"content": "It breaks off in the middle"}, "stop")


def _drop_system(*, first: bool) -> dict[str, Any]:
    def change(body: Body) -> None:
        found = [each for each in body["messages"] if each["role"] == "system"]
        body["messages"].remove(found[0 if first else -1])

    return _request(change)


REQUESTS = (
    Planted("tools-kept", "request", "single/tools", _request(lambda body: body["tools"].pop())),
    Planted("tools-kept", "request", "one-tool-call", _request(lambda b: b["tools"][0]["function"].pop("description"))),
    Planted("schemas-kept", "request", "single/tools", _schema(lambda s: s["properties"]["unit"].pop("enum"))),
    Planted("schemas-kept", "request", "single/tools", _schema(lambda s: s.pop("required"))),
    Planted("schemas-kept", "request", "single/tools", _schema(lambda s: s["properties"]["options"].pop("properties"))),
    Planted("tool-choice-kept", "request", "single/tool-choice-named", _request(_pop("tool_choice"))),
    Planted("tool-choice-kept", "request", "single/tool-choice-required", _request(_pop("tool_choice"))),
    Planted("tool-choice-kept", "request", "single/tool-choice-none", _request(_pop("tool_choice"))),
    Planted("parallel-switch-kept", "request", "single/parallel-off", _request(_pop("parallel_tool_calls"))),
    Planted("system-texts-kept", "request", "agent-session", _drop_system(first=True)),
    Planted("system-texts-kept", "request", "single/late-system-text", _drop_system(first=False), ("chat", "messages")),
    Planted("user-texts-kept", "request", "one-tool-call", _messages(lambda m: m.update(content="Hello."), "user")),
    Planted("answers-kept", "request", "agent-session", _messages(lambda m: m.update(content=None))),
    Planted("reasoning-kept", "request", "one-tool-call", _messages(_pop("reasoning_content", "reasoning_details"))),
    Planted("reasoning-kept", "request", "one-tool-call", _messages(_pop("reasoning_details")), ("chat", "messages")),
    Planted("signatures-kept", "request", "one-tool-call", _messages(_no_signatures), ("messages", "messages")),
    Planted("calls-kept", "request", "parallel-tool-calls", _messages(_calls(lambda calls: calls[:1]))),
    Planted("calls-in-order", "request", "parallel-tool-calls", _messages(_calls(lambda calls: calls[::-1]))),
    Planted("arguments-kept", "request", "one-tool-call", _messages(_with_arguments(lambda _: "{}"))),
    Planted("results-kept", "request", "one-tool-call", _messages(lambda m: m.update(content="ok"), "tool")),
    Planted("results-kept", "request", "parallel-tool-calls", _results(_swapped)),
    Planted("results-in-order", "request", "parallel-tool-calls", _results(lambda results: results[::-1])),
    Planted("is-error-kept", "request", "single/failed-result", _messages(_pop("is_error"), "tool")),
    Planted("images-kept", "request", "single/image", _request(_no_images)),
    Planted("images-kept", "request", "single/image-in-result", _request(_no_images)),
    Planted("ids-mapped", "request", "parallel-tool-calls", _request(_same_ids)),
    Planted("token-limit-kept", "request", "single/token-limit", _request(lambda body: body.update(max_tokens=4096))),
    Planted("temperature-kept", "request", "single/temperature", _lose_setting("temperature", "temperature")),
    Planted("top-p-kept", "request", "single/top-p", _lose_setting("top_p", "top_p")),
    Planted("stop-texts-kept", "request", "single/stop-texts", _lose_setting("stop texts", "stop")),
    Planted("reply-format-kept", "request", "single/reply-format", _lose_setting("reply format", "response_format")),
    Planted("effort-kept", "request", "single/effort", _lose_setting("effort", "reasoning_effort", "thinking")),
    Planted("unknown-parameters-kept", "request", "single/unknown-parameter", _request(_pop("x_conformance_flag"))),
    Planted("stream-asked-for", "request", "plain-answer", _request(_pop("stream"))),
    Planted("requests-not-repeated", "request", "single/refused-400", {"tries": 2}),
    Planted("requests-not-repeated", "request", "plain-answer", {"tries": 2}),
)

REPLIES = (
    Planted("answers-kept", "reply", "agent-session", _message(lambda m: m.update(content=""))),
    Planted("answers-kept", "reply", "plain-answer", _message(_twice)),
    Planted("reasoning-kept", "reply", "one-tool-call", _message(_pop("reasoning_details", "reasoning_content"))),
    Planted("reasoning-kept", "reply", "one-tool-call", _message(_think_tags)),
    Planted("signatures-kept", "reply", "one-tool-call", _message(_no_signatures), ("messages", "messages")),
    Planted("calls-kept", "reply", "parallel-tool-calls", _message(_calls(lambda calls: calls[:1]))),
    Planted(
        "calls-kept", "reply", "one-tool-call", _message(_calls(lambda calls: [*calls, {**calls[0], "id": "again"}]))
    ),
    Planted("calls-in-order", "reply", "parallel-tool-calls", _message(_calls(lambda calls: calls[::-1]))),
    Planted(
        "arguments-kept",
        "reply",
        "single/tools",
        _message(_with_arguments(lambda text: text.replace("9007199254740993", "9007199254740992"))),
    ),
    Planted("ids-mapped", "reply", "parallel-tool-calls", _message(_one_id)),
    Planted(
        "stop-reason-kept", "reply", "one-tool-call", _reply(lambda b: b["choices"][0].update(finish_reason="stop"))
    ),
    Planted(
        "stop-reason-kept",
        "reply",
        "single/token-limit-reached",
        _reply(lambda b: b["choices"][0].update(finish_reason="stop")),
    ),
    Planted("usage-kept", "reply", "plain-answer", _reply(lambda body: body["usage"].update(completion_tokens=1))),
    Planted(
        "usage-details-kept",
        "reply",
        "single/usage-details",
        _reply(lambda body: body["usage"].pop("prompt_tokens_details")),
    ),
    Planted("refusal-status-kept", "reply", "single/refused-400", {"status": lambda _: 500}),
    Planted("refusal-status-kept", "reply", "single/refused-429", {"status": lambda _: 400}),
    Planted(
        "refusal-text-kept",
        "reply",
        "single/refused-400",
        {"error": lambda _: {"type": "error", "error": {"type": "api_error", "message": "Bad request"}}},
    ),
    Planted(
        "refusal-shape", "reply", "single/refused-400", {"error": lambda body: {"detail": body["error"]["message"]}}
    ),
    Planted("stream-errors-reported", "reply", "single/error-in-stream", {"broken": _finished}),
    Planted("cut-streams-stay-cut", "reply", "single/cut-stream", {"broken": _finished}),
    Planted("cut-streams-stay-cut", "reply", "single/cut-stream-in-call", {"broken": _finished}),
)


def _cut_texts(body: Body) -> None:
    for message in body["messages"]:
        if message["role"] == "system" and isinstance(message["content"], str):
            message["content"] = message["content"][: len(message["content"]) // 2]


def _other_image(body: Body) -> None:
    for message in body["messages"]:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if part["type"] == "image_url":
                part["image_url"] = {"url": part["image_url"]["url"][:-12] + "AAAAAAAAAAAA"}


def _drop_last_user(body: Body) -> None:
    found = [each for each in body["messages"] if each["role"] == "user"]
    if len(found) > 1:
        body["messages"].remove(found[0])


def _sign_otherwise(message: Body) -> None:
    for detail in message.get("reasoning_details") or ():
        if detail.get("signature"):
            detail["signature"] = detail["signature"].swapcase()


def _swapped_counts(body: Body) -> None:
    usage = body["usage"]
    usage["prompt_tokens"], usage["completion_tokens"] = usage["completion_tokens"], usage["prompt_tokens"]


def _answers_another(message: Body) -> None:
    message["tool_call_id"] = "call_of_nobody"


def _on_one_line(text: str) -> str:
    return text.replace("\\r\\n", "\\n")


def _failing(reply: HttpReply) -> HttpReply:
    return replace(reply, status=500, body=b'{"error": {"message": "Something went wrong", "type": "api_error"}}')


FURTHER = (
    Planted("replies-arrive", "reply", "plain-answer", {"quirk": _failing}, ("chat", "chat")),
    Planted("replies-arrive", "reply", "one-tool-call", {"quirk": _failing}, ("messages", "chat")),
    Planted(
        "calls-kept", "reply", "parallel-tool-calls", _message(_calls(lambda calls: calls[1:])), ("responses", "chat")
    ),
    Planted("arguments-kept", "reply", "echo-escapes", _message(_with_arguments(_on_one_line)), ("chat", "messages")),
    Planted(
        "tools-kept",
        "request",
        "single/tools",
        _request(lambda body: body["tools"][1]["function"].pop("description")),
        ("gemini", "chat"),
    ),
    Planted(
        "results-kept",
        "request",
        "parallel-tool-calls",
        _messages(lambda m: m.update(content=m["content"][:8]), "tool"),
        ("responses", "chat"),
    ),
    Planted("images-kept", "request", "single/image", _request(_other_image), ("chat", "gemini")),
    Planted("system-texts-kept", "request", "agent-session", _request(_cut_texts), ("responses", "messages")),
    Planted("usage-kept", "reply", "plain-answer", _reply(_swapped_counts), ("gemini", "chat")),
    Planted(
        "stop-reason-kept",
        "reply",
        "single/token-limit-reached",
        _reply(lambda b: b["choices"][0].update(finish_reason="stop")),
        ("responses", "chat"),
    ),
    Planted(
        "answers-kept",
        "reply",
        "plain-answer",
        _message(lambda m: m.update(content=m["content"][:-10])),
        ("gemini", "messages"),
    ),
    Planted("signatures-kept", "request", "one-tool-call", _messages(_sign_otherwise), ("messages", "messages")),
    Planted("results-kept", "request", "one-tool-call", _messages(_answers_another, "tool"), ("chat", "messages")),
    Planted("user-texts-kept", "request", "across-turns", _request(_drop_last_user), ("gemini", "messages")),
)
"""Losses on native fronts and backs, in streams, and those that change a piece instead of dropping it."""

PLANTED = (*REQUESTS, *REPLIES, *FURTHER)
"""All losses."""


def losses() -> Iterator[Planted]:
    """Yield all losses, with one name each."""
    seen: dict[str, int] = {}
    for each in PLANTED:
        seen[each.name] = seen.get(each.name, 0) + 1
        yield each


NONCE = re.compile("Q[BCDFGHJKLMNPQRTVWXZ2345679]{9}")
