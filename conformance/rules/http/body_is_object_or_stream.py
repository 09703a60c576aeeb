from typing import Any

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.exchange import CUT, Exchange
from conformance.wire.plain import body_in_words, is_foreign
from conformance.wire.views import answers


def _is_success(answer: Body, _context: Context) -> bool:
    """Return whether a reply claims success; one that arrived incomplete is not the sender's idea of a body."""
    exchange = answer.exchange
    return 200 <= (exchange.status or 200) < 300 and CUT not in exchange.headers


@rule(
    Level.MUST,
    on=answers,
    where=_is_success,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/chat_completion.py",
        quote="Represents a chat completion response returned by model",
    ),
    bad=[
        example("plain", {"/0/response": "<html>Sign in</html>", "/0/headers/content-type": "text/html"}),
        example("plain", {"/0/response": '{"id": "chatcmpl-1", "choi'}),
        example("plain", {"/0/response": 5}),
        example("stream-plain", {"/0/response": "<html>Sign in</html>"}),
        example("messages-session", {"/0/response": "<html>Sign in</html>"}),
    ],
    good=[example("plain"), example("stream-plain"), example("messages-session"), example("responses-stream")],
    wires=EVERY,
)
def judge(answer: Body, _context: Context) -> list[Fault]:
    """The body of a successful reply is a JSON object or an event stream.

    SDKs fail with an error of their parser, or return a string as if it were an object; the status says that all is
    well, so nothing is tried again. A login page, a gateway's notice and a body that was cut look like that. To fix it,
    send the completion, or an error with a status of 400 or more.
    """
    exchange = answer.exchange
    native = exchange.native
    # What could be translated was an object or a stream.
    value = answer.value if native is None or exchange.response is not None else native.response
    if type(value) is dict or _is_stream(value, exchange):
        return []
    expected = "the text of an event stream" if _is_stream_asked(exchange) else "a JSON object"
    return [Fault(f"expected {expected}, got {body_in_words(value)}")]


def _is_stream(value: Any, exchange: Exchange) -> bool:
    """Return whether a body is a stream; so is an empty one that was announced: other rules say what it lacks."""
    if type(value) is not str or is_foreign(value):
        return False
    return exchange.streamed if exchange.native is None else bool(value.strip())


def _is_stream_asked(exchange: Exchange) -> bool:
    return exchange.streamed or (type(exchange.request) is dict and exchange.request.get("stream") is True)
