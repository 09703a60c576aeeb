"""Histories as agent frameworks keep them: messages in models of their own, read by the names that these share.

Frameworks name the same things differently: who speaks, a call with its id, its name and its arguments, and the result
of a call. A list is a history if an item has a key or a type that no wire has; what it holds is then found by name,
wherever it stands in a message. That is enough for pairing, ids and order.

Source: `ModelMessage` of pydantic_ai/messages.py, `message_to_dict` of langchain_core/messages/base.py, `UIMessage` and
`ModelMessage` of packages/ai/src in github.com/vercel/ai, llama_index/core/base/llms/types.py, `ChatMessageContent` of
github.com/microsoft/semantic-kernel, `AIContent` of github.com/dotnet/extensions, autogen_core/models/_types.py,
haystack/dataclasses/chat_message.py, `ChatMessageJsonCodec` of github.com/langchain4j/langchain4j,
genkit's `MessageSchema`, `Message` of Bedrock's Converse API, and core/index.d.ts of github.com/continuedev/continue
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents import JSON
from conformance.formats import rebuilt
from conformance.formats.inputs import Input
from conformance.formats.records import as_object, as_text
from conformance.wire.exchange import Exchange

KIND: Final = "history"
NOTES: Final = (*rebuilt.NOTES, "places count the messages as chat completions have them")

_MARKS: Final = frozenset(
    {
        "$type",
        "block_type",
        "content_type",
        "function_response",
        "lc",
        "part_kind",
        "toolCallId",
        "toolCalls",
        "toolExecutionRequests",
        "toolInvocation",
        "toolInvocations",
        "toolRequest",
        "toolResponse",
        "toolResult",
        "toolUse",
        "toolRequests",
        "toolUseID",
        "tool_call_ids",
        "tool_call",
        "tool_call_result",
        "_role",
    }
)
"""Keys that messages of frameworks have, and those of no wire."""
_ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("user", "human", "humanmessage", "usermessage", "request"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "aimessage", "aimessagechunk", "assistantmessage"), "assistant"),
    **dict.fromkeys(("response", "toolcallrequestevent"), "assistant"),
    **dict.fromkeys(("system", "developer", "systemmessage"), "system"),
    **dict.fromkeys(("tool", "function", "toolmessage", "functionexecutionresultmessage"), "tool"),
    "user.message": "user",
    "assistant.message": "assistant",
    "tool.execution_complete": "tool",
    **dict.fromkeys(("tool_execution_result", "toolcallexecutionevent"), "tool"),
}
"""By what a framework calls a speaker, or the class or the type of a message."""
_OWN_TYPES: Final = frozenset(_ROLES) - {"user", "assistant", "system", "developer", "tool", "function", "model"}
_SPEAKERS: Final = ("role", "_role", "Role", "type", "kind")
_HOLDERS: Final = (
    "parts",
    "content",
    "_content",
    "contents",
    "blocks",
    "Items",
    "items",
    "tool_calls",
    "toolCalls",
    "toolInvocations",
    "toolInvocation",
    "toolExecutionRequests",
    "toolUse",
    "toolResult",
    "toolRequest",
    "toolRequests",
    "toolResponse",
    "tool_call",
    "tool_call_result",
    "function_call",
    "function_response",
    "additional_kwargs",
)
"""Where a message holds what it says, calls and results, in the order in which they come."""
_TEXTS: Final = ("text", "Text", "content")
_RESULT_IDS: Final = (
    "toolCallId",
    "tool_call_id",
    "tool_call_ids",
    "toolUseId",
    "toolUseID",
    "tool_use_id",
    "callId",
    "CallId",
    "call_id",
)
_IDS: Final = (*_RESULT_IDS, "id", "Id", "ref")
_NAMES: Final = ("toolName", "tool_name", "FunctionName", "function_name", "name")
_ARGUMENTS: Final = ("args", "arguments", "Arguments", "input", "rawInput")
_OUTPUTS: Final = ("run", "output", "result", "Result", "response", "errorText")
_TYPED: Final = "tool-"
"""What the type of a call in the AI SDK begins with; the name of the tool follows."""
_NO_TOOL: Final = frozenset({"tool-call", "tool-result", "tool-invocation", "tool-return", "tool-error"})
_THOUGHTS: Final = frozenset({"reasoning", "thinking", "thought", "reasoning-delta"})
_CONTENTS: Final = frozenset({"content", "parts", "type"})
_TYPES: Final = frozenset({"tool_call", "tool_call_response"})
"""The types of parts of OpenTelemetry's messages."""
_MAX_DEPTH: Final = 6


class _HistoryPiece(NamedTuple):
    """A text, thought, call or result: `id` and `name` of the call, and as `value` its arguments or its result."""

    kind: str
    value: Any
    id: str = ""
    name: str = ""


def canonical(items: Sequence[Any]) -> list[JSON]:
    """Return the messages of a history as those of chat completions; none if it is no history of a framework."""
    objects = [_opened(each) for each in items if isinstance(each, Mapping)]
    if not objects or len(objects) < len(items) or not all(map(_role, objects)):
        return []
    is_marked = any(as_text(each.get("type")).lower() in _OWN_TYPES or _has_mark(each, 0) for each in objects)
    # Dify has texts where every wire has contents or parts.
    has_texts = all(isinstance(each.get("text"), str) and _CONTENTS.isdisjoint(each) for each in objects)
    if not is_marked and not has_texts:
        return []
    names = _MissingIds()
    return [made for each in objects for made in _messages(each, names)]


def of_list(items: Sequence[Any], path: str, line: int | None) -> Input | None:
    """Return the input of a history; None if a list is none."""
    messages = canonical(items)
    if not messages:
        return None
    asked = Exchange.of_plain(request={"messages": messages})
    return Input(path, line, KIND, (asked,), notes=NOTES, rules=rebuilt.RULES)


def _opened(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message that a framework wraps, with what the wrapper says of it."""
    if isinstance(item.get("kwargs"), Mapping) and isinstance(item.get("id"), list) and item["id"]:
        return {"lc": 1, **item["kwargs"], "type": str(item["id"][-1])}
    for key in ("data", "message", "content"):
        inner = item.get(key)
        is_message = isinstance(inner, Mapping) and (_role(inner) or (key != "content" and _role({**item, **inner})))
        if isinstance(inner, Mapping) and is_message:
            return {**inner, "type": item.get("type", inner.get("type"))}
    return item


def _role(item: Mapping[str, Any]) -> str:
    """Return who speaks, as chat completions call it; empty if that is not known."""
    for key in _SPEAKERS:
        said = item.get(key)
        name = as_text(said) or as_text(as_object(said).get("Label")) or as_text(as_object(said).get("label"))
        if name.lower() in _ROLES:
            return _ROLES[name.lower()]
    return "user" if item.get("type") == "TextMessage" and item.get("source") == "user" else ""


def _has_mark(value: Any, depth: int) -> bool:
    """Return whether a message, or a part of it, has a key that no wire has."""
    if isinstance(value, list):
        return any(_has_mark(each, depth) for each in value)
    if not isinstance(value, Mapping) or depth > _MAX_DEPTH:
        return False
    is_marked = not _MARKS.isdisjoint(value) or as_text(value.get("type")) in _TYPES
    return is_marked or any(_has_mark(value.get(key), depth + 1) for key in _HOLDERS)


class _MissingIds:
    """Ids for calls that have none: results name the tool that they are of, the first one first."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[str]] = {}
        self._count = 0

    def of_call(self, name: str) -> str:
        self._count += 1
        made = f"call_{self._count}"
        self._waiting.setdefault(name, []).append(made)
        return made

    def of_result(self, name: str) -> str:
        waiting = self._waiting.get(name)
        return waiting.pop(0) if waiting else f"result of {name}"


def _messages(item: Mapping[str, Any], names: _MissingIds) -> Iterator[JSON]:
    """Yield the messages of an item: one may hold a whole turn, calls and results in their order."""
    role = _role(item)
    texts: list[str] = []
    calls: dict[str, JSON] = {}
    thought = ""
    results = 0
    for piece in _pieces(item, 0):
        if piece.kind == "result" or (piece.kind == "text" and role == "tool"):
            if calls:
                yield rebuilt.message("assistant", texts, list(calls.values()), thought)
                texts, calls, thought = [], {}, ""
            if piece.kind == "result":
                results += 1
                yield rebuilt.result(piece.id or names.of_result(piece.name), piece.value)
                continue
        if piece.kind == "text":
            texts.append(piece.value)
        elif piece.kind == "thought":
            thought += piece.value
        elif piece.id not in calls:
            # LangChain holds a call three times: as its own, as the host's, and as a part of the content.
            identifier = piece.id or names.of_call(piece.name)
            calls[identifier] = rebuilt.call(identifier, piece.name, piece.value)
    if role == "tool" and not results:
        found = next(filter(None, (_id_in(each) for each in (item, as_object(item.get("additional_kwargs"))))), "")
        yield rebuilt.result(found or names.of_result(as_text(item.get("name"))), "".join(texts))
    elif calls or (role != "tool" and (texts or not results)):
        yield rebuilt.message("assistant" if calls else role, texts, list(calls.values()), thought)


def _id_in(value: Mapping[str, Any]) -> str:
    found = [value.get(key) for key in _RESULT_IDS]
    # SWE-agent lists the ids of the calls that a message answers.
    return next(filter(None, (as_text(each[0] if isinstance(each, list) and each else each) for each in found)), "")


def _pieces(value: Any, depth: int) -> Iterator[_HistoryPiece]:
    """Yield what a message, or a part of it, holds."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for each in value:
            yield from _pieces(each, depth)
    elif isinstance(value, Mapping):
        if thought := _thought(value):
            yield _HistoryPiece("thought", thought)
            return
        call, result = _call(value), _result(value)
        if call is not None or result is not None:
            yield from [each for each in (call, result) if each is not None]
            return
        yield from [
            _HistoryPiece("text", value[key]) for key in _TEXTS if isinstance(value.get(key), str) and value[key]
        ]
        for key in _HOLDERS:
            if isinstance(value.get(key), (Mapping, list)):
                yield from _pieces(value[key], depth + 1)


def _thought(value: Mapping[str, Any]) -> str:
    """Return the text of a part that is reasoning; Converse nests it, and Gemini marks it."""
    nested = as_object(as_object(value.get("reasoningContent")).get("reasoningText"))
    kinds = {as_text(value.get(key)) for key in ("type", "part_kind", "block_type", "content_type")}
    if nested or value.get("thought") is True or not _THOUGHTS.isdisjoint(kinds):
        said = (as_text((nested or value).get(key)) for key in ("text", "thinking", "reasoning", "content"))
        return next(filter(None, said), "")
    return as_text(as_object(value.get("additional_kwargs")).get("reasoning_content")) if "role" not in value else ""


def _call(value: Mapping[str, Any]) -> _HistoryPiece | None:
    function = as_object(value.get("function"))
    given = next((value[key] for key in _ARGUMENTS if key in value), function.get("arguments"))
    name = _name(value) or as_text(function.get("name"))
    if given is None or not name:
        return None
    return _HistoryPiece("call", given, next(filter(None, (as_text(value.get(key)) for key in _IDS)), ""), name)


def _name(value: Mapping[str, Any]) -> str:
    """Return the name of a tool; the AI SDK has it in the type of a part."""
    kind = as_text(value.get("type"))
    typed = kind.removeprefix(_TYPED) if kind.startswith(_TYPED) and kind not in _NO_TOOL else ""
    return next(filter(None, (as_text(value.get(key)) for key in _NAMES)), typed)


def _result(value: Mapping[str, Any]) -> _HistoryPiece | None:
    origin = as_object(value.get("origin"))
    identifier = _id_in(value) or as_text(origin.get("id"))
    name = _name(value) or as_text(origin.get("tool_name"))
    output = next((value[key] for key in _OUTPUTS if value.get(key) is not None), None)
    if output is not None and (identifier or name or as_text(value.get("type")) in _TYPES):
        loose = next(filter(None, (as_text(value.get(key)) for key in _IDS)), "")
        return _HistoryPiece("result", output, identifier or loose, name)
    is_call = any(key in value for key in _ARGUMENTS)
    said = next((value[key] for key in ("content", "text") if value.get(key) is not None), None)
    if said is not None and not is_call and (identifier or (name and "toolName" in value)):
        return _HistoryPiece("result", said, identifier or as_text(value.get("id")), name)
    return None
