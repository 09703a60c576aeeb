"""How a persona counts tokens: a `usage` object by its claims, from the bytes of the request and of the message."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from conformance.simulator.reply_context import Likeness

BYTES_A_TOKEN: Final = 4
_BEYOND: Final = 7
"""Tokens that a total holds more than its parts, where it is claimed to."""


def tokens(value: Any) -> int:
    """Return about how many tokens a JSON value has."""
    return len(orjson.dumps(value)) // BYTES_A_TOKEN + 1


def usage(likeness: Likeness, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the token count of a reply, summed and split as claimed."""
    asked, said = tokens(likeness.request.get("messages")), tokens(message)
    kind = likeness.one("usage.reasoning-tokens", "inside")
    thought = said // 2 if likeness.thinks and kind != "absent" else 0
    completion = said - thought if kind == "outside" else said
    sums = {
        "prompt+completion+reasoning": asked + completion + thought,
        "larger": asked + completion + thought + _BEYOND,
    }
    total = sums.get(str(likeness.one("usage.total", "")), asked + completion)
    count: dict[str, Any] = {"prompt_tokens": asked, "completion_tokens": completion, "total_tokens": total}
    if likeness.thinks and kind != "absent":
        _put(count, likeness.one("usage.reasoning-at", "/completion_tokens_details/reasoning_tokens"), thought)
    for place in likeness.every("usage.cached-at"):
        _put(count, place, 0)
    return count


def _put(count: dict[str, Any], pointer: str, number: int) -> None:
    *holders, key = pointer.strip("/").split("/")
    for holder in holders:
        count = count.setdefault(holder, {})
    count[key] = number
