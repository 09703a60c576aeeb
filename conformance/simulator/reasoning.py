"""Where a persona shows its reasoning: in each field that the vocabulary of claims knows, with its signatures."""

from typing import Any, Final

from conformance import profiles
from conformance.simulator.reply_context import Likeness
from conformance.wire.reasoning import ALL_KEYS, TEXT_KEYS, prepend_reasoning

_SIGNATURE: Final = r"[A-Za-z0-9+/]{38}=="
_DETAIL_ID: Final = "rs_[0-9a-f]{32}"


def fields(likeness: Likeness) -> tuple[str, ...]:
    """Return where the reasoning of this reply stands.

    Of several claimed fields those beside `content` are filled together; one inside `content` stands alone.
    """
    claimed = _claimed(likeness)
    if claimed and claimed[0] in ALL_KEYS:
        return tuple([field for field in claimed if field in ALL_KEYS])
    return tuple([field for field in claimed if field != "none"][:1]) if claimed[:1] != ("none",) else ()


def _claimed(likeness: Likeness) -> tuple[str, ...]:
    for switch in likeness.every("reasoning.response-field-switches"):
        if profiles.matches(switch, likeness.request):
            field = switch["field"]
            return (field,) if isinstance(field, str) else tuple(field)
    return likeness.every("reasoning.response-field") or ("reasoning_content",)


def with_thought(message: dict[str, Any], thought: str, likeness: Likeness) -> dict[str, Any]:
    """Return a message with reasoning in each of the claimed fields."""
    for field in fields(likeness):
        if field in TEXT_KEYS:
            message |= {field: thought}
        elif field == "reasoning_details":
            message |= {field: _details(thought, likeness)}
        elif field == "thinking_blocks":
            message |= {field: [{"type": "thinking", "thinking": thought} | _signed(likeness, "thinking_blocks")]}
        elif field == "extra_content":
            message |= {field: {"google": {"thought": True}}}
        else:
            message |= {"content": prepend_reasoning(message.get("content"), thought, field)}
    return message


def without_thought(message: dict[str, Any], likeness: Likeness) -> dict[str, Any]:
    """Return a message without reasoning, as it writes the field that holds none."""
    form = likeness.one("reasoning.when-none", "absent")
    for field in fields(likeness) if form in ("null", "empty") else ():
        if field in TEXT_KEYS:
            message |= {field: None if form == "null" else ""}
        elif field == "reasoning_details" and form == "empty":
            message |= {field: []}
    return message


def sign(message: dict[str, Any], likeness: Likeness) -> None:
    """Sign the calls of a message, or the message, where signatures stand in `extra_content`."""
    path = str(likeness.one("signature.field", ""))
    if "extra_content" not in path:
        return
    signature = {"google": {"thought_signature": likeness.text(_SIGNATURE, "signature")}}
    calls = message.get("tool_calls", [])
    if "tool_calls" not in path:
        google = message.get("extra_content", {}).get("google", {})
        message["extra_content"] = {"google": google | signature["google"]}
    elif calls:
        for call in calls if likeness.one("signature.on", "first-call") == "every-call" else calls[:1]:
            call["extra_content"] = signature


def _details(thought: str, likeness: Likeness) -> list[dict[str, Any]]:
    """Return the reasoning as details: one in clear, and one that only the provider can read where it sends such.

    The latter bears an id where something is claimed of ids that the provider does not know.
    """
    types = likeness.every("reasoning.details.types") or ("reasoning.text",)
    in_clear = next((each for each in ("reasoning.text", "reasoning.summary") if each in types), None)
    details: list[dict[str, Any]] = []
    if in_clear is not None:
        details.append({"type": in_clear, in_clear.removeprefix("reasoning."): thought})
        details[0] |= _signed(likeness, "reasoning_details")
    if "reasoning.encrypted" in types:
        known = {"id": likeness.text(_DETAIL_ID, "detail")} if likeness.every("reasoning.details.unknown-id") else {}
        details.append({"type": "reasoning.encrypted", "data": likeness.text(_SIGNATURE, "data")} | known)
    return [detail | _marks(number, likeness) for number, detail in enumerate(details)]


def _marks(number: int, likeness: Likeness) -> dict[str, Any]:
    marks: dict[str, Any] = {"format": likeness.one("reasoning.details.formats", "unknown")}
    index = likeness.one("reasoning.details.index", "unique")
    return marks if index == "absent" else marks | {"index": 0 if index == "repeated" else number}


def _signed(likeness: Likeness, field: str) -> dict[str, str]:
    if field not in str(likeness.one("signature.field", "")):
        return {}
    return {"signature": likeness.text(_SIGNATURE, "signature")}
