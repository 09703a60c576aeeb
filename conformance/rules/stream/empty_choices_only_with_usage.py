from typing import Final

from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
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
_AFTER: Final = "stream.after-finish"
_FIRST_CHUNK: Final = "stream.empty-first-chunk"
_FIRST = {"/0/response/0/choices": [], "/0/response/1/choices/0/delta/role": "assistant"}


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.LOOP,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/streaming",
        'Can also be empty for the last chunk if you set `stream_options: {"include_usage": true}`',
    ),
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
    reads=(_AFTER, _FIRST_CHUNK),
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
        Fault("expected a choice or usage, got neither", at=anomaly.at, known=_claim(number, stream, context))
        for anomaly in found
        if not (stream.value.chunks[number := int(anomaly.at[0])] or {}).get("usage")
    ]


def _claim(number: int, stream: Streamed, context: Context) -> str:
    """Return the name of the claim that the provider sends such a chunk without a choice; empty if there is none."""
    if number == 0:
        return _FIRST_CHUNK if context.claim(_FIRST_CHUNK) is True else ""
    finished = stream.value.anomalies.get("finish", ())
    is_after = bool(finished) and int(finished[0].at[0]) < number
    return _AFTER if is_after and context.claims_any(_AFTER, "other") else ""
