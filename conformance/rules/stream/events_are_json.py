"""Rule: events hold JSON objects."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


@rule(
    Level.MUST,
    on=streams,
    source=Source("https://platform.openai.com/docs/api-reference/chat/streaming"),
    bad=[
        example("stream-plain", {"/0/response/2": "data: {'usage': None}\n\n"}),
        example("stream-plain", {"/0/response/2": "data: ping\n\n"}),
        example("stream-plain", {"/0/response/2": "data: [1]\n\n"}),
    ],
    good=[example("stream-plain"), example("stream-plain", {"/0/response/2": ": ping\n\n"})],
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """Every event of a stream but the last holds a JSON object.

    One event that does not parse makes most clients throw away the whole reply. To fix it, send what keeps the
    connection alive as a comment (`: ping`), and errors as JSON.
    """
    facts = stream.value.facts
    faults = []
    if "bad-json" in facts:
        faults += [Fault(f"expected a JSON object, got {fact.detail}", at=fact.at) for fact in facts["bad-json"]]
    if "not-an-object" in facts:
        whole = [fact for fact in facts["not-an-object"] if len(fact.at) == 1]
        faults += [Fault(f"expected a JSON object, got {fact.detail}", at=fact.at) for fact in whole]
    return faults
