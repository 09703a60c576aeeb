from conformance.results import Level
from conformance.rules import TURN, Context, Fault, Source, example, rule
from conformance.wires.responses.kinds import CALLS
from conformance.wires.responses.views import SentItem, sent_items

_STORED = {"/0/request/store": True, "/1/request/store": True, "/0/response/store": True}
_REASONING = {"type": "reasoning", "id": "rs_01", "summary": [{"type": "summary_text", "text": "A greeting."}]}
_MESSAGE = {
    "type": "message",
    "id": "msg_00",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hello.", "annotations": []}],
}
_SAID = {**_STORED, "/0/response/output": [_REASONING, _MESSAGE]}
_FURTHER = {"role": "user", "content": "What is the weather in Paris?"}


def _is_bound(item: SentItem, _context: Context) -> bool:
    """Return whether the server holds the item together with the reasoning directly before it."""
    if not item.id or item.kind in (*CALLS, "reasoning", "item_reference") or item.origin is None:
        return False
    return item.origin.stored and item.origin.led_to_by is not None


@rule(
    Level.MUST,
    on=sent_items,
    reach=TURN,
    where=_is_bound,
    source=Source(
        "https://github.com/vercel/ai/blob/main/packages/openai/src/responses/convert-to-openai-responses-input.ts",
        "of type 'message' was provided without its required 'reasoning' item",
    ),
    bad=[example("responses-session", {**_SAID, "/1/request/input": [_MESSAGE, _FURTHER]})],
    good=[
        example("responses-session", {**_SAID, "/1/request/input": [_REASONING, _MESSAGE, _FURTHER]}),
    ],
    claim="responses.message-without-reasoning",
    wires=("responses",),
)
def judge(item: SentItem, _context: Context) -> list[Fault]:
    """A message or a hosted call that is sent with its item id has its reasoning item before it.

    The server keeps the reply, finds the pair by the ids, and rejects one without the other. To fix it, send the
    reasoning item before it, or send the message without its `id`.
    """
    if item.lacks is None:
        return []
    reasoning = item.lacks.get("id")
    values = {"id": item.id, "kind": item.kind, "other": reasoning, "index": item.number}
    return [Fault(f"expected the reasoning item {reasoning!r} before this {item.kind}, got none", values=values)]
