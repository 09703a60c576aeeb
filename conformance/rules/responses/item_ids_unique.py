from collections import Counter
from operator import itemgetter
from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, in_messages, requests
from conformance.wire.values import as_object, as_word


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: bool(_ids(context)),
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
def judge(_request: NativeBody, context: Context) -> list[Fault]:
    """Every item of an input has an id of its own.

    A client that stores a reply twice, or sends an item beside a reference to it, is rejected. To fix it, append each
    item of a reply once, and send nothing that the server holds already.
    """
    found = _ids(context)
    if len(set(map(itemgetter(1), found))) == len(found):
        return []
    counts = Counter([identity for _, identity in found])
    known: set[str] = set()
    faults = []
    for position, identity in found:
        if identity in known:
            text = f"expected the id {identity!r} once, got it {counts[identity]} times"
            values = {"id": identity, "index": position}
            faults.append(Fault(text, at=("input", position, "id"), values=values))
        known.add(identity)
    return faults


def _ids(context: Context) -> list[tuple[int, str]]:
    """Return the ids of items by position."""
    return in_messages(context.index, context.number, _id)


def _id(item: Any) -> str:
    """Return the id of an item, empty if it has none; the output of a local shell has that of its call."""
    return "" if as_object(item).get("type") == "local_shell_call_output" else as_word(as_object(item).get("id"))
