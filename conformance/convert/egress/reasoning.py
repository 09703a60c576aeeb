"""Reasoning as the provider reads it: on which messages, under which field, in which form."""

from collections.abc import Mapping
from typing import Any, Final

from conformance.convert.egress.notes import Demands, Draft
from conformance.wire.reasoning import ALL_KEYS, FIELDS, PARTS, TEXT_KEYS, has_field, prepend_reasoning, reasoning_text
from conformance.wire.text import content_text

_CANONICAL: Final = frozenset({"reasoning_content", "reasoning", "reasoning_details", "thinking-parts"})
_STRUCTURED: Final = frozenset({"reasoning_details", "thinking_blocks", "extra_content"})
_MADE: Final = ("thinking_blocks", "reasoning_details")
_EMPTY: Final = "reasoning.empty-on-tool-turn"
_READ: Final = "reasoning.request-field"
_EARLIER: Final = "reasoning.on-earlier-tool-turn"
_FOR_NONE: Final = " "
"""The shortest text that a provider does not take for none."""


def request_fields(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields under which a provider reads reasoning back; none where it refuses them or reads none.

    Where nobody knows what is read, what the provider itself sends is the best guess, as far as the canonical wire
    has it, and then the canonical field.
    """
    return tuple([field for field in _named(claims) if not _refuses(claims, field)])


def with_reasoning(message: Mapping[str, Any], field: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with the reasoning of a canonical one under a field; as it is where that has none to give."""
    details, words = source.get("reasoning_details"), _text(source)
    if field == "reasoning_details":
        return {**message, field: details} if details is not None else dict(message)
    if field == "thinking_blocks":
        blocks = [_block(detail) for detail in details or _in_clear(words)]
        return {**message, field: blocks} if blocks else dict(message)
    if field == "extra_content":
        return {**message, field: source[field]} if field in source else dict(message)
    if words is None:
        return dict(message)
    if field in TEXT_KEYS:
        return {**message, field: words}
    return {**message, "content": prepend_reasoning(message.get("content"), words, field)}


def unfolded(message: dict[str, Any]) -> dict[str, Any]:
    """Return an assistant message whose thinking parts stand beside the content, as the canonical text."""
    content = message.get("content")
    thought = "".join([reasoning_text(message, field) for field in PARTS]) if isinstance(content, list) else ""
    if not isinstance(content, list) or not thought:
        return message
    rest = [part for part in content if part.get("type") not in PARTS.values()]
    is_text = all(part.get("type") == "text" for part in rest)
    result = {**message, "content": content_text(rest) if is_text else rest}
    return result if _text(message) is not None else {**result, "reasoning_content": thought}


def reasoned(draft: Draft, demands: Demands, *, current: bool) -> None:
    """Let an assistant message carry its reasoning where and how the provider wants it.

    `current` says that no user message comes after it.
    """
    source = dict(draft.message)
    message = unfolded(source)
    bare = {key: value for key, value in message.items() if key not in ALL_KEYS}
    why = _left_out(draft, demands, current=current)
    fields = () if why else request_fields(demands.claims)
    sent, field = _filled(bare, source, fields, demands)
    why = why or ((f"sent as {field}", _READ) if field else _unread(fields, demands))
    claim = _omission(draft, demands, current=current)
    if claim and not field:
        sent = _with_stand_in(bare, fields, demands)
        demands.note((draft.origin,), "given reasoning that says nothing: it has none, and must have the field", claim)
    elif sent.get(field) == "" and demands.bites(_EMPTY):
        sent = _with_stand_in(bare, fields, demands)
        why = "sent as a space: without words it is taken for none", _EMPTY
    for key in (*ALL_KEYS, *(("content",) if message is not source else ())):
        if key in source and (key not in sent or sent[key] != source[key]):
            demands.note((draft.origin, key), *why)
    draft.message.clear()
    draft.message.update(sent)


def _left_out(draft: Draft, demands: Demands, *, current: bool) -> tuple[str, str] | None:
    """Return why a message goes without its reasoning, and the claim behind it; None where it goes with it."""
    if not draft.calls:
        is_demanded = demands.bites("reasoning.omitted-on-plain-turn")
        return None if is_demanded else ("left out: reasoning goes back with tool calls alone", "")
    if not current and demands.bites(_EARLIER):
        return "left out: a user message comes after it", _EARLIER
    return None


def _unread(fields: tuple[str, ...], demands: Demands) -> tuple[str, str]:
    """Return why no field of the provider takes the reasoning of a message, and the claim behind it."""
    if fields:
        return f"left out: it has no words for {' or '.join(fields)}", _READ
    refused = _named(demands.claims)
    return (
        ("left out: its field is refused", f"reasoning.input.{refused[0]}")
        if refused
        else ("left out: none is read", _READ)
    )


def _omission(draft: Draft, demands: Demands, *, current: bool) -> str:
    """Return the claim by which a message must carry reasoning, be it empty; empty where none asks for it.

    What stands in for none stays in later turns, so that a request says again what the one before said.
    """
    if demands.claims.get("thinking.mode") == "never" or _left_out(draft, demands, current=current):
        return ""
    kinds = ("tool-turn", "earlier-tool-turn") if draft.calls else ("plain-turn",)
    return next((name for kind in kinds if demands.bites(name := f"reasoning.omitted-on-{kind}")), "")


def _filled(
    bare: dict[str, Any], source: dict[str, Any], fields: tuple[str, ...], demands: Demands
) -> tuple[dict[str, Any], str]:
    """Return a message with reasoning under the first field that holds all of it, and that field.

    Blocks that are signed or encrypted go before text; blocks are made of text only where nothing else is read.
    """
    for field in fields:
        if field in PARTS and has_field(source, field):
            return {**bare, "content": source["content"]}, field
    words, details = _text(unfolded(source)), source.get("reasoning_details")
    flat = [each for each in fields if each in TEXT_KEYS or (each not in _STRUCTURED and words)]
    own = [each for each in fields if each in _STRUCTURED and (details or each in source)]
    base = {**bare, "reasoning_details": []} if details == [] and "reasoning_details" in fields else bare
    for field in (*own, *flat) if details else (*flat, *own):
        filled = with_reasoning(base, field, unfolded(source))
        if filled != bare:
            return filled, field
    made = [each for each in fields if each in _MADE] if words and not demands.bites("signature.omitted") else []
    return (with_reasoning(bare, made[0], {"reasoning_details": _in_clear(words)}), made[0]) if made else (bare, "")


def _with_stand_in(bare: dict[str, Any], fields: tuple[str, ...], demands: Demands) -> dict[str, Any]:
    """Return a message with reasoning that says nothing, in a form that the provider does not take for none."""
    words = _FOR_NONE if demands.bites(_EMPTY) else ""
    field = next((each for each in fields if each in TEXT_KEYS), next(iter(fields), TEXT_KEYS[0]))
    if field == "reasoning_details":
        return {**bare, field: _in_clear(words) if words else []}
    return with_reasoning(bare, field, {"reasoning_content": words or ("" if field in TEXT_KEYS else _FOR_NONE)})


def _named(claims: Mapping[str, Any]) -> list[str]:
    """Return the fields from which reasoning is read, as far as claims tell, refused or not."""
    claimed = claims.get(_READ, "reasoning_content")
    if claimed == "unknown":
        shown = claims.get("reasoning.response-field", "reasoning_content")
        listed = shown if isinstance(shown, list) else [shown]
        return [field for field in listed if field in _CANONICAL] or ["reasoning_content"]
    return [field for field in (claimed if isinstance(claimed, list) else [claimed]) if field in FIELDS]


def _refuses(claims: Mapping[str, Any], field: str) -> bool:
    return isinstance(claims.get(f"reasoning.input.{field}"), Mapping)


def _text(source: Mapping[str, Any]) -> str | None:
    """Return the readable text of a canonical message's reasoning; None where it has none."""
    flat = next((source[key] for key in TEXT_KEYS if isinstance(source.get(key), str)), None)
    return flat or reasoning_text(dict(source), "reasoning_details") or flat


def _in_clear(words: str | None) -> list[dict[str, str]]:
    return [] if words is None else [{"type": "reasoning.text", "text": words}]


def _block(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return the signed block that a reasoning detail stands for."""
    if detail.get("type") == "reasoning.encrypted":
        return {"type": "redacted_thinking", "data": detail.get("data")}
    signature = {"signature": detail["signature"]} if "signature" in detail else {}
    return {"type": "thinking", "thinking": detail.get("text", detail.get("summary", ""))} | signature
