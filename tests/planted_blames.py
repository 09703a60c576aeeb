"""Faults of a client, a gateway or a provider: who has to be blamed for each, on which wires, and what it does."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.fidelity.passages import CLIENT, GATEWAY, PROVIDER
from conformance.wire.native import OWN

Body = dict[str, Any]
Messages = list[Body]


@dataclass(frozen=True)
class Blame:
    """A fault: whose it is, the front and the back, the case that shows it, and what is done.

    `shows`: a fact or a rule that has to name it. `does`: what the gateway does. `alter`: what the client does with its
    messages. `fault`: the fault of the provider's replies.
    """

    by: str
    name: str
    case: str
    wires: tuple[str, str]
    shows: str
    does: dict[str, Any] = field(default_factory=dict)
    alter: Callable[[Messages], Messages] = list
    fault: str = ""

    @property
    def id(self) -> str:
        """Return a name for it."""
        return f"{self.by}: {self.name}, {self.wires[0]} to {self.wires[1]}"


def _changed(change: Callable[[Body], Any]) -> Callable[[Body], Body]:
    def changed(body: Body) -> Body:
        made = copy.deepcopy(body)
        change(made)
        return made

    return changed


def _each(role: str, change: Callable[[Body], Any]) -> Callable[[Body], Body]:
    return _changed(lambda body: [change(each) for each in body["messages"] if each["role"] == role])


def _calls(change: Callable[[Body], Any]) -> Callable[[Body], Any]:
    return lambda message: [change(each) for each in message.get("tool_calls") or ()]


def _message(change: Callable[[Body], Any]) -> Callable[[Body], Body]:
    return _changed(lambda body: change(body["choices"][0]["message"]))


def _call_twice(body: Body) -> None:
    at = next((number for number, each in enumerate(body["messages"]) if each.get("tool_calls")), None)
    if at is not None:
        body["messages"].insert(at, copy.deepcopy(body["messages"][at]))


def _no_results(body: Body) -> None:
    body["messages"] = [each for each in body["messages"] if each["role"] != "tool"]


def _results_last(body: Body) -> None:
    results = [each for each in body["messages"] if each["role"] == "tool"]
    if results:
        others = [each for each in body["messages"] if each["role"] != "tool"]
        body["messages"] = [*others, {"role": "user", "content": "Go on."}, *results]


def _encoded_twice(call: Body) -> None:
    text = call["function"]["arguments"]
    call["function"]["arguments"] = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _prefixed(call: Body) -> None:
    call["function"]["name"] = f"functions.{call['function']['name']}"


def _own_id(call: Body) -> None:
    call["id"] = f"toolu_{call['id']}"


def _as_text(message: Body) -> None:
    calls = message.pop("tool_calls", None) or ()
    said = "".join([f"<tool_call>{each['function']['arguments']}</tool_call>" for each in calls])
    message["content"] = (message.get("content") or "") + said


def _numbers(body: Body) -> None:
    for tool in body.get("tools") or ():
        for schema in tool["function"]["parameters"].get("properties", {}).values():
            if schema.get("type") == "string":
                schema["type"] = "number"


def _garbled(message: Body) -> None:
    message["content"] = (message.get("content") or "").upper()


def _no_reasoning_text(message: Body) -> None:
    for key in ("reasoning_content", "reasoning_details", "reasoning", OWN):
        message.pop(key, None)


_ODD_ROLE = _each("user", lambda each: each.update(role="human"))
_NO_MESSAGES = _changed(lambda body: body.update(messages=[]))
_ORPHANS = _changed(lambda body: body.update(messages=[e for e in body["messages"] if not e.get("tool_calls")]))
_BAD_TOOLS = _changed(lambda body: [each.pop("type") for each in body.get("tools") or ()])

GATEWAYS = (
    Blame(
        GATEWAY,
        "a role of its own",
        "one-tool-call",
        ("messages", "chat"),
        "back-request-valid",
        {"request": _ODD_ROLE},
    ),
    Blame(
        GATEWAY,
        "tools without a type",
        "single/tools",
        ("responses", "chat"),
        "back-request-valid",
        {"request": _BAD_TOOLS},
    ),
    Blame(
        GATEWAY,
        "tools without a type",
        "one-tool-call",
        ("messages", "chat"),
        "back-request-valid",
        {"request": _BAD_TOOLS},
    ),
    Blame(
        GATEWAY,
        "calls sent twice",
        "one-tool-call",
        ("messages", "chat"),
        "calls-kept",
        {"request": _changed(_call_twice)},
    ),
    Blame(
        GATEWAY,
        "calls sent twice",
        "parallel-tool-calls",
        ("gemini", "chat"),
        "calls-kept",
        {"request": _changed(_call_twice)},
    ),
    Blame(
        GATEWAY,
        "results dropped",
        "one-tool-call",
        ("responses", "chat"),
        "results-kept",
        {"request": _changed(_no_results)},
    ),
    Blame(
        GATEWAY,
        "results dropped",
        "parallel-tool-calls",
        ("chat", "gemini"),
        "results-kept",
        {"request": _changed(_no_results)},
    ),
    Blame(
        GATEWAY,
        "results after a text of the user",
        "one-tool-call",
        ("messages", "chat"),
        "back-request-valid",
        {"request": _changed(_results_last)},
    ),
    Blame(
        GATEWAY,
        "calls dropped before their results",
        "one-tool-call",
        ("messages", "chat"),
        "calls-kept",
        {"request": _ORPHANS},
    ),
    Blame(
        GATEWAY,
        "arguments encoded twice",
        "one-tool-call",
        ("responses", "chat"),
        "arguments-kept",
        {"request": _each("assistant", _calls(_encoded_twice))},
    ),
    Blame(
        GATEWAY,
        "arguments encoded twice",
        "one-tool-call",
        ("chat", "responses"),
        "arguments-kept",
        {"reply": _message(_calls(_encoded_twice))},
    ),
    Blame(
        GATEWAY,
        "names with a prefix",
        "one-tool-call",
        ("messages", "chat"),
        "calls-kept",
        {"reply": _message(_calls(_prefixed))},
    ),
    Blame(
        GATEWAY,
        "names with a prefix",
        "parallel-tool-calls",
        ("gemini", "messages"),
        "calls-kept",
        {"request": _each("assistant", _calls(_prefixed))},
    ),
    Blame(
        GATEWAY,
        "ids that are not mapped back",
        "one-tool-call",
        ("messages", "chat"),
        "ids-mapped",
        {"reply": _message(_calls(_own_id))},
    ),
    Blame(GATEWAY, "calls as text", "one-tool-call", ("messages", "chat"), "calls-kept", {"reply": _message(_as_text)}),
    Blame(
        GATEWAY,
        "calls as text",
        "parallel-tool-calls",
        ("responses", "gemini"),
        "calls-kept",
        {"reply": _message(_as_text)},
    ),
    Blame(
        GATEWAY,
        "another type of a parameter",
        "single/tools",
        ("gemini", "chat"),
        "schemas-kept",
        {"request": _changed(_numbers)},
    ),
    Blame(
        GATEWAY, "capitals", "plain-answer", ("responses", "messages"), "answers-kept", {"reply": _message(_garbled)}
    ),
    Blame(GATEWAY, "capitals", "plain-answer", ("chat", "gemini"), "answers-kept", {"reply": _message(_garbled)}),
)


def _without_last_result(messages: Messages) -> Messages:
    found = [at for at, each in enumerate(messages) if each["role"] == "tool"]
    return [each for at, each in enumerate(messages) if not found or at != found[-1]]


def _foreign_id(messages: Messages) -> Messages:
    return [{**each, "tool_call_id": "call_unknown"} if each["role"] == "tool" else each for each in messages]


def _without_calls(messages: Messages) -> Messages:
    return [each for each in messages if not each.get("tool_calls")]


def _results_after_user(messages: Messages) -> Messages:
    results = [each for each in messages if each["role"] == "tool"]
    others = [each for each in messages if each["role"] != "tool"]
    return [*others, {"role": "user", "content": "Go on."}, *results] if results else messages


def _other_arguments(messages: Messages) -> Messages:
    made = copy.deepcopy(messages)
    for each in made:
        each.pop(OWN, None)
        for call in each.get("tool_calls") or ():
            call["function"]["arguments"] = '{"city": "Nowhere"}'
    return made


def _without_reasoning(messages: Messages) -> Messages:
    made = [dict(each) for each in messages]
    for each in made:
        if each["role"] == "assistant":
            _no_reasoning_text(each)
    return made


def _at(wires: str, by: str, name: str, case: str, shows: str, **more: Any) -> Iterator[Blame]:
    """Yield a fault at each front and back, such as `messages>chat`."""
    for each in wires.split():
        front, back = each.split(">")
        yield Blame(by, name, case, (front, back), shows, **more)


_PARALLEL = "parallel-tool-calls"
_ONE = "one-tool-call"
_ORPHAN = "transcript/result-answers-call"

CLIENTS = (
    *_at(
        "messages>chat chat>messages responses>chat gemini>gemini",
        CLIENT,
        "a result is missing",
        _PARALLEL,
        "transcript/calls-answered",
        alter=_without_last_result,
    ),
    *_at(
        "messages>chat chat>messages responses>responses",
        CLIENT,
        "a result of no call",
        _ONE,
        _ORPHAN,
        alter=_foreign_id,
    ),
    *_at("messages>chat responses>chat chat>chat", CLIENT, "no calls", _ONE, _ORPHAN, alter=_without_calls),
    *_at(
        "chat>chat chat>messages messages>chat",
        CLIENT,
        "results after a text of the user",
        _ONE,
        "transcript/",
        alter=_results_after_user,
    ),
    *_at("chat>chat messages>chat", CLIENT, "other arguments", _ONE, "gateway/arguments-kept", alter=_other_arguments),
    *_at(
        "chat>chat messages>messages",
        CLIENT,
        "no reasoning",
        _ONE,
        "gateway/reasoning-kept",
        alter=_without_reasoning,
    ),
)

PROVIDERS = (
    *_at(
        "chat>chat messages>messages messages>chat chat>messages",
        PROVIDER,
        "another reason",
        _ONE,
        "response/finish-reason-matches-tool-calls",
        fault="finish-stop-with-calls",
    ),
    *_at(
        "chat>chat messages>chat responses>responses chat>responses",
        PROVIDER,
        "equal ids",
        _PARALLEL,
        "tool-calls/id-unique-in-reply",
        fault="ids-equal",
    ),
    *_at(
        "chat>chat responses>chat responses>responses",
        PROVIDER,
        "malformed arguments",
        _ONE,
        "tool-calls/",
        fault="arguments-malformed",
    ),
    *_at(
        "chat>chat gemini>gemini messages>messages responses>responses",
        PROVIDER,
        "a call of no tool",
        _ONE,
        "tool-calls/",
        fault="call-of-no-tool",
    ),
    *_at("chat>chat messages>chat", PROVIDER, "no ids", _ONE, "", fault="ids-missing"),
    *_at(
        "chat>chat messages>chat responses>chat",
        PROVIDER,
        "a name with a prefix",
        _ONE,
        "tool-calls/",
        fault="name-with-namespace",
    ),
    *_at(
        "messages>messages",
        PROVIDER,
        "unsigned thinking",
        _ONE,
        "messages/reply-thinking-signed",
        fault="messages-thinking-unsigned",
    ),
)

BLAMES = (*GATEWAYS, *CLIENTS, *PROVIDERS)
"""All faults."""
