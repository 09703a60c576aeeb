"""A reply of the wire as an assistant's message of the neutral model, with what the provider said of it."""

from collections.abc import Mapping
from typing import Any, Final

from conformance.convert.dialects import Converted, Losses
from conformance.convert.dialects.neutral.writing import assistant_content
from conformance.errors import InvalidDocument

_STOPS: Final = {
    "stop": ("stop", "eos", "end_turn", "stop_sequence", "STOP"),
    "length": ("length", "max_tokens", "model_context_window_exceeded", "MAX_TOKENS"),
    "toolUse": ("tool_calls", "function_call", "tool_use"),
}
_FINISHES: Final = {"stop": "stop", "length": "length", "toolUse": "tool_calls"}
_CATEGORIES: Final = ("Input", "Output", "CacheRead", "CacheWrite")
_HELD: Final = (
    "role",
    "content",
    "refusal",
    "name",
    "audio",
    "tool_calls",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
)


def stop_reason(signal: str | None) -> str:
    """Return the neutral word for why a reply ended, be it the wire's, Anthropic's or Gemini's.

    What no value stands for is `error`: a filter, a refusal, a stream that ended without a word. `aborted` is not read
    from a reply, since only the caller knows that it was cancelled.
    """
    return next((stop for stop, signals in _STOPS.items() if signal in signals), "error")


def finish_reason(stop: str) -> str | None:
    """Return the wire's word for a neutral one; None for `error` and `aborted`, for which it has none."""
    return _FINISHES.get(stop)


def cost(usage: Mapping[str, Any], rates: Mapping[str, float]) -> dict[str, float]:
    """Return what a usage costs: for each category its tokens times the price of one token, and their sum."""
    parts = {category: usage[category] * rates.get(category, 0.0) for category in _CATEGORIES}
    return {**parts, "Total": sum(parts.values())}


def usage(counts: Mapping[str, Any] | None, rates: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return the wire's token counts by category: what was read from a cache or written to it is no input."""
    given = counts or {}
    details = given.get("prompt_tokens_details") or {}
    read, write = details.get("cached_tokens") or 0, details.get("cache_write_tokens") or 0
    tokens = {
        "Input": max((given.get("prompt_tokens") or 0) - read - write, 0),
        "Output": given.get("completion_tokens") or 0,
        "CacheRead": read,
        "CacheWrite": write,
    }
    total = given.get("total_tokens")
    tokens["TotalTokens"] = sum(tokens.values()) if total is None else total
    return {**tokens, "Cost": cost(tokens, rates or {})}


def assistant_message(
    response: Mapping[str, Any],
    seed: Mapping[str, Any],
    rates: Mapping[str, float] | None = None,
) -> Converted:
    """Return the message of a reply's first choice; losses point into the reply, which must have one.

    `seed` is what does not depend on the reply: Protocol, Provider, Model, Timestamp (milliseconds since 1970).
    """
    losses = Losses()
    if not response.get("choices"):
        raise InvalidDocument("expected a reply with a choice, got none", "<reply>", None, "/choices")
    for number in range(1, len(response["choices"])):
        losses.add(("choices", number), "a conversation goes on with one choice")
    choice = response["choices"][0]
    place = ("choices", 0, "message")
    said = {key: value for key, value in choice["message"].items() if key in _HELD and value is not None}
    for key, value in choice["message"].items():
        if key not in _HELD and value is not None:
            losses.add((*place, key), "no place for it in a message")
    calls = said.pop("tool_calls", ())
    for number, call in enumerate(calls):
        if "function" not in call:
            losses.add((*place, "tool_calls", number), "a call is a function's")
    if functions := [call for call in calls if "function" in call]:
        said["tool_calls"] = functions
    message = {
        "type": "AssistantMessage",
        "Content": assistant_content(said, place, losses),
        **seed,
        "Usage": usage(response.get("usage"), rates),
        "StopReason": stop_reason(choice.get("finish_reason")),
    }
    for key, name in (("model", "ResponseModel"), ("id", "ResponseID")):
        if response.get(key):
            message[name] = response[key]
    return losses.converted(message)
