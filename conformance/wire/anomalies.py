"""Anomalies of a stream: everything noteworthy about it besides the messages that it carries."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from conformance.documents.pointer import Place

KINDS: Final[Mapping[str, str]] = {
    # The stream.
    "bad-json": "the data is not JSON",
    "not-an-object": "an object was expected",
    "event-named": "the event has a name",
    "ignored-line": "a line begins with no field name that the standard defines",
    "invalid-utf8": "bytes were not UTF-8 and became U+FFFD",
    "bound-met": "the stream exceeds the bound up to which streams are read",
    "error-in-band": "an error is sent as an event",
    "done-inexact": "the end mark has white space around it",
    "done-missing": "no event is the end mark",
    "done-undispatched": "the end mark is there, but no blank line follows it",
    "after-done": "an event follows the end mark",
    "cut": "text follows the last blank line, or a choice has no finish reason",
    # A chunk.
    "chunk-id-missing": "the chunk has no id, or an empty one",
    "chunk-id-changed": "the id differs from that of the chunk before",
    "model-changed": "the model differs from that of the chunk before",
    "choices-missing": "the chunk has no list of choices",
    "empty-choices": "the list of choices is empty",
    "usage": "the chunk carries usage",
    "choice-index-missing": "the choice has no integer index; its position is used instead",
    "delta-missing": "the choice has no delta object",
    "finish": "the choice has a finish reason",
    "finish-not-string": "a finish reason is not a string, or is empty",
    # A message.
    "role-missing": "the first delta of a choice has no role",
    "role-repeated": "later deltas have a role (one anomaly per choice)",
    "after-finish": "a delta adds to the message after the finish reason of its choice",
    "content-type-changed": "content is a list after a string, or a string after a list",
    "not-text": "content is neither a string nor a list, or reasoning or a refusal is not a string",
    "reasoning-after-content": "reasoning begins after content",
    "overwritten": "a field unknown to the assembler occurs again with another value; the last is kept",
    "detail-index-missing": "a fragment of reasoning_details has no integer index",
    "detail-index-reused": "a fragment of reasoning_details begins another item under an index and type in use",
    # A tool call.
    "tool-calls-not-a-list": "tool_calls is not a list",
    "index-missing": "a fragment has no integer index",
    "index-negative": "a call is opened under a negative index",
    "index-gap": "a call is opened under an index other than the next",
    "index-reused": "another call is opened under an index in use",
    "id-missing": "a call is opened without an id, or with an empty one",
    "id-not-string": "a call is opened with an id that is not a string",
    "id-late": "a later fragment gives the id",
    "id-repeated": "a later fragment repeats the id",
    "id-empty": "a later fragment has an empty id",
    "id-null": "a later fragment has a null id",
    "type-missing": "a call is opened without type",
    "type-repeated": "a later fragment has a type",
    "function-missing": "a fragment has no function object",
    "name-missing": "a call is opened without name",
    "name-late": "a later fragment gives the name",
    "name-repeated": "a later fragment repeats the name",
    "name-changed": "a later fragment gives another name; the first is kept",
    "name-empty": "a name is empty",
    "name-null": "a later fragment has a null name",
    "arguments-missing": "a call is opened without arguments, or with null",
    "arguments-not-string": "arguments are not a string",
    "fragment-without-arguments": "a later fragment has no arguments, or null",
    "interleaved": "a fragment continues a call after another one was opened",
}
"""Every kind of anomaly and its meaning. `usage` and `finish` are ordinary: rules need to know where they occur."""


_MAX_SHOWN: Final = 60
"""How many characters of a value a description shows."""


class Anomaly(NamedTuple):
    """Something noteworthy in a stream: its place (the first token is the number of the event) and a description."""

    at: Place
    detail: str


NoteAnomaly: TypeAlias = Callable[[str, Place, str], None]
"""Records an anomaly: its kind, its place in the stream, and a description."""


def describe(value: Any) -> str:
    """Return a short JSON form of a value, for descriptions."""
    if type(value) is str:
        # A text of megabytes is not escaped in full only to be cut.
        value = value[:_MAX_SHOWN]
    try:
        text = orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        # A text that was not decoded from bytes may contain half of a surrogate pair.
        text = ascii(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "…"
