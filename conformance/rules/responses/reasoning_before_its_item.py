from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import TURN, Context, Fault, Source, example, rule
from conformance.wires.responses.kinds import CALLS, kind_of
from conformance.wires.responses.views import SentItem, sent_items


@rule(
    Level.MUST,
    on=sent_items,
    reach=TURN,
    where=lambda item, _context: item.kind == "reasoning" and bool(item.id),
    source=Source(
        "https://github.com/vercel/ai/issues/7099",
        "of type 'reasoning' was provided without its required following item.",
    ),
    bad=[
        example(
            "responses-request",
            {"/0/request/input/4": REMOVE, "/0/request/input/3": REMOVE, "/0/request/input/2": REMOVE},
        ),
    ],
    good=[example("responses-request"), example("responses-session")],
    claim="responses.reasoning-alone",
    wires=("responses",),
)
def judge(item: SentItem, _context: Context) -> list[Fault]:
    """A reasoning item is followed by the item that it led to.

    An aborted call, a cut through a turn or a handoff leaves the reasoning alone, and the server rejects it. To fix it,
    keep or drop a reasoning item together with the calls or the message that follow it in the reply.
    """
    following = item.following
    kind = kind_of(following) if following is not None else "nothing"
    if following is not None and _is_output(following, kind):
        return []
    values = {"id": item.id, "index": item.number}
    return [
        Fault(f"expected a call or a message of the assistant after this reasoning item, got {kind}", values=values)
    ]


def _is_output(item: object, kind: str) -> bool:
    """Return whether an item is one that a reply has; a reference may be any."""
    role = item.get("role") if isinstance(item, dict) else None
    others = ("reasoning", "item_reference", "tool_search_output")
    return kind in (*CALLS, *others) or kind.endswith("_call") or role == "assistant"
