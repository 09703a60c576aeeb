from collections import Counter

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests
from conformance.wire.values import objects


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, _context: any(_ids(request)),
    source=Source("https://github.com/vercel/ai/issues/7883", "Duplicate item found with id"),
    bad=[
        example("responses-session", {"/1/request/input/3/id": "fc_01"}),
        example(
            "responses-request",
            {"/0/request/input/-": {"type": "item_reference", "id": "msg_01"}, "/0/request/store": True},
        ),
    ],
    good=[example("responses-session"), example("responses-request")],
    claim="responses.duplicate-item",
    wires=("responses",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """Every item of an input has an id of its own.

    A client that stores a reply twice, or sends an item beside a reference to it, is rejected. To fix it, append each
    item of a reply once, and send nothing that the server holds already.
    """
    counts = Counter(_ids(request).values())
    return [
        Fault(
            f"expected the id {identity!r} once, got it {counts[identity]} times",
            at=("input", position, "id"),
            values={"id": identity, "index": position},
        )
        for position, identity in _repeated(_ids(request))
    ]


def _ids(request: NativeBody) -> dict[int, str]:
    """Return the ids of items by position; the output of a local shell has that of its call."""
    listed = [each for each in objects(request.value.get("input")) if each[1].get("type") != "local_shell_call_output"]
    return {position: item["id"] for position, item in listed if type(item.get("id")) is str and item["id"]}


def _repeated(ids: dict[int, str]) -> list[tuple[int, str]]:
    """Return the ids that an earlier item has already."""
    known: set[str] = set()
    found = []
    for position, identity in ids.items():
        if identity in known:
            found.append((position, identity))
        known.add(identity)
    return found
