"""Rule: a stream counts its tokens once."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_COUNT = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
_ZERO = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


@rule(
    Level.SHOULD,
    on=streams,
    where=lambda stream, context: stream.value.usage is not None and not _is_claimed_more_often(context),
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "All other chunks will also include a usage field, but with a null value.",
    ),
    bad=[example("stream-plain", {"/0/response/3/usage": _COUNT})],
    good=[
        example("stream-plain"),
        example("stream-plain", {"/0/response/1/usage": _ZERO}, {"stream.usage-elsewhere": ["zero", "null"]}),
    ],
)
def judge(stream: Streamed, context: Context) -> list[Fault]:
    """A stream holds one token count.

    Clients that add up what they see count twice where there are more, and running counts look like final ones.
    To fix it, send `usage` on the last chunk and leave it out, or null, on all others.
    """
    found = stream.value.anomalies.get("usage", ())
    if len(found) <= 1:
        return []
    counts = [usage.at for usage in found if _is_count(stream, int(usage.at[0]), context)]
    if len(counts) <= 1:
        return []
    message = f"expected one token count, got {len(counts)}"
    return [Fault(message, place=(*stream.place, *counts[-1]))]


def _is_claimed_more_often(context: Context) -> bool:
    claimed = context.claim("stream.usage")
    return claimed in ("both", "every-chunk") or (type(claimed) is list and len(claimed) > 1)


def _is_count(stream: Streamed, number: int, context: Context) -> bool:
    """Say whether the usage of a chunk counts, or is the zeros that the profile claims of other chunks."""
    usage = (stream.value.chunks[number] or {}).get("usage")
    claimed = context.claim("stream.usage-elsewhere", ())
    zeros_are_claimed = "zero" in (claimed if type(claimed) is list else [claimed])
    return type(usage) is dict and not (zeros_are_claimed and not any(usage.values()))
