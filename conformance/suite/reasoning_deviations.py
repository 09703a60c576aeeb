"""The deviations of probes about reasoning: what is sent back of it, on which turns, in which field or item.

Only Responses has items with ids of their own. A call carries the id of its item as `item_id`, which is sent on that
wire alone; on any other wire, the deviations about items find nothing to change.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.convert import egress
from conformance.documents.pointer import copied
from conformance.suite.changed_requests import (
    ChangedRequest,
    Inapplicable,
    assistant_messages,
    last_results,
    results_of,
    tool_turns,
)
from conformance.wire.reasoning import ALL_KEYS, FOREIGN, PAIR, SIGNATURE_KEYS, foreign_keys, key_of
from conformance.wire.values import objects
from conformance.wires.responses import NAME as RESPONSES

_OTHER_WORDS: Final = " Or so it seems."
_INVENTED: Final = "rs_{number:048}"


def _absent(request: ChangedRequest, on: str = "tool") -> None:
    for message, _ in _turns(request, on):
        _strip(message, request)


def _empty(request: ChangedRequest, on: str = "tool") -> None:
    """Send back an empty string, or an empty list of details."""
    _write(request, on, {"reasoning_details": [], "thinking_blocks": []}, "")


def _null(request: ChangedRequest, on: str = "tool") -> None:
    _write(request, on, {}, None)


def _write(request: ChangedRequest, on: str, values: Mapping[str, Any], usual: Any) -> None:
    field = _field(request)
    if (field not in ALL_KEYS and not field.startswith(FOREIGN)) or field in SIGNATURE_KEYS:
        raise Inapplicable
    for message, _ in _turns(request, on):
        _strip(message, request)
        message[key_of(field)] = copied(values.get(field, usual))


def _altered(request: ChangedRequest, on: str = "tool") -> None:
    """Send back the reasoning with some words added."""
    for message, source in _turns(request, on):
        _strip(message, request)
        _fill(message, _field(request), _reworded(source))


def _exact(request: ChangedRequest, on: str = "tool") -> None:
    """Send back the reasoning unchanged, even where it would be omitted."""
    for message, source in _turns(request, on):
        _strip(message, request)
        _fill(message, _field(request), source)


def _under(request: ChangedRequest, field: str, on: str = "tool") -> None:
    """Send back the reasoning in another field only."""
    if field in egress.request_fields(request.claims)[:1]:
        raise Inapplicable
    for message, source in _turns(request, on):
        _strip(message, request)
        _fill(message, field, source)


def _both(request: ChangedRequest, on: str = "tool") -> None:
    """Send back the reasoning in both text fields."""
    for message, source in _turns(request, on):
        for field in PAIR:
            _fill(message, field, source)


def _details(edit: Callable[[list[Any]], None], least: int) -> Callable[[ChangedRequest], None]:
    """Return a change of the details of every turn with at least `least` of them."""

    def change(request: ChangedRequest) -> None:
        for message, _ in _turns(request, "tool"):
            details = message.get("reasoning_details")
            if isinstance(details, list) and len(details) >= least:
                edit(details)

    return change


def _edit(details: list[Any]) -> None:
    """Change the text of the last detail, or the data of an encrypted one."""
    detail = details[-1]
    key = next((key for key in ("data", "text", "summary") if isinstance(detail.get(key), str)), None)
    if key is not None:
        detail[key] = detail[key][::-1]


def _drop(details: list[Any]) -> None:
    del details[0]


def _signatures(edit: Callable[[dict[str, Any], str], None]) -> Callable[[ChangedRequest], None]:
    """Return a change of every signature in the history."""

    def change(request: ChangedRequest) -> None:
        for message, _ in _turns(request, "tool"):
            for holder, key in _signed(message):
                edit(holder, key)

    return change


def _signed(message: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    items = [*message.get("reasoning_details", ()), *message.get("thinking_blocks", ())]
    found = [(item, "signature") for item in items if isinstance(item, dict)]
    for holder in (message, *message.get("tool_calls", ())):
        google = holder.get("extra_content", {}).get("google", {})
        found.append((google, "thought_signature"))
    return [(holder, key) for holder, key in found if isinstance(holder.get(key), str)]


def _alter(holder: dict[str, Any], key: str) -> None:
    holder[key] = holder[key][::-1]


def _remove(holder: dict[str, Any], key: str) -> None:
    del holder[key]


def _item_ids(request: ChangedRequest) -> None:
    """Send every call with the id that its item had in the reply."""
    ids = _item_ids_of(request)
    for turn in tool_turns(request.messages):
        for call in turn["tool_calls"]:
            if call.get("id") in ids:
                call["item_id"] = ids[call["id"]]


def _item_ids_of(request: ChangedRequest) -> Mapping[str, str]:
    """Return the ids of the items of all calls, by their call ids; raises Inapplicable on any other wire."""
    natives = [exchange.native for exchange in request.before if exchange.protocol == RESPONSES]
    if not natives:
        raise Inapplicable
    return {
        item["call_id"]: item["id"]
        for native in natives
        for _, item in objects(((native and native.reply) or {}).get("output"))
        if type(item.get("call_id")) is str and type(item.get("id")) is str
    }


def _calls_dropped(request: ChangedRequest) -> None:
    """Drop the calls of the last tool turn, and their results, and keep the reasoning that led to them."""
    _item_ids_of(request)
    last_results(request.messages)
    turn = assistant_messages(request.messages, "tool")[-1]
    if not turn.get("reasoning_details"):
        raise Inapplicable
    dropped = results_of(request.messages, turn)
    request.messages[:] = [each for each in request.messages if not any(each is result for result in dropped)]
    del turn["tool_calls"]


def _reasoning_ids_invented(request: ChangedRequest) -> None:
    """Give every encrypted detail an id that the provider did not give it."""
    _item_ids_of(request)
    for number, detail in enumerate(_encrypted(request)):
        detail["id"] = _INVENTED.format(number=number)


def _reasoning_by_id(request: ChangedRequest) -> None:
    """Send encrypted details by their ids alone, though nothing is stored."""
    _item_ids_of(request)
    for detail in _encrypted(request):
        del detail["data"]


def _encrypted(request: ChangedRequest) -> list[dict[str, Any]]:
    return [
        detail
        for turn in tool_turns(request.messages)
        for detail in turn.get("reasoning_details", ())
        if "data" in detail and "id" in detail
    ]


CHANGES: Final[Mapping[str, Callable[..., None]]] = {
    "reasoning-absent": _absent,
    "reasoning-empty": _empty,
    "reasoning-null": _null,
    "reasoning-altered": _altered,
    "reasoning-exact": _exact,
    "reasoning-under": _under,
    "reasoning-under-both": _both,
    "details-reordered": _details(lambda details: details.reverse(), 2),
    "details-dropped": _details(_drop, 2),
    "details-edited": _details(_edit, 1),
    "details-duplicated": _details(lambda details: details.append(copied(details[-1])), 1),
    "signatures-dropped": _signatures(_remove),
    "signatures-altered": _signatures(_alter),
    "item-ids": _item_ids,
    "calls-dropped": _calls_dropped,
    "reasoning-ids-invented": _reasoning_ids_invented,
    "reasoning-by-id": _reasoning_by_id,
}


def _turns(request: ChangedRequest, on: str) -> list[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Return the assistant messages of a kind, each with its canonical message."""
    of = {id(message): source for message, source in zip(request.messages, request.transcript, strict=False)}
    return [(message, of[id(message)]) for message in assistant_messages(request.messages, on)]


def _field(request: ChangedRequest) -> str:
    fields = egress.request_fields(request.claims)
    return fields[0] if fields else "reasoning_content"


def _strip(message: dict[str, Any], request: ChangedRequest) -> None:
    """Remove the reasoning from a message, also from its content."""
    for key in (*ALL_KEYS, *foreign_keys(egress.request_fields(request.claims))):
        message.pop(key, None)
    if "content" in message:
        pairs = zip(request.messages, request.transcript, strict=False)
        source = next(source for each, source in pairs if each is message)
        message["content"] = message["content"] and source["content"]


def _fill(message: dict[str, Any], field: str, source: Mapping[str, Any]) -> None:
    filled = egress.with_reasoning(message, field, source)
    if filled == message:
        raise Inapplicable
    message.update(filled)


def _reworded(source: Mapping[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = copied(dict(source))
    if "reasoning_content" in changed:
        changed["reasoning_content"] += _OTHER_WORDS
    for detail in changed.get("reasoning_details", ()):
        for key in ("text", "summary"):
            if isinstance(detail.get(key), str):
                detail[key] += _OTHER_WORDS
    return changed
