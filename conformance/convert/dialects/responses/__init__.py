"""OpenAI Responses: a request's instructions and input, a reply, or the text of a reply's event stream.

Neighbouring items of the assistant become one message. Reasoning becomes `reasoning_details` with ids, blobs and
positions, one for each text and each blob, as OpenRouter has them. A reply comes back as the input of a request.
"""

from typing import Any, Final

from conformance.convert.dialects import CANONICAL, checked, validate
from conformance.convert.dialects.responses.reading import assembled, transcript
from conformance.convert.dialects.responses.writing import request
from conformance.wire.losses import Converted

__all__ = ["TITLE", "assembled", "to_canonical", "to_native"]

TITLE: Final = "OpenAI's Responses: a request, a reply, or a reply's event stream."


@checked("responses", CANONICAL)
def to_canonical(native: dict[str, Any] | str) -> Converted:
    """Return the transcript of a request, or the message of a reply; no message for a body that holds neither.

    Losses of an event stream point into its assembled reply; InvalidDocument is raised if that is not valid.
    """
    if not isinstance(native, str):
        return transcript(native)
    reply = assembled(native)
    if reply:
        validate(reply, "responses", "<stream>")
    return transcript(reply)


@checked(CANONICAL, "responses")
def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return the `instructions` and `input` of a request; no item gets an id that it did not have."""
    return request(canonical)
