"""A conversation model that belongs to no provider: a context of typed messages, whose blocks stand where they may.

Every message and block names its own type, so a context in JSON is whole without a table of what stands where; the
schema says which block may stand in which message. A zero value is the same as an absent one. Source: "Message types",
the guide of a Go package.
"""

from typing import Any, Final

from conformance.convert.canonical.arguments import decode as decode_arguments
from conformance.convert.canonical.arguments import encode
from conformance.convert.dialects import Converted, demand
from conformance.convert.dialects.neutral.reading import transcript
from conformance.convert.dialects.neutral.replay import replayed
from conformance.convert.dialects.neutral.reply import assistant_message, cost, finish_reason, stop_reason, usage
from conformance.convert.dialects.neutral.tools import definitions, tools
from conformance.convert.dialects.neutral.views import text, tool_calls
from conformance.convert.dialects.neutral.writing import context
from conformance.documents import parse_json

__all__ = [
    "TITLE",
    "assistant_message",
    "cost",
    "decode",
    "decode_arguments",
    "definitions",
    "encode",
    "finish_reason",
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


def to_canonical(native: dict[str, Any]) -> Converted:
    """Return the transcript of a context; raises InvalidDocument with the place of a block that may not stand there."""
    demand(native, "neutral")
    return transcript(native)


def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return the context of a transcript, without tools and without what a provider said of its replies."""
    return context(canonical)


def decode(data: bytes | str, file: str = "<input>") -> Any:
    """Return a context from its JSON; raises InvalidDocument where it is none."""
    value = parse_json(data, file)
    demand(value, "neutral", file)
    return value
