"""What an id is that stands where the id of a call belongs: of an item, a message or a reply, or a function's name."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.rules.context import Context
from conformance.wire.elements import Result
from conformance.wire.values import as_object, objects
from conformance.wires.responses.kinds import kind_of
from conformance.wires.responses.pairing import needs_output

_PREFIXES: Final = {
    "fc_": "the id of an item, not the call_id of a call",
    "ctc_": "the id of an item, not the call_id of a call",
    "rs_": "the id of a reasoning item",
    "msg_": "the id of a message",
    "resp_": "the id of a reply",
    "chatcmpl-": "the id of a reply",
}


def described(result: Result, context: Context) -> str:
    """Return what the id of a result is instead of that of a call, after a comma; empty if nothing is known of it."""
    given = result.id
    if type(given) is not str or not given:
        return ""
    for item in _items(context):
        if item.get("id") == given and item.get("call_id") not in (None, given):
            return f", the item id of the call {item['call_id']!r}, not its call_id"
    for turn in context.turns:
        for call in turn.calls if turn.number < result.number else ():
            if call.name == given:
                return f", the name of the function of the call {call.id!r}"
    return next((f", {what}" for prefix, what in _PREFIXES.items() if given.startswith(prefix)), "")


def answers_hosted_call(result: Result, context: Context) -> bool:
    """Return whether a result answers the call of a shell or another tool of Responses that is not a function."""
    return any([item.get("call_id") == result.id and needs_output(kind_of(item), item) for item in _items(context)])


def _items(context: Context) -> Iterator[Mapping[str, Any]]:
    """Yield the items of Responses that the requests so far and the replies to them hold."""
    for exchange in context.index.conversation:
        native = exchange.native
        if native is not None and native.protocol == "responses":
            for listed in (as_object(native.request).get("input"), (native.reply or {}).get("output")):
                yield from [item for _, item in objects(listed)]
        if exchange is context.exchange:
            return
