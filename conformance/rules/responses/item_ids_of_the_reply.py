from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wires.responses.views import SentItem, sent_items


@rule(
    Level.MUST,
    on=sent_items,
    reach=ELEMENT,
    where=lambda item, _context: bool(item.id) and item.origin is not None and bool(item.origin.value.get("id")),
    source=Source(
        "https://github.com/openclaw/openclaw/issues/72602",
        "Encrypted content item_id did not match the target item id.",
    ),
    bad=[
        example("responses-session", {"/1/request/input/1/id": "rs_new"}),
        example("responses-session", {"/1/request/input/2/id": "fc_new"}),
    ],
    good=[example("responses-session"), example("responses-stream")],
    claim="responses.invented-id",
    wires=("responses",),
)
def judge(item: SentItem, _context: Context) -> list[Fault]:
    """An item that is sent back has the id that the server gave it, or none.

    The encrypted content is bound to the id, and the server finds what belongs together by ids: an id that a client
    makes up breaks both. To fix it, store the id with the item, or leave it out.
    """
    given = None if item.origin is None else item.origin.value.get("id")
    if item.id == given:
        return []
    values = {"id": item.id, "index": item.number}
    return [Fault(f"expected the id {given!r}, as in the reply, or none, got {item.id!r}", at=("id",), values=values)]
