"""Conditions that several rules have in common, so that each is asked once for all of them (`among` of a rule)."""

from collections.abc import Mapping
from typing import Any

from conformance.rules.context import Context
from conformance.wire.elements import Body, Reply, Streamed
from conformance.wire.reasoning import ALL_KEYS, carried_fields, find_tagged, untagged_text
from conformance.wire.values import as_object, as_word, objects

_SERVER_CALLS = ("_call", "server_tool_use", "mcp_tool_use")
_REASONING = frozenset(ALL_KEYS)
_ANSWERS = ("refusal", "function_call", "audio", "images")
_DATA_PARTS = ("image_url", "output_image", "refusal", "file", "output_audio")
_TEXT_BLOCKS = ("text", "thinking", "redacted_thinking", "reasoning", "message")
_TEXT_KEYS = frozenset({"text", "thought", "thoughtSignature", "partMetadata"})
_CLIENT_CALLS = ("function_call", "custom_tool_call")


def body_as_sent(request: Body, context: Context) -> Mapping[str, Any]:
    """Return the body of a request on its own wire, whose parameters the claims name."""
    native = context.exchange.native
    body = request.value if native is None else native.request
    return body if type(body) is dict else {}


def has_answer(reply: Reply, context: Context) -> bool:
    """Return whether a reply has more than reasoning and blank text: a call, text, a refusal, data, a hosted tool."""
    message = reply.message
    if reply.calls or any([message.get(key) for key in _ANSWERS]):
        return True
    content = message.get("content")
    # Asked first of what is cheap: most replies have text.
    if type(content) is str and "think" not in content and "reasoning>" not in content and content.strip():
        return True
    tagged = find_tagged(content)
    if tagged is not None and not tagged.closed:
        # Of a tag that is never closed, a rule of its own says that it is in the content.
        return True
    if untagged_text(content).strip() or any([part.get("type") in _DATA_PARTS for _, part in objects(content)]):
        return True
    native = context.exchange.native
    return native is not None and native.reply is not None and _has_other_blocks(native.reply)


def _has_other_blocks(reply: Mapping[str, Any]) -> bool:
    """Return whether a native reply has what chat completions has no counterpart for, such as calls of hosted tools."""
    listed = [block for key in ("content", "output") for _, block in objects(reply.get(key))]
    if any([as_word(block.get("type")) not in _TEXT_BLOCKS for block in listed]):
        return True
    candidates = [as_object(each.get("content")) for _, each in objects(reply.get("candidates"))]
    parts = [part for content in candidates for _, part in objects(content.get("parts"))]
    return any([not _TEXT_KEYS.issuperset(part) for part in parts])


def has_headers(answer: Body, _context: Context) -> bool:
    """Return whether the headers of a reply are known."""
    return bool(answer.exchange.headers)


def reply_has_calls(reply: Reply, _context: Context) -> bool:
    """Return whether a reply has tool calls."""
    return bool(reply.calls)


def reply_has_finish_reason(reply: Reply, _context: Context) -> bool:
    """Return whether a reply says why it ends."""
    return type(reply.finish_reason) is str


def has_reasoning(reply: Reply) -> bool:
    """Return whether a reply carries reasoning that is not empty."""
    message = reply.message
    # Asked first of the keys alone: most messages have none of them.
    if not _REASONING.isdisjoint(message) and any([message.get(field) for field in _REASONING]):
        return True
    content = message.get("content")
    return find_tagged(content) is not None if type(content) is str else bool(carried_fields(message))


def reply_has_reasoning(reply: Reply, _context: Context) -> bool:
    """Return whether a reply carries reasoning."""
    return bool(carried_fields(reply.message))


def reply_to_tool_choice(reply: Reply, _context: Context) -> bool:
    """Return whether the request of a reply has a `tool_choice`."""
    return reply.request is not None and reply.request.get("tool_choice") is not None


def reply_can_obey(reply: Reply, context: Context, kind: str) -> bool:
    """Return whether a reply ended normally at a provider that is not known to ignore this kind of `tool_choice`."""
    ended = reply.complete and reply.finish_reason not in ("length", "content_filter")
    return ended and kind in context.claim("tools.choices-obeyed", (kind,))


def has_server_call(context: Context) -> bool:
    """Return whether a reply on a native wire calls a tool that the server runs, which counts as a call, too."""
    native = context.exchange.native
    if native is None or native.reply is None:
        return False
    blocks = [block for key in ("content", "output") for _, block in objects(native.reply.get(key))]
    kinds = [as_word(block.get("type")) for block in blocks]
    return any([kind.endswith(_SERVER_CALLS) and kind not in _CLIENT_CALLS for kind in kinds])


def request_has_tool_choice(request: Body, _context: Context) -> bool:
    """Return whether a request has a `tool_choice`."""
    return request.value.get("tool_choice") is not None


def request_has_turns(_request: Body, context: Context) -> bool:
    """Return whether a request has assistant messages with tool calls."""
    return context.has_turns


def request_thinks(_request: Body, context: Context) -> bool:
    """Return whether the model of a request is known to think."""
    return context.thinks is True


def stream_has_calls(stream: Streamed, _context: Context) -> bool:
    """Return whether a stream has tool calls."""
    return stream.has_calls


def stream_has_choices(stream: Streamed, _context: Context) -> bool:
    """Return whether a stream has choices."""
    return bool(stream.value.choices)


def stream_has_finish(stream: Streamed, _context: Context) -> bool:
    """Return whether a stream says why it ends."""
    return "finish" in stream.value.anomalies
