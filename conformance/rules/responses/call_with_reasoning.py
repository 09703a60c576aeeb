from conformance.results import Level
from conformance.rules import TURN, Context, Fault, Source, example, rule
from conformance.wires.responses.kinds import CALLS
from conformance.wires.responses.views import SentItem, sent_items

_REASONING = {
    "type": "reasoning",
    "id": "rs_01",
    "summary": [{"type": "summary_text", "text": "Two cities, two calls."}],
    "encrypted_content": "YmxvYi0x",
}
_CALL = {
    "type": "function_call",
    "id": "fc_01",
    "call_id": "call_a",
    "name": "get_weather",
    "arguments": '{"city": "Paris"}',
    "status": "completed",
}


def _is_led_to(item: SentItem, _context: Context) -> bool:
    """Return whether a call was led to by reasoning in its reply."""
    return item.kind in CALLS and bool(item.id) and item.origin is not None and item.origin.before is not None


@rule(
    Level.MUST,
    on=sent_items,
    reach=TURN,
    where=_is_led_to,
    source=Source(
        "https://github.com/cline/cline/issues/12242",
        "of type 'function_call' was provided without its required 'reasoning' item",
    ),
    bad=[example("responses-session", {"/1/request/input/1": _CALL, "/1/request/input/2": _REASONING})],
    good=[example("responses-session"), example("responses-stream")],
    claim="responses.call-without-reasoning",
    wires=("responses",),
)
def judge(item: SentItem, _context: Context) -> list[Fault]:
    """A call that is sent with its item id has its reasoning item before it.

    The server finds the pair by the ids and rejects one without the other; calls without an `id` pass, but then the
    model starts over without its reasoning. To fix it, send the items of a reply back as they came: the reasoning
    item, then its calls.
    """
    if item.lacks is None:
        return []
    reasoning = item.lacks.get("id")
    values = {"id": item.id, "kind": item.kind, "other": reasoning, "index": item.number}
    return [Fault(f"expected the reasoning item {reasoning!r} before this {item.kind}, got none", values=values)]
