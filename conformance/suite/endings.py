"""Why a conversation cannot go on after a reply, in words: each cause has its own, and one cause is named.

A model may call no tool. That is said only of a reply that holds no trace of a call: what looks like one was damaged on
the way.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance.markup.detection import find_leaks
from conformance.markup.layers import layer_of
from conformance.markup.reading import ReadCall, read_calls
from conformance.markup.signs import CALL, REMAINS
from conformance.rules.leaks import title_of
from conformance.wire.arguments import read_json
from conformance.wire.elements import Reply
from conformance.wire.exchange import Exchange
from conformance.wire.reasoning import KEYS, TEXT_KEYS
from conformance.wire.values import as_object, as_word, objects
from conformance.wires import by_name
from conformance.wires.messages import NAME as MESSAGES


class Cause(NamedTuple):
    """Why a reply cannot be followed by the next turn.

    `by_model`: as a model, a limit or a filter may end one. `calls`: those that can be read in its text.
    """

    words: str
    by_model: bool = False
    calls: tuple[ReadCall, ...] = ()


_LIMIT: Final = Cause("the token limit cut the reply", by_model=True)
_FILTER: Final = Cause("a content filter ended the reply", by_model=True)
_REFUSAL: Final = Cause("the model refused", by_model=True)
_PAUSE: Final = Cause("the server paused the turn and waits to be asked again", by_model=True)
_UNREAD: Final = Cause("the provider could not read the call that its model wrote")
_FAILED: Final = Cause("the reply says that it failed")
NO_CALL: Final = Cause("the model called no tool", by_model=True)

ENDINGS: Final[Mapping[str, Cause]] = {
    "length": _LIMIT,
    "max_tokens": _LIMIT,
    "MAX_TOKENS": _LIMIT,
    "max_output_tokens": _LIMIT,
    "model_length": _LIMIT,
    "model_context_window_exceeded": _LIMIT,
    "content_filter": _FILTER,
    "sensitive": _FILTER,
    "SAFETY": _FILTER,
    "RECITATION": _FILTER,
    "LANGUAGE": _FILTER,
    "BLOCKLIST": _FILTER,
    "PROHIBITED_CONTENT": _FILTER,
    "SPII": _FILTER,
    "IMAGE_SAFETY": _FILTER,
    "IMAGE_PROHIBITED_CONTENT": _FILTER,
    "IMAGE_RECITATION": _FILTER,
    "refusal": _REFUSAL,
    "pause_turn": _PAUSE,
    "MALFORMED_FUNCTION_CALL": _UNREAD,
    "UNEXPECTED_TOOL_CALL": _UNREAD,
    "TOO_MANY_TOOL_CALLS": _UNREAD,
    "MISSING_THOUGHT_SIGNATURE": _UNREAD,
    "MALFORMED_RESPONSE": _FAILED,
    "OTHER": _FAILED,
    "error": _FAILED,
    "failed": _FAILED,
    "cancelled": _FAILED,
    "incomplete": Cause("the reply says that it is incomplete, and not why"),
    "insufficient_system_resource": _FAILED,
    "network_error": _FAILED,
}
"""What the values mean that say on any wire why a reply ended; a value that is not here ends nothing.

Sources: https://platform.openai.com/docs/api-reference/chat/object,
https://platform.openai.com/docs/api-reference/responses/object,
https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons,
https://ai.google.dev/api/generate-content#FinishReason, https://api-docs.deepseek.com/api/create-chat-completion,
https://docs.z.ai/api-reference/llm/chat-completion
"""

_NUMBERED: Final = {2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION", 5: "OTHER", 10: "MALFORMED_FUNCTION_CALL"}
"""The numbers of Gemini's finish reasons, which some SDKs write; 1 is STOP."""

_FUNCTIONS: Final = ("function", "", None)
_WITH_CALLS: Final = ("tool_calls", "tool_use", "function_call")
_CODE: Final = "executableCode"
_HOSTED: Final = ("server_tool_use", "mcp_tool_use", _CODE)
_CALL_PARTS: Final = ("tool_use", "tool_call", "tool_calls", "function_call", "toolCall", "functionCall")
"""The types of content parts that are calls on some wire, and their keys."""


def cause_of_end(exchange: Exchange, reply: Reply, *, calls_expected: bool) -> Cause | None:
    """Return why the next turn cannot follow a reply; None if it can.

    `calls_expected`: whether the next turn is about results of calls, or about what the user says.
    """
    key, value = _ended(exchange, reply)
    said = _said_ending(exchange, key, value)
    for found in (said, _cut(exchange, reply, key), _refused(reply), *_broken_calls(exchange, reply)):
        if found is not None:
            return found
    if bool(reply.calls) is calls_expected:
        return _without_content(reply)
    if reply.calls:
        names = ", ".join(dict.fromkeys([str(call.name) for call in reply.calls]))
        return Cause(f"the model called a tool ({names})", by_model=True)
    traces = _traces(exchange, reply)
    if value in _WITH_CALLS:
        said = Cause(f"the reply says that it ended with a call, but holds none ({key}: {value})")
    return next(traces, None) or said or _without_content(reply) or _no_call(reply, key, value)


def _ended(exchange: Exchange, reply: Reply) -> tuple[str, Any]:
    """Return the member that says why a reply ended, by its name on the reply's own wire, and its value."""
    native = exchange.native
    if native is None or native.reply is None:
        return "finish_reason", reply.finish_reason
    return by_name(native.protocol).ended(native.reply)


def _said_ending(exchange: Exchange, key: str, value: Any) -> Cause | None:
    """Return what a reply itself says of its end, if that is not the end of a turn."""
    if key.endswith("blockReason"):
        return Cause(f"a content filter blocked the prompt ({key}: {value})", by_model=True)
    found = ENDINGS.get(_NUMBERED.get(value, "") if type(value) is int else as_word(value))
    if found is None:
        return None
    native = exchange.native
    error = as_object(as_object(native.reply).get("error")).get("message") if native is not None else None
    return found._replace(words=f"{found.words} ({key}: {value})" + (f": {error}" if error else ""))


def _cut(exchange: Exchange, reply: Reply, key: str) -> Cause | None:
    """Return that a reply did not arrive whole."""
    if reply.complete:
        return None
    if reply.streamed or (exchange.native is not None and exchange.native.events):
        return Cause("the stream of the reply did not come to its end")
    return Cause(f"the reply does not say why it ended: it has no {key}")


def _refused(reply: Reply) -> Cause | None:
    refusal = reply.message.get("refusal")
    if not refusal or reply.calls:
        return None
    return _REFUSAL._replace(words=f"{_REFUSAL.words} (refusal: {refusal!r:.60})")


def _broken_calls(exchange: Exchange, reply: Reply) -> Iterator[Cause]:
    """Yield what is wrong with the calls of a reply, so that no client can run them."""
    given = reply.message.get("tool_calls")
    if given is not None and type(given) is not list:
        yield Cause(f"tool_calls is {_kind(given)}, not a list")
    for number, call in enumerate(given if type(given) is list else ()):
        function = as_object(as_object(call).get("function"))
        name, arguments = function.get("name"), function.get("arguments")
        if (kind := as_object(call).get("type")) not in _FUNCTIONS:
            yield Cause(f"call {number} is of the type {kind!r:.40}, not function")
        elif not (isinstance(name, str) and name):
            yield Cause(f"call {number} does not name its function: the name is {name!r:.40}")
        elif isinstance(arguments, str) and arguments.strip() and not _is_json(arguments):
            yield Cause(f"{_argument_member(exchange)} of the call {name} cannot be read as JSON: {arguments!r:.80}")


def _argument_member(exchange: Exchange) -> str:
    """Return what holds the arguments of a call on the wire of an exchange."""
    if exchange.protocol != MESSAGES:
        return "the arguments"
    return "the partial_json" if exchange.native is not None and exchange.native.events else "the input"


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except (ValueError, RecursionError):
        return False
    return True


def _without_content(reply: Reply) -> Cause | None:
    """Return that a reply holds nothing that a conversation could go on with."""
    message = reply.message
    if reply.calls or message.get("content") or message.get("refusal") or message.get("audio"):
        return None
    if any([message.get(key) for key in KEYS]):
        return Cause("the reply holds only reasoning: no text and no call", by_model=True)
    return Cause("the reply is empty: it holds no text, no reasoning and no call")


def _traces(exchange: Exchange, reply: Reply) -> Iterator[Cause]:
    """Yield the traces of a call in a reply that has none where calls belong."""
    message = reply.message
    if legacy := message.get("function_call"):
        yield Cause(f"the call {as_object(legacy).get('name')} is in the legacy function_call, not in tool_calls")
    for place, part in _parts(message):
        kind = next((each for each in _CALL_PARTS if part.get("type") == each or each in part), None)
        if kind is not None:
            yield Cause(f"the call is a part of {place} ({kind}), not in tool_calls")
    if hosted := _hosted(exchange):
        yield Cause(f"the model called a tool that the server runs ({hosted})", by_model=True)
    declared = [as_object(tool.get("function")).get("name") for _, tool in objects((reply.request or {}).get("tools"))]
    names = tuple([str(each) for each in declared if each])
    for place, text in _texts(message):
        leak = next((each for each in find_leaks(text, names) if each.kind in (CALL, REMAINS)), None)
        name = next((each for each in names if _is_called(each, text)), None)
        if leak is not None:
            written = f"{leak.marker!r:.60}, the markup of {title_of(leak, exchange.model)}"
            words = f"the call was left as markup in {place} ({written}): {layer_of(leak, exchange.model)}"
            yield Cause(words, calls=read_calls(text, names))
        elif name is not None:
            yield Cause(f"the call {name} was left as text in {place}", calls=read_calls(text, names))


def _no_call(reply: Reply, key: str, value: Any) -> Cause:
    """Return that the model called no tool, with what is odd in its reply."""
    if value is None:
        return Cause(f"{NO_CALL.words}, and the reply does not say why it ended: it has no {key}")
    for field in TEXT_KEYS:
        if isinstance(reply.message.get(field), (list, dict)):
            return Cause(f"{NO_CALL.words}, and {field} is {_kind(reply.message[field])}, not text")
    return NO_CALL


def _parts(message: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the parts of a content or a reasoning that is a list or an object, with the name of its member."""
    for key in ("content", *KEYS):
        value = message.get(key)
        for _, part in objects([value] if isinstance(value, dict) else value):
            yield key, part


def _texts(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a message with the names of their members, however deep they stand there."""
    for key in ("content", *KEYS):
        found = "\n".join(_strings(message.get(key)))
        if found:
            yield ("the content" if key == "content" else f"the reasoning ({key})"), found


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _strings(each)


def _is_called(name: str, text: str) -> bool:
    """Return whether a text calls a tool: by its name directly before its arguments, or as JSON with both."""
    if re.search(rf'"name"\s*:\s*"{re.escape(name)}"\s*,\s*"(?:arguments|parameters|input|args)"', text):
        return True
    return (
        re.search(rf"\b{re.escape(name)}\b(?::\d+)?[^\w\s]{{0,20}}\s*(?:\{{|\(\s*[\w\"']+\s*[=:)])", text) is not None
    )


def _hosted(exchange: Exchange) -> str:
    """Return the first block or item of a reply that is a call which the server runs; empty if there is none."""
    reply = as_object(exchange.native.reply) if exchange.native is not None else {}
    _, candidate = next(objects(reply.get("candidates")), (0, {}))
    parts = as_object(candidate.get("content")).get("parts")
    for given in (reply.get("content"), reply.get("output"), parts):
        for _, each in objects(given):
            kind = _CODE if _CODE in each else as_word(each.get("type"))
            if kind in _HOSTED or (kind.endswith("_call") and kind != "function_call"):
                return kind
    return ""


def _kind(value: Any) -> str:
    return {list: "a list", dict: "an object", str: "text", bool: "a boolean"}.get(type(value), "a number")
