"""Message keys that the canonical wire does not have, and the claims about them."""

from typing import Final

from conformance.documents.pointer import Place
from conformance.rules.context import Fault
from conformance.wire.elements import Message
from conformance.wire.reasoning import ALL_KEYS

CLIENT_ONLY: Final = frozenset(
    {
        "finishReason", "finish_reason", "isError", "is_error", "toolName", "tool_name", "timestamp",
        "durationMs", "duration_ms", "provider_specific_fields",
    }
)  # fmt: skip
"""What clients store beside a message for their own use."""

REASONING: Final = frozenset(ALL_KEYS)
"""Fields of reasoning; the rules of `reasoning/` cover them."""

CLAIMS: Final = (
    "request.known-message-fields", "request.unknown-message-field", "request.unknown-call-field",
    "request.unknown-part-field",
)  # fmt: skip
"""The claims about keys in a message, its calls and its parts."""


def fault(message: Message, holder: Place, key: str, words: str) -> Fault:
    """Return the fault of an unknown key; the claim about it depends on the object that holds the key."""
    inside = holder[len(message.place) :]
    claim = {"tool_calls": "request.unknown-call-field", "content": "request.unknown-part-field"}.get(
        str(inside[0]) if inside else "", "request.unknown-message-field"
    )
    if not inside and message.role == "tool" and key == "name":
        claim = "results.name-field"
    is_in_list = len(inside) > 1 and type(inside[1]) is int
    field = ".".join(map(str, (*inside[2 if is_in_list else 0 :], key)))
    values = {"field": field, "role": message.role, "position": inside[1] if is_in_list else ""}
    return Fault(words, place=(*holder, key), values=values, claim=claim)
