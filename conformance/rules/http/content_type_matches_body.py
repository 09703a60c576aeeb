from typing import Any

from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import has_headers
from conformance.wire.elements import Body
from conformance.wire.exchange import Exchange
from conformance.wire.plain import is_event_stream
from conformance.wire.views import answers

_TYPE = "/0/headers/content-type"
_JSON = "application/json"
_STREAM = "text/event-stream"


@rule(
    Level.MUST,
    on=answers,
    harm=Harm.FORM,
    among=has_headers,
    # Nothing is wrong with the type of an empty body; other rules report that there is none.
    where=lambda answer, _context: "content-type" in answer.exchange.headers and _body(answer) != "",
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="streamed to the client as it is generated using [server-sent events]",
    ),
    bad=[
        example("plain", {_TYPE: "text/event-stream"}),
        example("stream-plain", {_TYPE: "application/json"}),
        example("error", {_TYPE: "text/plain"}),
        example("messages-stream", {"/0/headers": {"content-type": "application/json"}}),
        example("error", claims={"error.content-type": ["text/plain"]}),
    ],
    good=[
        example("plain", {_TYPE: "application/json; charset=utf-8"}),
        example("stream-plain", {_TYPE: "text/event-stream;charset=UTF-8"}),
        example("error", {_TYPE: "application/problem+json"}),
        example("error", {_TYPE: "application/octet-stream"}, {"error.content-type": ["application/octet-stream"]}),
        example("stream-plain", {_TYPE: "text/plain"}, {"stream.content-type": ["text/plain"]}),
    ],
    reads=("stream.content-type", "error.content-type"),
    wires=EVERY,
)
def judge(answer: Body, context: Context) -> list[Fault]:
    """The content type matches the body: JSON, or an event stream.

    SDKs choose the parser by it; with the wrong one they return a raw string or fail. To fix it, send
    `application/json` or `text/event-stream`; any other body, such as a proxy's error page, must not use these types.
    """
    exchange = answer.exchange
    value = _body(answer)
    got = exchange.headers["content-type"].partition(";")[0].strip().lower()
    if _is_stream(value, exchange):
        allowed = context.claim("stream.content-type") or (_STREAM,)
        is_right = got in allowed
    elif (exchange.status or 200) >= 400 and (allowed := context.claim("error.content-type")):
        is_right = got in allowed
    elif type(value) is str and not _is_json(value):
        allowed = ("of a text",)
        is_right = got not in (_JSON, _STREAM)
    else:
        allowed = (_JSON,)
        is_right = got == _JSON or got.endswith("+json")
    if is_right:
        return []
    place = (answer.place[0], "headers", "content-type")
    return [Fault(f"expected the content type {' or '.join(allowed)}, got {got or 'none'!r:.60}", place=place)]


def _body(answer: Body) -> Any:
    """Return the body as it came, on any wire."""
    native = answer.exchange.native
    return answer.value if native is None else native.response


def _is_stream(value: Any, exchange: Exchange) -> bool:
    """Return whether a body is an event stream; on Gemini a stream can be a JSON list."""
    if exchange.native is None:
        return exchange.streamed and not _is_json(value)
    return type(value) is str and is_event_stream(value)


def _is_json(value: Any) -> bool:
    """Return whether raw text looks like JSON: a body that is recorded as a stream may not be one."""
    return type(value) is str and value[:100].lstrip()[:1] in ("{", "[")
