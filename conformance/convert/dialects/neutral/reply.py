"""A reply of the wire as an assistant message of the neutral model, with usage, cost and stop reason."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.convert.dialects.neutral.context import CATEGORIES
from conformance.convert.dialects.neutral.conversion import assistant_content
from conformance.errors import InvalidDocument
from conformance.wire.losses import Converted, Losses

_CHAT: Final = {
    "stop": "stop",
    "eos": "stop",
    "length": "length",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
}
_MESSAGES: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
_RESPONSES: Final = {
    "completed": "stop",
    "max_messages": "stop",
    "steered": "stop",
    "incomplete": "length",
    "max_output_tokens": "length",
    "cancelled": "aborted",
}
_GEMINI: Final = {"STOP": "stop", "MAX_TOKENS": "length"}
_STOPS: Final[Mapping[Any, str]] = _CHAT | _MESSAGES | _RESPONSES | _GEMINI
_FINISHES: Final = {"stop": "stop", "length": "length", "toolUse": "tool_calls"}
_MODEL: Final = ("Model", "Provider", "Protocol")
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
    """Return the neutral stop reason for the stop signal of a wire.

    A signal is a `finish_reason` of chat completions, a `stop_reason` of Messages, a `finishReason` of Gemini, or of
    Responses the `reason` in `incomplete_details`, else the `status`. Responses and Gemini have no signal for calls,
    which are just there. Anything else is `error`: a filter, a refusal, a failure, a stream without a signal.
    """
    return _STOPS.get(signal, "error")


def finish_reason(stop: str) -> str | None:
    """Return the finish reason of the wire for a neutral stop reason; None for `error` and `aborted`."""
    return _FINISHES.get(stop)


def cost(usage: Mapping[str, Any], rates: Mapping[str, float]) -> dict[str, float]:
    """Return the cost of a usage: for each category its tokens times the price per token, and the sum."""
    parts = {category: usage[category] * rates.get(category, 0.0) for category in CATEGORIES}
    return {**parts, "Total": sum(parts.values())}


def usage(counts: Mapping[str, Any] | None, rates: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return the token counts of the wire by category; tokens read from or written to a cache are not input."""
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


def new_assistant_message(
    model: str | Mapping[str, str], timestamp: int | None = None, now: Callable[[], float] = time.time
) -> dict[str, Any]:
    """Return an assistant message without content for a model: the fields that do not depend on the reply.

    `model` is the requested name, or the Model, Provider and Protocol; `timestamp` is in milliseconds since 1970 and
    defaults to `now`, which is in seconds.
    """
    known = {"Model": model} if isinstance(model, str) else {key: model[key] for key in _MODEL if key in model}
    stamp = int(now() * 1000) if timestamp is None else timestamp
    return {"type": "AssistantMessage", "Content": [], **known, "Timestamp": stamp}


def assistant_message(
    response: Mapping[str, Any],
    seed: str | Mapping[str, Any],
    rates: Mapping[str, float] | None = None,
) -> Converted:
    """Return the message of a reply's first choice; losses point into the reply.

    `seed` is a model's name, or holds the fields that do not depend on the reply: Protocol, Provider, Model, Timestamp
    (milliseconds since 1970). Raises InvalidDocument if the reply has no choice.
    """
    losses = Losses()
    started = new_assistant_message(seed) if isinstance(seed, str) else seed
    if not response.get("choices"):
        raise InvalidDocument("expected a reply with a choice, got none", "<reply>", None, "/choices")
    for number in range(1, len(response["choices"])):
        losses.add(("choices", number), "a conversation holds one choice")
    choice = response["choices"][0]
    place = ("choices", 0, "message")
    held = {key: value for key, value in choice["message"].items() if key in _HELD and value is not None}
    for key, value in choice["message"].items():
        if key not in _HELD and value is not None:
            losses.add((*place, key), "a message has no such field")
    calls = held.pop("tool_calls", ())
    for number, call in enumerate(calls):
        if "function" not in call:
            losses.add((*place, "tool_calls", number), "a call has to be of a function")
    if functions := [call for call in calls if "function" in call]:
        held["tool_calls"] = functions
    message = {
        **started,
        "type": "AssistantMessage",
        "Content": assistant_content(held, place, losses),
        "Usage": usage(response.get("usage"), rates),
        "StopReason": stop_reason(choice.get("finish_reason")),
    }
    for key, name in (("model", "ResponseModel"), ("id", "ResponseID")):
        if response.get(key):
            message[name] = response[key]
    return losses.converted(message)
