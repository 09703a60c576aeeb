"""Exchanges rebuilt from logs that hold neither body: from messages, and from the parts of a call in many records."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import orjson

from conformance import wires
from conformance.documents import BOUNDS, JSON, parse_json
from conformance.errors import InvalidDocument
from conformance.formats.failures import LoggedFailure
from conformance.formats.inputs import Input
from conformance.formats.records import as_object
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT

RULES: Final = (
    "transcript/*",
    "request/tool-call-id-not-empty",
    "request/tool-call-ids-unique*",
    "request/tool-call-id-length",
    "request/tool-call-id-pattern",
    "tool-calls/id-not-empty",
    "tool-calls/id-unique-*",
)
"""The rules for which roles, texts, ids and calls are enough."""
SENT_RULES: Final = (
    "request/*",
    "reasoning/present-on-*",
    "reasoning/resent-on-tool-turns",
    "reasoning/verbatim",
    "reasoning/not-sent-where-refused",
    "reasoning/not-empty-where-refused",
    "reasoning/under-*",
    "reasoning/in-claimed-field",
    "reasoning/no-think-tags-sent",
)
"""The rules for which a request as it was given to an SDK is enough besides."""
FAILURE_RULES: Final = ("error/[!bc]*",)
"""The rules on an error that a log holds: not `body-shape` and `code-and-param-types`, since it is an SDK's account."""
ALL_RULES: Final = ("[!e]*", *FAILURE_RULES)
"""All rules but those on the bodies of errors."""

_ROLES: Final = {
    "HumanMessage": "user",
    "human": "user",
    "AIMessage": "assistant",
    "ai": "assistant",
    "SystemMessage": "system",
    "system": "system",
    "ToolMessage": "tool",
    "tool": "tool",
}
"""LangChain's classes and types of messages."""
_NOTE: Final = (
    "holds messages instead of the bodies on the wire: only pairing, ids and history are checked, and nothing about"
    " reasoning, parameters, shapes, usage, streams and HTTP; record a HAR file or a cassette to check those"
)
NOTES: Final = (_NOTE,)
_SENT: Final = (
    "holds requests as they were given to an SDK, and no bodies of replies: nothing about the shapes of replies, usage,"
    " streams and HTTP is checked; record a HAR file or a cassette to check those"
)
SENT_NOTES: Final = (_SENT,)
_WIRES: Final = {
    "anthropic": "messages",
    "gcp.gemini": "gemini",
    "gcp.gen_ai": "gemini",
    "gcp.vertex_ai": "gemini",
    "google": "gemini",
    "vertexai": "gemini",
}
"""By the name of a provider in OpenTelemetry and the AI SDK: its wire, if that is not chat completions."""
_SDK: Final = "openai"
_MODEL: Final = re.compile(r"(?:openai/|ft:)?(?:gpt-[345]|chatgpt|codex|o[1-9])")
_REASONING: Final = ("reasoning_content", "reasoning", "reasoning_details")
_ITEMS: Final = ("_call", "_call_output", "reasoning")
"""How the types of items of Responses end that no message of another wire has."""

KIND: Final = "events"
"""The kind of an input that may be a part of a call; if so, its session names the call."""

_MAX_OPEN: Final = 1000
"""How many calls are held at once."""
_CUT: Final = f"records of more than {_MAX_OPEN} calls are mixed here, so this one may be incomplete"


class Rebuilt(NamedTuple):
    """A call that a log holds: its exchange, and what the log says of the provider, in its own words.

    `verbatim`: whether the request is as it was given to an SDK. `failed`: whether it failed, as the log says.
    """

    exchange: Exchange
    provider: str = ""
    verbatim: bool = False
    failed: bool = False


def host_of(call: Rebuilt) -> str:
    """Return the provider of a call as its log names it; empty if that is only the SDK, which `openai` mostly is."""
    exchange = call.exchange
    if call.provider.lower() != _SDK:
        return call.provider
    is_own = f"{_SDK}.com" in exchange.url if exchange.url else _MODEL.match(exchange.model) is not None
    return call.provider if is_own else ""


def failed(call: Rebuilt, failure: LoggedFailure | None) -> Rebuilt:
    """Return a call with its failure, if it has one; a failed call has no other reply."""
    if failure is None:
        return call
    made = replace(call.exchange, response=failure.body, status=failure.status, url=call.exchange.url or failure.url)
    return call._replace(exchange=made, failed=True)


def with_request(made: Exchange, arguments: Mapping[str, Any]) -> Exchange:
    """Return an exchange with the arguments of an SDK's call as its request."""
    return replace(made, request=dict(arguments))


def sent(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an SDK's call, if its messages are as an API takes them; else an empty object."""
    messages = arguments.get("messages")
    listed = messages if isinstance(messages, list) else []
    plain = bool(listed) and all(isinstance(item, Mapping) and isinstance(item.get("role"), str) for item in listed)
    return dict(arguments) if plain else {}


def wire_of(provider: str) -> str:
    """Return the wire that a provider speaks, by the name that a log gives it; chat completions if it is not known."""
    return _WIRES.get(provider.lower(), CHAT)


def on_wire(made: Exchange, provider: str, wire: str = "") -> Exchange:
    """Return an exchange of chat completions on the wire that its provider speaks: logs hold neutral messages."""
    protocol = wires.by_name(wire or wire_of(provider))
    if protocol.name == CHAT:
        return made
    request = protocol.write(made.request)
    response = None if made.response is None else protocol.writing.reply(made.response, request)
    return replace(made, request=request, response=response)


def exchange(
    messages: Sequence[JSON], replies: Sequence[JSON], model: str, *, url: str = "", date: str = ""
) -> Exchange:
    """Return the exchange of messages and of the replies to them, one for each choice."""
    choices = [{"index": number, "message": reply} for number, reply in enumerate(replies)]
    response = {"object": "chat.completion", "choices": choices} if choices else None
    request = {"model": model, "messages": list(messages)}
    return Exchange.of_plain(request, response, url=url, model=model, date=date)


def native(given: JSON, got: JSON, model: str, *, date: str = "") -> Exchange | None:
    """Return the exchange of another wire from what a log holds of it; None if the request is not on that wire.

    A request may be a whole body or only its list of messages, items or contents, in which a system prompt may stand
    first; a reply may be a whole body, its list of items, or one of them.
    """
    body: Mapping[str, JSON] = given if isinstance(given, Mapping) else _body(given, got)
    request: dict[str, JSON] = {"model": model, **body}
    protocol = wires.of(Exchange.of_plain(request=request))
    if not body or protocol.name == CHAT:
        return None
    response = got
    if not isinstance(got, Mapping) or not protocol.is_reply(dict(got)):
        response = _reply(got, protocol.name)
    return Exchange.of_plain(request, response, model=model, date=date)


def _body(given: JSON, got: JSON) -> dict[str, JSON]:
    """Return a body with a list, under the key that its items, or those of the reply, show."""
    if not isinstance(given, list):
        return {}
    listed = [item for item in given if isinstance(item, Mapping)]
    if any("parts" in item for item in listed):
        return {"contents": [item for item in given if as_object(item).get("role") != "system"]}
    replied = [as_object(item) for item in (got if isinstance(got, list) else [got])]
    if any("role" not in item and str(item.get("type")).endswith(_ITEMS) for item in (*listed, *replied)):
        return {"input": given}
    return {"messages": [item for item in given if as_object(item).get("role") != "system"]}


def _reply(got: JSON, wire: str) -> JSON:
    """Return the reply of a wire, of which a log holds only the items or the message; None if it holds neither."""
    if wire == "responses" and got and not isinstance(got, str):
        return {"object": "response", "output": got if isinstance(got, list) else [got]}
    if wire == "messages" and isinstance(got, Mapping) and isinstance(got.get("content"), list):
        return {"type": "message", **got}
    return None


def embedded(value: Any, name: str, file: str) -> JSON:
    """Return a value that a log holds as JSON text; raises InvalidDocument if that text is damaged, as by a limit."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        result: JSON = value
        return result
    try:
        return parse_json(value, file)
    except InvalidDocument as error:
        message = f"expected JSON in {name}, which a limit on its length may have cut; {error.message}"
        raise InvalidDocument(message, file) from None


def call(identifier: Any, name: Any, arguments: Any) -> dict[str, JSON]:
    """Return a tool call; arguments that were logged as a value become JSON text again."""
    text = arguments if isinstance(arguments, str) else orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode()
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": text}}


def message(role: str, texts: Sequence[str], calls: Sequence[JSON], reasoning: str = "") -> dict[str, JSON]:
    """Return a message; empty texts are the same as none, since tools log them either way."""
    found = [text for text in texts if text]
    content: JSON = [{"type": "text", "text": text} for text in found]
    if len(found) < 2:
        content = found[0] if found else None
    thinking: dict[str, JSON] = {"reasoning_content": reasoning} if reasoning else {}
    return {"role": role, "content": content, **thinking, **({"tool_calls": list(calls)} if calls else {})}


def result(identifier: Any, content: Any) -> dict[str, JSON]:
    """Return the message with the result of a call."""
    text = content if isinstance(content, str) else orjson.dumps(content).decode()
    return {"role": "tool", "tool_call_id": identifier, "content": text}


def logged(recorded: Any) -> list[JSON]:
    """Return the messages in a log's list, alone, in choices, or in the nested lists of LangChain."""
    if isinstance(recorded, list):
        return [found for item in recorded for found in logged(item)]
    if not isinstance(recorded, Mapping):
        return []
    inner = recorded.get("message")
    if isinstance(inner, Mapping):
        return logged(inner)
    if isinstance(recorded.get("kwargs"), Mapping):
        names = recorded.get("id")
        name = str(names[-1]) if isinstance(names, list) and names else ""
        return [_plain({**recorded["kwargs"], "role": _ROLES.get(name.removesuffix("Chunk"), "")})]
    role = recorded.get("role") or _ROLES.get(str(recorded.get("type")))
    return [_plain({**recorded, "role": role})] if role and "content" in recorded else []


def _plain(given: Mapping[str, Any]) -> dict[str, JSON]:
    """Return a message with role, content, reasoning, calls and the id of the call that it answers, and no more."""
    calls = given.get("tool_calls")
    made = [_logged_call(item) for item in calls if isinstance(item, Mapping)] if isinstance(calls, list) else []
    if given["role"] == "tool":
        return result(given.get("tool_call_id"), given.get("content"))
    content = given.get("content") or None
    thinking = {name: given[name] for name in _REASONING if given.get(name)}
    return {"role": given["role"], "content": content, **thinking, **({"tool_calls": made} if made else {})}


def _logged_call(given: Mapping[str, Any]) -> JSON:
    function = given.get("function")
    if isinstance(function, Mapping):
        return call(given.get("id"), function.get("name"), function.get("arguments"))
    return call(given.get("id"), given.get("name"), given.get("args"))


def is_part(found: Input) -> bool:
    """Return whether an input may be a part of a call, of which others follow."""
    return found.kind == KIND and bool(found.session)


class CallJoiner:
    """Joins the parts of calls; those of concurrent calls may come in any order."""

    def __init__(self) -> None:
        self._open: dict[str, list[Input]] = {}
        self._replied: dict[str, None] = {}
        self._sizes: dict[str, int] = {}
        self._size = 0

    def add(self, part: Input, size: int = 0) -> Iterator[Input]:
        """Add a part of so many bytes, and yield the calls that are complete: another one goes on after their reply."""
        call = part.session
        for ended in [each for each in self._replied if each != call]:
            yield self._close(ended)
        self._open.setdefault(call, []).append(part)
        self._sizes[call] = self._sizes.get(call, 0) + size
        self._size += size
        if part.conversation[0].response is not None:
            self._replied[call] = None
        while len(self._open) > _MAX_OPEN or (self._size > BOUNDS.bytes and self._open):
            oldest = self._close(next(iter(self._open)))
            yield oldest._replace(notes=(*oldest.notes, _CUT))

    def close(self) -> Iterator[Input]:
        """Yield the calls that are left."""
        for call in list(self._open):
            yield self._close(call)

    def _close(self, call: str) -> Input:
        found = self._open.pop(call)
        self._size -= self._sizes.pop(call)
        self._replied.pop(call, None)
        exchanges = [exchange for part in found for exchange in part.conversation]
        messages = [message for each in exchanges for message in each.request["messages"]]
        replies = [choice["message"] for each in exchanges if each.response for choice in each.response["choices"]]
        date = next((each.date for each in exchanges if each.date), "")
        return found[0]._replace(conversation=(exchange(messages, replies, "", date=date),), session="")
