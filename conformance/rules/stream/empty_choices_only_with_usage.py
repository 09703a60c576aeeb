from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_MODERATED = {
    "/0/response/5": {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000001,
        "model": "example-model",
        "choices": [],
        "moderation": {"flagged": False},
    },
    "/0/response/-": "data: [DONE]\n\n",
}
_FIRST = {"/0/response/0/choices": [], "/0/response/1/choices/0/delta/role": "assistant"}


@rule(
    Level.MUST,
    on=streams,
    source=Source("https://github.com/cline/cline/issues/8384"),
    bad=[
        example("stream-plain", {"/0/response/2/choices": []}),
        example("stream-plain", _FIRST),
        example("stream-plain", {"/0/response/2/choices": []}, {"stream.empty-first-chunk": True}),
    ],
    good=[
        example("stream-plain"),
        example("stream-plain", {"/0/response/4": REMOVE, "/0/request/stream_options": REMOVE}),
        example("stream-plain", _FIRST, {"stream.empty-first-chunk": True}),
        example("stream-plain", _MODERATED, {"stream.after-finish": ["usage", "other"]}),
    ],
    reads=("stream.after-finish", "stream.empty-first-chunk"),
)
def judge(stream: Streamed, context: Context) -> list[Fault]:
    """A chunk with empty choices has usage.

    Clients read `choices[0]` of every chunk without usage, and fail if there is none. To fix it, send annotations
    beside a choice with an empty delta, or claim the first chunk for a provider that documents it.
    """
    found = stream.value.anomalies.get("empty-choices", ())
    if not found:
        return []
    return [
        Fault("expected a choice or usage, got neither", at=anomaly.at)
        for anomaly in found
        if not _may_be_empty(int(anomaly.at[0]), stream, context)
    ]


def _may_be_empty(number: int, stream: Streamed, context: Context) -> bool:
    """Return whether a chunk has usage, or the provider is known to send it without a choice."""
    value = stream.value
    if (value.chunks[number] or {}).get("usage"):
        return True
    if number == 0:
        return context.claim("stream.empty-first-chunk") is True
    finished = value.anomalies.get("finish", ())
    return context.claims_any("stream.after-finish", "other") and bool(finished) and int(finished[0].at[0]) < number
