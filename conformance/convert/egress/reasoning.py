"""Reasoning as the provider reads it: in which messages, in which field, in which form, with which signatures."""

from collections.abc import Mapping
from typing import Any, Final

from conformance.convert.egress.drafts import Demands, Outbound
from conformance.profiles import tolerates
from conformance.wire.reasoning import (
    ALL_KEYS,
    FIELDS,
    FOREIGN,
    PARTS,
    SIGNATURE_KEYS,
    TAGS,
    TEXT_KEYS,
    find_tagged,
    has_field,
    key_of,
    prepend_reasoning,
    reasoning_text,
)
from conformance.wire.text import content_text
from conformance.wires.gemini.parts import FORMAT

_CANONICAL: Final = frozenset({"reasoning_content", "reasoning", "reasoning_details", "thinking-parts"})
_STRUCTURED: Final = frozenset({"reasoning_details", "thinking_blocks", *SIGNATURE_KEYS})
_BLOCK_FIELDS: Final = ("thinking_blocks", "reasoning_details")
_BLOCK_TYPES: Final = ("reasoning.text", "reasoning.summary", "reasoning.encrypted")
_EMPTY: Final = "reasoning.empty-on-tool-turn"
_READ: Final = "reasoning.request-field"
_EARLIER: Final = "reasoning.on-earlier-tool-turn"
_NOTHING: Final[Mapping[str, Any]] = {}
_SPACE: Final = " "
"""The shortest text that a provider does not count as empty."""

_SIGNATURE_KEY: Final = "extra_content"
_SIGNATURE_FIELD: Final = "tool_calls/*/extra_content/google/thought_signature"


def request_fields(claims: Mapping[str, Any], contested: Mapping[str, Any] = _NOTHING) -> tuple[str, ...]:
    """Return the fields in which a provider reads reasoning; none if it rejects them or reads none.

    If the claim is unknown, the best guess is the field of the provider's own replies, if the canonical wire has it,
    or else the canonical field. A field that another source calls rejected is left out, unless it is the only one that
    is known to be read, and nothing says that the reasoning may be omitted.
    """
    fields = [field for field in _claimed_fields(claims) if not _rejects(claims, field)]
    safe = [field for field in fields if f"reasoning.input.{field}" not in contested]
    is_read = any(tolerates(claims.get(f"reasoning.input.{field}")) for field in fields)
    may_be_omitted = tolerates(claims.get("reasoning.omitted-on-tool-turn"))
    return tuple(fields if not safe and is_read and not may_be_omitted else safe)


def with_reasoning(message: Mapping[str, Any], field: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with the reasoning of a canonical message in a field; unchanged if that has none for it."""
    details, reasoning = source.get("reasoning_details"), _text(source)
    if field == "reasoning_details":
        return {**message, field: details} if details is not None else dict(message)
    if field == "thinking_blocks":
        given = details or _as_details(reasoning)
        blocks = [_block(detail) for detail in given if detail.get("type") in _BLOCK_TYPES]
        return {**message, field: blocks} if blocks else dict(message)
    if field in SIGNATURE_KEYS:
        return {**message, field: source[field]} if field in source else dict(message)
    if reasoning is None:
        return dict(message)
    if field in TEXT_KEYS or field.startswith(FOREIGN):
        return {**message, key_of(field): reasoning}
    return {**message, "content": prepend_reasoning(message.get("content"), reasoning, field)}


def without_thinking_parts(message: dict[str, Any]) -> dict[str, Any]:
    """Return an assistant message with its thinking parts moved from the content to the canonical field."""
    content = message.get("content")
    thinking = "".join([reasoning_text(message, field) for field in PARTS]) if isinstance(content, list) else ""
    if not isinstance(content, list) or not thinking:
        return message
    rest = [part for part in content if part.get("type") not in PARTS.values()]
    is_text = all(part.get("type") == "text" for part in rest)
    result = {**message, "content": content_text(rest) if is_text else rest}
    return result if _text(message) is not None else {**result, "reasoning_content": thinking}


def fix_reasoning(draft: Outbound, demands: Demands, *, current: bool) -> None:
    """Bring the reasoning of an assistant message into the field and form that the provider requires.

    `current`: no user message comes after it.
    """
    source = dict(draft.message)
    message = without_thinking_parts(source)
    bare = {key: value for key, value in message.items() if key not in ALL_KEYS}
    reason = _left_out(draft, demands, current=current)
    fields = () if reason else request_fields(demands.claims, demands.contested)
    keeps = not reason and _keeps_details(source, demands)
    sent, field = _with_details(bare, source, fields) if keeps else _filled(bare, source, fields, demands)
    reason = reason or _unread(fields, demands)
    claim = _omission(draft, demands, current=current)
    if claim and not field:
        sent = _with_placeholder(bare, fields, demands)
        needed = "is required" if demands.rejects_or_damages(claim) else "is required by one source"
        demands.note((draft.origin,), f"empty reasoning is added: it has none, and the field {needed}", claim)
    elif sent.get(field) == "" and demands.avoids(_EMPTY):
        sent = _with_placeholder(bare, fields, demands)
    for key in (*ALL_KEYS, *(("content",) if message is not source else ())):
        if key in source and (key not in sent or sent[key] != source[key]):
            demands.note((draft.origin, key), *(_fate(key, source, sent, field) if field else reason))
    draft.message.clear()
    draft.message.update(sent)


def fix_signatures(draft: Outbound, demands: Demands) -> None:
    """Leave out `extra_content` if it is rejected; add the claimed bypass if a required signature is missing.

    A signature of the provider's own that is held as a detail with the id of its call goes back beside that call.
    """
    calls = draft.calls
    for claim in ("request.unknown-call-field", "reasoning.input.extra_content"):
        for position, call in enumerate(calls):
            if _SIGNATURE_KEY in call and demands.avoids(claim):
                del call[_SIGNATURE_KEY]
                demands.note(
                    (draft.origin, "tool_calls", position, _SIGNATURE_KEY),
                    "left out: only the provider that sent it reads it",
                    claim,
                )
    if demands.claims.get("signature.field") != _SIGNATURE_FIELD:
        return
    own = _own_signatures(draft.message)
    for position, call in enumerate(calls):
        if not _signature(call) and call.get("id") in own:
            call[_SIGNATURE_KEY] = {"google": {"thought_signature": own[call["id"]]}}
            reason = "the signature is sent beside its call"
            demands.note((draft.origin, "tool_calls", position, _SIGNATURE_KEY), reason, "signature.field")
            _drop_detail(draft.message, call["id"])
    bypass = demands.claims.get("signature.bypass")
    if not isinstance(bypass, str) or bypass == "unknown":
        return
    signed = calls[:1] if demands.claims.get("signature.on") == "first-call" else calls
    for position, call in enumerate(signed):
        if demands.avoids("signature.omitted") and not _signature(call):
            call[_SIGNATURE_KEY] = {"google": {"thought_signature": bypass}}
            reason = "the bypass value is added: the call is from elsewhere and has no signature"
            demands.note((draft.origin, "tool_calls", position, _SIGNATURE_KEY), reason, "signature.bypass")


def _left_out(draft: Outbound, demands: Demands, *, current: bool) -> tuple[str, str] | None:
    """Return why a message is sent without its reasoning, and the claim behind it; None if it is sent with it."""
    if not draft.calls:
        is_required = demands.avoids("reasoning.omitted-on-plain-turn")
        return None if is_required else ("left out: reasoning is only sent with tool calls", "")
    if not current and demands.avoids(_EARLIER):
        return "left out: a user message comes after it", _EARLIER
    return None


def _unread(fields: tuple[str, ...], demands: Demands) -> tuple[str, str]:
    """Return why no field of the provider holds the reasoning of a message, and the claim behind it."""
    if fields:
        return f"left out: it has no text for {' or '.join(fields)}", _READ
    rejected = _claimed_fields(demands.claims)
    if rejected:
        return "left out: its field is rejected", f"reasoning.input.{rejected[0]}"
    return "left out: the provider reads none", _READ


def _fate(key: str, source: dict[str, Any], sent: dict[str, Any], field: str) -> tuple[str, str]:
    """Return what becomes of the reasoning under a key of a message whose reasoning is sent in a field."""
    if key in SIGNATURE_KEYS:
        return "left out: only the provider that sent it reads it", _READ
    given, carried = _readable(source, key), _readable(sent, field)
    items = source[key] if key in _BLOCK_FIELDS and isinstance(source[key], list) else []
    opaque = sum(1 for item in items if item.get("signature") or item.get("data"))
    if not given and not opaque:
        is_space = key in TEXT_KEYS and sent.get(field) == _SPACE
        return ("sent as a space: empty reasoning counts as none", _EMPTY) if is_space else ("left out: empty", _READ)
    if given and given not in carried:
        return f"left out: another reasoning is sent in {field}", _READ
    if not opaque or (field in _BLOCK_FIELDS and len(sent[field]) == len(items)):
        return f"sent as {field}", _READ
    if not given:
        return f"left out: {field} cannot hold encrypted reasoning", _READ
    return f"its text is sent as {field}, without signatures and encrypted blocks", _READ


def _readable(message: dict[str, Any], field: str) -> str:
    """Return the readable reasoning of a message under a field, or of all thinking parts in the content."""
    if field in TAGS:
        tagged = find_tagged(message.get("content"), TAGS[field])
        return tagged.reasoning if tagged else ""
    fields = PARTS if field == "content" else (field,)
    return "".join([reasoning_text(message, name) for name in fields])


def _omission(draft: Outbound, demands: Demands, *, current: bool) -> str:
    """Return the claim that requires a message to have reasoning, even empty reasoning; empty if there is none.

    The placeholder stays in later turns, so that a request repeats the one before it.
    """
    if demands.claims.get("thinking.mode") == "never" or _left_out(draft, demands, current=current):
        return ""
    kinds = ("tool-turn", "earlier-tool-turn") if draft.calls else ("plain-turn",)
    names = [f"reasoning.omitted-on-{kind}" for kind in kinds]
    # Only a history with calls makes it worth while to add what one source requires and another does not.
    requires = demands.avoids if draft.calls or demands.has_calls else demands.rejects_or_damages
    return next((name for name in names if requires(name)), "")


def _filled(
    bare: dict[str, Any], source: dict[str, Any], fields: tuple[str, ...], demands: Demands
) -> tuple[dict[str, Any], str]:
    """Return a message with reasoning in the first field that can hold all of it, and that field.

    Signed or encrypted blocks are preferred to text; text becomes a block only if the provider reads nothing else.
    """
    for field in fields:
        if field in PARTS and has_field(source, field):
            return {**bare, "content": source["content"]}, field
    plain, details = _text(without_thinking_parts(source)), source.get("reasoning_details")
    texts = [field for field in fields if field in TEXT_KEYS or (field not in _STRUCTURED and plain)]
    blocks = [field for field in fields if field in _STRUCTURED and (details or field in source)]
    base = bare | {key: source[key] for key in SIGNATURE_KEYS if key in fields and key in source}
    if details == [] and "reasoning_details" in fields:
        base["reasoning_details"] = []
    for field in (*blocks, *texts) if details else (*texts, *blocks):
        filled = with_reasoning(base, field, without_thinking_parts(source))
        if filled != bare:
            return filled, field
    field = next((field for field in fields if field in _BLOCK_FIELDS), "")
    if not field or not plain or demands.avoids("signature.omitted"):
        return bare, ""
    return with_reasoning(bare, field, {"reasoning_details": _as_details(plain)}), field


def _keeps_details(source: dict[str, Any], demands: Demands) -> bool:
    """Return whether details are sent as they are: the canonical wire has the field, and no claim is against it."""
    is_given = source.get("reasoning_details") is not None
    return is_given and _READ not in demands.claims and not _rejects(demands.claims, "reasoning_details")


def _with_details(bare: dict[str, Any], source: dict[str, Any], fields: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """Return a message with its details verbatim and the text beside them, since nothing says which one is read."""
    kept = {**bare, "reasoning_details": source["reasoning_details"]}
    text = next((source[key] for key in TEXT_KEYS if source.get(key)), None)
    if text is None or "reasoning_content" not in fields:
        return kept, "reasoning_details"
    return {**kept, "reasoning_content": text}, "reasoning_content"


def _with_placeholder(bare: dict[str, Any], fields: tuple[str, ...], demands: Demands) -> dict[str, Any]:
    """Return a message with empty reasoning, in a form that the provider does not count as none."""
    text = _SPACE if demands.avoids(_EMPTY) else ""
    field = next((field for field in fields if field in TEXT_KEYS), next(iter(fields), TEXT_KEYS[0]))
    if field == "reasoning_details":
        return {**bare, field: _as_details(text) if text else []}
    return with_reasoning(bare, field, {"reasoning_content": text or ("" if field in TEXT_KEYS else _SPACE)})


def _claimed_fields(claims: Mapping[str, Any]) -> list[str]:
    """Return the fields in which the provider reads reasoning by its claims, rejected or not."""
    claimed = claims.get(_READ, "reasoning_content")
    if claimed == "unknown":
        sent = claims.get("reasoning.response-field", "reasoning_content")
        listed = sent if isinstance(sent, list) else [sent]
        return [field for field in listed if field in _CANONICAL or field.startswith(FOREIGN)] or ["reasoning_content"]
    listed = claimed if isinstance(claimed, list) else [claimed]
    return [field for field in listed if field in FIELDS or field.startswith(FOREIGN)]


def _rejects(claims: Mapping[str, Any], field: str) -> bool:
    return isinstance(claims.get(f"reasoning.input.{field}"), Mapping)


def _text(source: Mapping[str, Any]) -> str | None:
    """Return the readable text of a canonical message's reasoning; None if it has none."""
    text = next((source[key] for key in TEXT_KEYS if isinstance(source.get(key), str)), None)
    return text or reasoning_text(dict(source), "reasoning_details") or text


def _as_details(reasoning: str | None) -> list[dict[str, str]]:
    return [] if reasoning is None else [{"type": "reasoning.text", "text": reasoning}]


def _block(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reasoning detail as a thinking block."""
    if detail.get("type") == "reasoning.encrypted":
        return {"type": "redacted_thinking", "data": detail.get("data")}
    signature = {"signature": detail["signature"]} if "signature" in detail else {}
    return {"type": "thinking", "thinking": detail.get("text", detail.get("summary", ""))} | signature


def _own_signatures(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the signatures of Gemini among the details of a message, by the ids of their calls."""
    return {
        detail["id"]: detail["data"]
        for detail in message.get("reasoning_details") or ()
        if detail.get("type") == "reasoning.encrypted" and detail.get("format") == FORMAT
        if isinstance(detail.get("id"), str) and detail.get("data")
    }


def _drop_detail(message: dict[str, Any], identity: str) -> None:
    """Drop the detail with an id: what it holds is sent elsewhere."""
    left = [detail for detail in message["reasoning_details"] if detail.get("id") != identity]
    if left:
        message["reasoning_details"] = left
    else:
        del message["reasoning_details"]


def _signature(call: dict[str, Any]) -> Any:
    extra = call.get(_SIGNATURE_KEY)
    google = extra.get("google") if isinstance(extra, dict) else None
    return google.get("thought_signature") if isinstance(google, dict) else None
