from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, described_by, example, rule
from conformance.rules.conditions import stream_has_choices
from conformance.wire.elements import Streamed
from conformance.wire.views import streams

_ROLE = "/0/response/0/choices/0/delta/role"


@rule(
    Level.SHOULD,
    on=streams,
    harm=Harm.FORM,
    among=stream_has_choices,
    known_by=described_by("stream.role", "absent"),
    source=Source(
        "https://github.com/archestra-ai/archestra/pull/866",
        "When OpenAI streams tool calls, the first chunk contains",
    ),
    bad=[
        example("stream-plain", {_ROLE: REMOVE}),
        example("stream-tool-calls", {_ROLE: None}),
        example("stream-plain", {_ROLE: REMOVE, "/0/response/1/choices/0/delta/role": "assistant"}),
    ],
    good=[
        example("stream-plain"),
        example("stream-plain", {"/0/response/1/choices/0/delta/role": "assistant"}),
        example("stream-plain", claims={"stream.role": "every"}),
    ],
    reads=("stream.role",),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """The first delta of each choice has the role.

    Clients that start a message at its role drop what comes before, or store a message without one. To fix it, send
    `"role": "assistant"` in the first delta.
    """
    found = stream.value.anomalies.get("role-missing", ())
    return [Fault(f"expected role 'assistant', got {_got(anomaly.detail)}", at=anomaly.at) for anomaly in found]


def _got(detail: str) -> str:
    return "none" if detail == "absent" else detail.removeprefix("got ")
