"""The keys of messages that the canonical wire does not have: whose they are, and which claim speaks of them."""

from typing import Final

from conformance.documents.pointer import Place
from conformance.rules._context import Fault
from conformance.wire.elements import Message
from conformance.wire.reasoning import ALL_KEYS

LOCAL: Final = frozenset(
    {
        "finishReason", "finish_reason", "isError", "is_error", "toolName", "tool_name", "timestamp",
        "durationMs", "duration_ms", "provider_specific_fields",
    }
)  # fmt: skip
"""What clients keep beside a message for themselves."""

REASONING: Final = frozenset(ALL_KEYS)
"""Fields of reasoning, which the rules of `reasoning/` judge."""


def fault(message: Message, holder: Place, key: str, words: str) -> Fault:
    """Return the fault of an unknown key: which claim speaks of it depends on what holds it."""
    inside = holder[len(message.place) :]
    claim = {"tool_calls": "request.unknown-call-field", "content": "request.unknown-part-field"}.get(
        str(inside[0]) if inside else "", "request.unknown-message-field"
    )
    if not inside and message.role == "tool" and key == "name":
        claim = "results.name-field"
    is_listed = len(inside) > 1 and type(inside[1]) is int
    field = ".".join(map(str, (*inside[2 if is_listed else 0 :], key)))
    values = {"field": field, "role": message.role, "position": inside[1] if is_listed else ""}
    return Fault(words, place=(*holder, key), values=values, claim=claim)
