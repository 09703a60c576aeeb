from conformance.results import Level
from conformance.rules import Claimed, Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_COUNT = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
_ZERO = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


@rule(
    Level.SHOULD,
    on=streams,
    where=lambda stream, _context: stream.value.usage is not None,
    when=lambda claimed: not _may_repeat(claimed),
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "All other chunks will also include a usage field, but with a null value.",
    ),
    bad=[example("stream-plain", {"/0/response/3/usage": _COUNT})],
    good=[
        example("stream-plain"),
        example("stream-plain", {"/0/response/1/usage": _ZERO}, {"stream.usage-elsewhere": ["zero", "null"]}),
    ],
    reads=("stream.usage", "stream.usage-elsewhere"),
)
def judge(stream: Streamed, context: Context) -> list[Fault]:
    """A stream reports its token count once.

    Clients that add up counts count twice if there are more, and running counts look like final ones. To fix it, send
    `usage` in the last chunk, and omit it or send null in all others.
    """
    found = stream.value.anomalies.get("usage", ())
    if len(found) <= 1:
        return []
    counts = [usage.at for usage in found if _is_count(stream, int(usage.at[0]), context)]
    if len(counts) <= 1:
        return []
    message = f"expected one token count, got {len(counts)}"
    return [Fault(message, place=(*stream.place, *counts[-1]))]


def _may_repeat(claimed: Claimed) -> bool:
    places = claimed.claim("stream.usage")
    return places in ("both", "every-chunk") or (type(places) is list and len(places) > 1)


def _is_count(stream: Streamed, number: int, context: Context) -> bool:
    """Return whether the usage of a chunk is a count, and not the zeros that the provider sends in other chunks."""
    usage = (stream.value.chunks[number] or {}).get("usage")
    return type(usage) is dict and (any(usage.values()) or not context.claims_any("stream.usage-elsewhere", "zero"))
