from collections.abc import Mapping
from typing import Final

from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wires.responses.views import SentItem, sent_items

_PREFIXES: Final[Mapping[str, str]] = {
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "reasoning": "rs",
    "message": "msg",
    "web_search_call": "ws",
}


@rule(
    Level.SHOULD,
    on=sent_items,
    reach=ELEMENT,
    where=lambda item, _context: bool(item.id) and item.kind in _PREFIXES and item.origin is None,
    source=Source("https://github.com/earendil-works/pi/issues/10257", "Expected an ID that begins with"),
    bad=[
        example("responses-request", {"/0/request/input/2/id": "call_a"}),
        example("responses-request", {"/0/request/input/4/id": "chatcmpl-1"}),
    ],
    good=[example("responses-request")],
    claim="responses.foreign-id",
    wires=("responses",),
)
def judge(item: SentItem, _context: Context) -> list[Fault]:
    """The id of an item begins as its kind requires, such as `fc` for a call and `rs` for reasoning.

    Ids of another host, or a `call_id` in the place of the `id`, are rejected by their beginning. Ids that this server
    gave are not looked at. To fix it, leave `id` out when a history comes from elsewhere.
    """
    prefix = _PREFIXES[item.kind]
    if item.id.startswith(prefix):
        return []
    values = {"id": item.id, "index": item.number, "value": prefix}
    return [Fault(f"expected an id that begins with {prefix!r}, got {item.id!r}", at=("id",), values=values)]
