from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, streams
from conformance.wire.values import as_object


@rule(
    Level.MUST,
    on=streams,
    harm=Harm.FORM,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/responses/response.py",
        quote="Unique identifier for this Response",
    ),
    bad=[example("responses-stream", {"/0/response/21/response/id": "resp_other"})],
    good=[example("responses-stream")],
    wires=("responses",),
)
def judge(stream: NativeBody, _context: Context) -> list[Fault]:
    """All events of a stream that hold the response have the same id for it.

    Clients take it from the first event or from the last one, and name it in the next request or when they cancel; a
    second id is one that the server does not know. To fix it, make the id once.
    """
    ids = {
        at: as_object(as_object(event.value).get("response"))["id"]
        for at, event in enumerate(stream.value)
        if "id" in as_object(as_object(event.value).get("response"))
    }
    number, first = stream.place[0], next(iter(ids.values()), None)
    return [
        Fault(f"expected the id {first!r} as before, got {found!r}", place=(number, "response", at, "response", "id"))
        for at, found in ids.items()
        if found != first
    ]
