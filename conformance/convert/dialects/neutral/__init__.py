"""A conversation model that belongs to no provider: a context of typed messages with typed blocks.

Every message and block names its own type; the schema defines which block may be in which message. A zero value is the
same as an absent one. Source: "Message types", the guide of a Go package.
"""

from typing import Any, Final

from conformance.convert.dialects import CANONICAL, checked, validate
from conformance.convert.dialects.neutral.context import definitions, miscounts, replayed, text, tool_calls, tools
from conformance.convert.dialects.neutral.conversion import context, transcript
from conformance.convert.dialects.neutral.reply import (
    assistant_message,
    cost,
    finish_reason,
    new_assistant_message,
    stop_reason,
    usage,
)
from conformance.documents import parse_json
from conformance.wire.arguments import decode as decode_arguments
from conformance.wire.arguments import encode
from conformance.wire.losses import Converted

__all__ = [
    "TITLE",
    "assistant_message",
    "cost",
    "decode",
    "decode_arguments",
    "definitions",
    "encode",
    "finish_reason",
    "miscounts",
    "new_assistant_message",
    "replayed",
    "stop_reason",
    "text",
    "to_canonical",
    "to_native",
    "tool_calls",
    "tools",
    "usage",
]

TITLE: Final = "The context of a neutral conversation model: typed messages of typed blocks."


@checked("neutral", CANONICAL)
def to_canonical(native: dict[str, Any]) -> Converted:
    """Return the transcript of a context."""
    return transcript(native)


@checked(CANONICAL, "neutral")
def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return the context of a transcript, without tools and without usage and stop reasons of replies."""
    return context(canonical)


def decode(data: bytes | str, file: str = "<input>") -> Any:
    """Return a context from its JSON; raises InvalidDocument if it is not valid."""
    value = parse_json(data, file)
    validate(value, "neutral", file)
    return value
