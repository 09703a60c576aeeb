from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT
from conformance.wire.plain import is_foreign
from conformance.wire.views import answers

_ASKING = "enerateContent"


def _is_reply(answer: Body, _context: Context) -> bool:
    """Return whether an answer is a reply as received; one that was recorded without its status may be made up."""
    exchange, value = answer.exchange, answer.value
    if type(exchange.request) is not dict or exchange.status != 200:
        return False
    if exchange.native is not None and exchange.native.protocol == "gemini" and _ASKING not in exchange.url:
        # On Gemini the URL alone asks, and a file may lack it.
        return False
    return "error" not in value if type(value) is dict else exchange.streamed and not is_foreign(value)


def _is_stream(exchange: Exchange) -> bool:
    """Return whether the body is a stream; one of Gemini can be a list of its events."""
    return exchange.streamed if exchange.native is None else type(exchange.native.response) in (str, list)


@rule(
    Level.MUST,
    on=answers,
    where=_is_reply,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "If set to true, the model response data will be streamed to the client as it is generated using "
        "server-sent events.",
    ),
    bad=[
        example("plain", {"/0/request/stream": True}),
        example("stream-plain", {"/0/request/stream": False}),
        example("responses-stream", {"/0/request/stream": False}),
        example("gemini-stream", {"/0/url": "https://api.example.com/v1beta/models/m:generateContent"}),
    ],
    good=[
        example("plain"),
        example("stream-plain"),
        example("plain", {"/0/request/stream": False}),
        example("responses-stream"),
    ],
    reads=("stream.default",),
    wires=(CHAT, "responses", "gemini"),
)
def judge(answer: Body, context: Context) -> list[Fault]:
    """A reply is an event stream if the request asks for one, and a single body otherwise.

    Clients choose their parser by what they requested. On Gemini the URL asks, on Messages it does at some hosts.
    To fix it, obey `stream`; if a model cannot stream, send the whole reply as one chunk.
    """
    exchange = answer.exchange
    switch = exchange.request.get("stream")
    asked = switch is True or (switch is None and context.claim("stream.default") is True)
    is_stream = _is_stream(exchange)
    if asked is is_stream:
        return []
    forms = ("a single body", "an event stream")
    return [Fault(f"expected {forms[asked]}, got {forms[is_stream]}")]
