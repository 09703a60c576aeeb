"""Egress: a canonical transcript becomes the messages of a request to one provider.

The rule is applied once, here: reasoning goes back with tool turns, under the name that the provider reads, and stays
behind on plain turns unless the provider demands it there. The transcript itself is left whole.
"""

from collections.abc import Mapping, Sequence
from typing import Any

REASONING_KEYS = frozenset({"reasoning_content", "reasoning_details"})


def prepare(transcript: Sequence[Mapping[str, Any]], claims: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return fresh messages for a request; `claims` are those of the provider for the model that is asked."""
    return [_message(message, claims) if message["role"] == "assistant" else dict(message) for message in transcript]


def request_field(claims: Mapping[str, Any]) -> str | None:
    """Return the field under which a provider reads reasoning back; None where it refuses it or reads none."""
    claimed = claims.get("reasoning.request-field", "reasoning_content")
    field = claimed[0] if isinstance(claimed, list) else claimed
    if field in ("none", "unknown") or isinstance(claims.get(f"reasoning.input.{field}"), Mapping):
        return None
    return str(field)


def _message(message: Mapping[str, Any], claims: Mapping[str, Any]) -> dict[str, Any]:
    result = {key: value for key, value in message.items() if key not in REASONING_KEYS}
    demanded = isinstance(claims.get("reasoning.omitted-on-plain-turn"), Mapping)
    return result | _reasoning(message, claims) if message.get("tool_calls") or demanded else result


def _reasoning(message: Mapping[str, Any], claims: Mapping[str, Any]) -> dict[str, Any]:
    field = request_field(claims)
    if field is None:
        return {}
    if field == "reasoning_details" and "reasoning_details" in message:
        return {field: message["reasoning_details"]}
    return {field: message["reasoning_content"]} if "reasoning_content" in message else {}
