from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, described_by, example, rule
from conformance.wire.elements import Streamed
from conformance.wire.views import streams


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.FORM,
    where=lambda stream, _context: stream.value.done,
    known_by=described_by("stream.after-done"),
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "with the stream terminated by a data: [DONE] message",
    ),
    bad=[
        example("stream-plain", {"/0/response/-": "data: [DONE]\n\n"}),
        example("stream-plain", {"/0/response/-": "data: cost 0.1\n\n"}),
    ],
    good=[example("stream-plain"), example("stream-plain", {"/0/response/-": ": bye\n\n"})],
    reads=("stream.after-done",),
)
def judge(stream: Streamed, _context: Context) -> list[Fault]:
    """No event follows `data: [DONE]`.

    Clients close the connection there, so what follows is lost, and a second marker may end the next reply on it.
    To fix it, send everything before the marker.
    """
    found = stream.value.anomalies.get("after-done", ())
    return [Fault(f"expected no event after data: [DONE], got {anomaly.detail}", at=anomaly.at) for anomaly in found]
