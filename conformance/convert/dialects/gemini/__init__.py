"""Gemini's generateContent: a request's instruction and contents, a reply, or the chunks of a stream.

A thought signature stays where it was given: on a call it is `extra_content.google.thought_signature`, on a thought
the signature of a detail of the reasoning, on a text an encrypted detail that stands directly before it. Calls that
Gemini did not name are numbered, since the wire pairs by id. A reply comes back as the only content of a request.
Sources: https://ai.google.dev/gemini-api/docs/thought-signatures, and recorded traffic.
"""

from typing import Any, Final

from conformance.convert.dialects import Converted, demand
from conformance.convert.dialects.gemini.reading import transcript
from conformance.convert.dialects.gemini.stream import assembled
from conformance.convert.dialects.gemini.writing import contents

__all__ = ["TITLE", "assembled", "to_canonical", "to_native"]

TITLE: Final = "Gemini's contents: a request, a reply, or the chunks of a reply's stream."


def to_canonical(native: dict[str, Any] | list[Any] | str) -> Converted:
    """Return the transcript of a request, or the message of a reply's first candidate; of other bodies no message.

    Losses of a stream point into the reply that it makes; InvalidDocument is raised where that is none.
    """
    if isinstance(native, dict):
        return transcript(native)
    reply = assembled(native)
    demand(reply, "gemini", "<stream>")
    return transcript(reply)


def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return the `systemInstruction` and `contents` of a request; results that follow each other are one content."""
    return contents(canonical)
