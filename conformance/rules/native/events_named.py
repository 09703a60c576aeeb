from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, streams

_HEADERS = {"content-type": "text/event-stream"}
_MESSAGE = (
    '{"id":"msg_01","type":"message","role":"assistant","model":"example-model","content":[],'
    '"usage":{"input_tokens":1}}'
)
_NAMED = f"""\
event: message_start
data: {{"type":"message_start","message":{_MESSAGE}}}

event: message_delta
data: {{"type":"message_delta","delta":{{"stop_reason":"max_tokens"}},"usage":{{"output_tokens":1}}}}

event: message_stop
data: {{"type":"message_stop"}}

"""


def _has_names(_stream: NativeBody, context: Context) -> bool:
    """Return whether the stream is as it came over HTTP: files that list the events have no names for them."""
    return context.exchange.headers.get("content-type", "").startswith("text/event-stream")


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.FORM,
    where=_has_names,
    source=Source(
        "https://platform.claude.com/docs/en/build-with-claude/streaming",
        "Each event uses an SSE event name (for example, `event: message_stop`)",
    ),
    bad=[
        example("messages-stream", {"/0/headers": _HEADERS}),
        example("responses-stream", {"/0/headers": _HEADERS}),
    ],
    good=[example("messages-stream", {"/0/headers": _HEADERS, "/0/response": _NAMED})],
    wires=("messages", "responses"),
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """Each event of a stream has its name in a line `event: …` before its data.

    The SDKs of Anthropic drop an event whose name they do not know, and so every event without one; some clients of
    Responses do, too. To fix it, write the `type` of the event as its name.
    """
    number = stream.place[0]
    nameless = [at for at, event in enumerate(stream.value) if not event.name]
    if not nameless:
        return []
    level = Level.MUST if stream.native.protocol == "messages" else Level.SHOULD
    message = f"expected a name for each event, got none for {len(nameless)} of {len(stream.value)}"
    return [Fault(message, place=(number, "response", nameless[0]), level=level)]
