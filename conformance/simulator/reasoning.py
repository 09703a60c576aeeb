"""Reasoning of simulated replies: in every field that claims can name, with its signatures."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from conformance import profiles
from conformance.simulator.reply_context import ReplyContext
from conformance.wire.reasoning import ALL_KEYS, FOREIGN, TEXT_KEYS, key_of, prepend_reasoning

_SIGNATURE: Final = r"[A-Za-z0-9+/]{37}[AQgw]=="
"""Base64 of whole bytes, since some SDKs decode it."""
_DETAIL_ID: Final = "rs_[0-9a-f]{32}"


def fields(context: ReplyContext) -> tuple[str, ...]:
    """Return the fields that hold the reasoning of this reply.

    If several fields are claimed, all fields beside `content` are filled; a field inside `content` is used alone.
    """
    claimed = _claimed(context)
    if claimed and _is_beside(claimed[0]):
        return tuple([field for field in claimed if _is_beside(field)])
    return tuple([field for field in claimed if field != "none"][:1]) if claimed[:1] != ("none",) else ()


def _is_beside(field: str) -> bool:
    """Return whether a field is a key beside the content."""
    return field in ALL_KEYS or field.startswith(FOREIGN)


def _claimed(context: ReplyContext) -> tuple[str, ...]:
    for switch in context.claim_values("reasoning.response-field-switches"):
        if profiles.matches(switch, context.request):
            field = switch["field"]
            return (field,) if isinstance(field, str) else tuple(field)
    return context.claim_values("reasoning.response-field") or ("reasoning_content",)


def with_reasoning(message: dict[str, Any], text: str, context: ReplyContext) -> dict[str, Any]:
    """Return a message with its reasoning in each of the claimed fields."""
    for field in fields(context):
        if field in TEXT_KEYS or field.startswith(FOREIGN):
            message |= {key_of(field): text}
        elif field == "reasoning_details":
            message |= {field: _details(text, context)}
        elif field == "thinking_blocks":
            message |= {field: [{"type": "thinking", "thinking": text} | _signed(context, "thinking_blocks")]}
        elif field == "extra_content":
            message |= {field: {"google": {"thought": True}}}
        else:
            message |= {"content": prepend_reasoning(message.get("content"), text, field)}
    return message


def without_reasoning(message: dict[str, Any], context: ReplyContext) -> dict[str, Any]:
    """Return a message without reasoning; its field is absent, null or empty, as claimed."""
    form = context.claim("reasoning.when-none", "absent")
    for field in fields(context) if form in ("null", "empty") else ():
        if field in TEXT_KEYS or field.startswith(FOREIGN):
            message |= {key_of(field): None if form == "null" else ""}
        elif field == "reasoning_details" and form == "empty":
            message |= {field: []}
    return message


def sign(message: dict[str, Any], context: ReplyContext) -> None:
    """Sign the calls of a message, or the message, if the provider signs outside of its reasoning."""
    path = str(context.claim("signature.field", ""))
    if path == "reasoning_opaque":
        if fields(context) and message.get(fields(context)[0]):
            message[path] = context.matching_text(_SIGNATURE, "signature")
        return
    if "extra_content" not in path:
        return
    signature = {"google": {"thought_signature": context.matching_text(_SIGNATURE, "signature")}}
    calls = message.get("tool_calls", [])
    if "tool_calls" not in path:
        google = message.get("extra_content", {}).get("google", {})
        message["extra_content"] = {"google": google | signature["google"]}
    elif calls:
        for call in calls if context.claim("signature.on", "first-call") == "every-call" else calls[:1]:
            call["extra_content"] = signature


def _details(text: str, context: ReplyContext) -> list[dict[str, Any]]:
    """Return the reasoning as details: one with readable text, and an encrypted one if the provider sends such.

    The encrypted one has an id if the profile claims something about unknown ids. With two passages, each half of the
    text has its own details.
    """
    types = context.claim_values("reasoning.details.types") or ("reasoning.text",)
    asks_at = context.claim("reasoning.details.summary-at", "")
    if asks_at and not profiles.matches({"at": asks_at}, context.request):
        types = tuple([kind for kind in types if kind != "reasoning.summary"])
    shown = "" if context.is_true("reasoning.details.text-empty") else text
    half = len(shown) // 2
    passages = {"": shown}
    if context.is_true("reasoning.details.twice"):
        passages = {"first": shown[:half], "second": shown[half:]}
    details = [detail for salt, passage in passages.items() for detail in _passage(passage, salt, types, context)]
    return [detail | _format_and_index(number, context) for number, detail in enumerate(details)]


def _passage(text: str, salt: str, types: Sequence[str], context: ReplyContext) -> Iterator[dict[str, Any]]:
    """Yield the details of one passage of reasoning; `salt` makes what is opaque differ from that of other passages."""
    readable = next((kind for kind in ("reasoning.text", "reasoning.summary") if kind in types), None)
    if readable is not None:
        detail = {"type": readable, readable.removeprefix("reasoning."): text}
        yield detail | _signed(context, "reasoning_details", salt)
    if "reasoning.encrypted" in types:
        known = (
            {"id": context.matching_text(_DETAIL_ID, f"{salt}detail")}
            if context.claim_values("reasoning.details.unknown-id")
            else {}
        )
        yield {"type": "reasoning.encrypted", "data": context.matching_text(_SIGNATURE, f"{salt}data")} | known


def _format_and_index(number: int, context: ReplyContext) -> dict[str, Any]:
    members: dict[str, Any] = {"format": context.claim("reasoning.details.formats", "unknown")}
    index = context.claim("reasoning.details.index", "unique")
    return members if index == "absent" else members | {"index": 0 if index == "repeated" else number}


def _signed(context: ReplyContext, field: str, salt: str = "") -> dict[str, str]:
    if field not in str(context.claim("signature.field", "")):
        return {}
    return {"signature": context.matching_text(_SIGNATURE, f"{salt}signature")}
