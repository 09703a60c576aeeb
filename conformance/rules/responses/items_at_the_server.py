from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.values import as_object
from conformance.wires.responses.views import SentItem, sent_items


def _is_reference(item: SentItem, _context: Context) -> bool:
    """Return whether an item holds nothing but an id, so that the server has to look it up."""
    if item.kind == "item_reference":
        return bool(item.id)
    empty = not item.value.get("encrypted_content") and not item.value.get("content")
    return item.kind == "reasoning" and empty and item.id.startswith("rs")


@rule(
    Level.MUST,
    on=sent_items,
    reach=ELEMENT,
    where=_is_reference,
    source=Source(
        "https://github.com/vercel/ai/issues/7543",
        "not found. Items are not persisted when `store` is set to false.",
    ),
    bad=[
        example("responses-session", {"/1/request/input/2": {"type": "item_reference", "id": "fc_01"}}),
        example("responses-request", {"/0/request/input/1/encrypted_content": None}),
    ],
    good=[
        example("responses-request", {"/0/request/input/1/encrypted_content": None, "/0/request/store": True}),
    ],
    claim="responses.item-not-stored",
    wires=("responses",),
)
def judge(item: SentItem, _context: Context) -> list[Fault]:
    """An item that is sent by its id alone is one that the server keeps.

    With `store: false` nothing is kept: an `item_reference`, or a reasoning item without its `encrypted_content`, names
    what does not exist. To fix it, send the whole item, with the encrypted content that
    `include: ["reasoning.encrypted_content"]` brings, or let the server store replies.
    """
    if item.origin is not None:
        is_kept = item.origin.stored
    else:
        is_kept = as_object(item.native.request).get("store") is not False
    if is_kept:
        return []
    values = {"id": item.id, "index": item.number}
    return [Fault(f"expected the whole item, as nothing is stored, got only the id {item.id!r}", values=values)]
