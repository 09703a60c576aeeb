"""Gemini's generateContent: a request's instruction and contents, a reply, or the chunks of a stream.

A thought signature keeps its position: on a call it is `extra_content.google.thought_signature`, on a thought the
signature of a reasoning detail, on a text an encrypted detail directly before it. Calls without an id get a number,
since the wire pairs by id. A reply comes back as the only content of a request.
Sources: https://ai.google.dev/gemini-api/docs/thought-signatures, and recorded traffic.
"""

from typing import Any, Final

from conformance.convert.dialects import CANONICAL, checked, validate
from conformance.convert.dialects.gemini.reading import assembled, transcript
from conformance.convert.dialects.gemini.writing import contents
from conformance.wire.losses import Converted

__all__ = ["TITLE", "assembled", "to_canonical", "to_native"]

TITLE: Final = "Gemini's contents: a request, a reply, or the chunks of a reply's stream."


@checked("gemini", CANONICAL)
def to_canonical(native: dict[str, Any] | list[Any] | str) -> Converted:
    """Return the transcript of a request, or the message of a reply's first candidate; no message for other bodies.

    Losses of a stream point into its assembled reply; InvalidDocument is raised if that is not valid.
    """
    if isinstance(native, dict):
        return transcript(native)
    reply = assembled(native)
    validate(reply, "gemini", "<stream>")
    return transcript(reply)


@checked(CANONICAL, "gemini")
def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return the `systemInstruction` and `contents` of a request; consecutive results become one content."""
    return contents(canonical)
