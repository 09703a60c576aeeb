"""Facts about a stream: what of it is to be known besides the message it brings."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from conformance.documents.pointer import Place

KINDS: Final[Mapping[str, str]] = {
    # The stream.
    "bad-json": "the data is no JSON",
    "not-an-object": "an object was expected",
    "event-named": "the event has a name",
    "ignored-line": "a line begins with no field that the standard knows",
    "invalid-utf8": "bytes were no UTF-8 and became U+FFFD",
    "bound-met": "the stream is larger than what is read of one",
    "error-in-band": "an error is sent as an event",
    "done-inexact": "the end mark has white space around it",
    "done-missing": "no event is the end mark",
    "done-undispatched": "the end mark is there, but no blank line after it",
    "after-done": "an event comes after the end mark",
    "cut": "text is left after the last blank line, or a choice has no finish reason",
    # A chunk.
    "chunk-id-missing": "the chunk has no id, or an empty one",
    "chunk-id-changed": "the id is not that of the chunk before",
    "model-changed": "the model is not that of the chunk before",
    "choices-missing": "the chunk has no list of choices",
    "empty-choices": "the list of choices is empty",
    "usage": "the chunk carries usage",
    "choice-index-missing": "the choice has no integer index; its position stands for it",
    "delta-missing": "the choice has no delta object",
    "finish": "the choice has a finish reason",
    "finish-not-string": "a finish reason is no string, or an empty one",
    # A message.
    "role-missing": "the first delta of a choice has no role",
    "role-repeated": "later deltas have a role (one fact per choice)",
    "after-finish": "a delta says something after the finish reason of its choice",
    "content-type-changed": "content is a list after a string, or a string after a list",
    "not-text": "content is neither a string nor a list, or reasoning or a refusal is no string",
    "reasoning-after-content": "reasoning begins after content",
    "overwritten": "a field that the assembler does not know comes again with another value; the last stands",
    "detail-index-missing": "a piece of reasoning_details has no integer index",
    "detail-index-reused": "a piece of reasoning_details begins another item under an index and type in use",
    # A tool call.
    "tool-calls-not-a-list": "tool_calls is no list",
    "index-missing": "a fragment has no integer index",
    "index-negative": "a call is opened under a negative index",
    "index-gap": "a call is opened under another index than the next",
    "index-reused": "another call is opened under an index in use",
    "id-missing": "a call is opened with no id, or an empty one",
    "id-not-string": "a call is opened with an id that is no string",
    "id-late": "a continuation gives the id",
    "id-repeated": "a continuation gives the id again",
    "id-empty": "a continuation has an empty id",
    "id-null": "a continuation has a null id",
    "type-missing": "a call is opened without type",
    "type-repeated": "a continuation gives the type",
    "function-missing": "a fragment has no function object",
    "name-missing": "a call is opened without name",
    "name-late": "a continuation gives the name",
    "name-repeated": "a continuation gives the name again",
    "name-changed": "a continuation gives another name; the first stands",
    "name-empty": "a name is empty",
    "name-null": "a continuation has a null name",
    "arguments-missing": "a call is opened without arguments, or with null",
    "arguments-not-string": "arguments are no string",
    "fragment-without-arguments": "a continuation has no arguments, or null",
    "interleaved": "a fragment goes on with a call after another was opened",
}
"""Every kind of fact and what it says."""


class Fact(NamedTuple):
    """Something to know about a stream: where (the first token is the number of the event), and a detail for people."""

    at: Place
    detail: str


Note: TypeAlias = Callable[[str, Place, str], None]
"""Keeps a fact: its kind, its place in the stream, and a detail for people."""


def describe(value: Any) -> str:
    """Return a short JSON form of a value, for details."""
    try:
        text = orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        # A text that was not decoded from bytes may hold half a pair of surrogates.
        text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "…"
