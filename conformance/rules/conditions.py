"""Conditions that several rules have in common, so that each is asked once for all of them (`among` of a rule)."""

from conformance.rules.context import Context
from conformance.wire.elements import Body, Reply, Streamed
from conformance.wire.reasoning import carried_fields


def has_headers(answer: Body, _context: Context) -> bool:
    """Return whether the headers of a reply are known."""
    return bool(answer.exchange.headers)


def reply_has_calls(reply: Reply, _context: Context) -> bool:
    """Return whether a reply has tool calls."""
    return bool(reply.calls)


def reply_has_finish_reason(reply: Reply, _context: Context) -> bool:
    """Return whether a reply says why it ends."""
    return type(reply.finish_reason) is str


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


def request_has_tool_choice(request: Body, _context: Context) -> bool:
    """Return whether a request has a `tool_choice`."""
    return request.value.get("tool_choice") is not None


def request_has_turns(_request: Body, context: Context) -> bool:
    """Return whether a request has assistant messages with tool calls."""
    return bool(context.turns)


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
