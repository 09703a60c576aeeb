"""The deviations of probes about items of Responses: their ids, and what a server finds by them.

Chat completions have no such ids. A call carries the one of its item as `item_id`, which only that wire is sent.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from conformance.suite.history import Inapplicable, last_results, results_of, tool_turns
from conformance.wire.exchange import Conversation
from conformance.wires.responses import NAME
from conformance.wires.values import objects

_INVENTED: Final = "rs_{number:048}"


class Request(Protocol):
    """What a change gets: the messages to change, and the exchanges before."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Return the messages, which are changed in place."""

    @property
    def before(self) -> Conversation:
        """Return the exchanges that led to the request."""


def _item_ids(request: Request) -> None:
    """Send every call with the id that its item had in the reply."""
    ids = _ids(request)
    for turn in tool_turns(request.messages):
        for call in turn["tool_calls"]:
            if call.get("id") in ids:
                call["item_id"] = ids[call["id"]]


def _ids(request: Request) -> Mapping[str, str]:
    """Return the ids of the items of all calls, by their call ids; raises Inapplicable on any other wire."""
    natives = [exchange.native for exchange in request.before if exchange.protocol == NAME]
    if not natives:
        raise Inapplicable
    return {
        item["call_id"]: item["id"]
        for native in natives
        for _, item in objects(((native and native.reply) or {}).get("output"))
        if type(item.get("call_id")) is str and type(item.get("id")) is str
    }


def _calls_dropped(request: Request) -> None:
    """Drop the calls of the last tool turn, and their results, and keep the reasoning that led to them."""
    _ids(request)
    last_results(request.messages)
    turn = tool_turns(request.messages)[-1]
    if not turn.get("reasoning_details"):
        raise Inapplicable
    dropped = results_of(request.messages, turn)
    request.messages[:] = [each for each in request.messages if not any(each is result for result in dropped)]
    del turn["tool_calls"]


def _reasoning_ids_invented(request: Request) -> None:
    """Give every encrypted detail an id that the provider did not give it."""
    _ids(request)
    for number, detail in enumerate(_encrypted(request)):
        detail["id"] = _INVENTED.format(number=number)


def _reasoning_by_id(request: Request) -> None:
    """Send encrypted details by their ids alone, though nothing is stored."""
    _ids(request)
    for detail in _encrypted(request):
        del detail["data"]


def _encrypted(request: Request) -> list[dict[str, Any]]:
    return [
        detail
        for turn in tool_turns(request.messages)
        for detail in turn.get("reasoning_details", ())
        if "data" in detail and "id" in detail
    ]


CHANGES: Final[Mapping[str, Callable[..., None]]] = {
    "item-ids": _item_ids,
    "calls-dropped": _calls_dropped,
    "reasoning-ids-invented": _reasoning_ids_invented,
    "reasoning-by-id": _reasoning_by_id,
}
