"""What only a server has: the state that requests name instead of sending it, and what cannot be checked for that."""

from collections.abc import Mapping
from typing import Any, Final

from conformance.documents.pointer import render
from conformance.wire.exchange import Conversation

_HELD: Final = ("previous_response_id", "conversation", "prompt")
"""The keys of a request that name messages at the server."""

_MAX_PLACES: Final = 5


def unseen(conversation: Conversation) -> list[str]:
    """Return notes on exchanges whose history only the server has, so that a part of them cannot be checked."""
    notes = []
    for number, exchange in enumerate(conversation):
        facts: Mapping[str, Any] = {} if exchange.native is None else exchange.native.facts
        alone = [render(place) for place in facts.get("unjudged", ())]
        if alone or facts.get("history") == "unknown" or "prompt" in facts:
            what = f"; not checked against it: {', '.join(alone[:_MAX_PLACES])}" if alone else ""
            more = f" and {len(alone) - _MAX_PLACES} more" if len(alone) > _MAX_PLACES else ""
            notes.append(f"exchange {number} refers to what only the server has{_named(facts)}{what}{more}")
    return notes


def _named(facts: Mapping[str, Any]) -> str:
    """Return the state that a request names, in brackets; empty if it names items alone."""
    named = [f"{key} {_identity(facts[key])!r:.80}" for key in _HELD if key in facts]
    return f" ({', '.join(named)})" if named else ""


def _identity(value: Any) -> Any:
    return value.get("id") if isinstance(value, Mapping) else value
