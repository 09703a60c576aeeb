"""Anthropic's Messages API: a request's system prompt and messages, a reply, or the text of a reply's event stream.

Thinking becomes `reasoning_details` with signatures and positions, so that it comes back unchanged. A reply, which is
one message, comes back as the only message of a request. Source: the block and event types of the Anthropic SDK
2.11.0, and recorded traffic.
"""

from typing import Any, Final

from conformance.convert.dialects import CANONICAL, checked, validate
from conformance.convert.dialects.anthropic.reading import assembled, transcript
from conformance.convert.dialects.anthropic.writing import messages
from conformance.wire.losses import Converted

__all__ = ["TITLE", "assembled", "to_canonical", "to_native"]

TITLE: Final = "Anthropic's messages: a request, a reply, or a reply's event stream."


@checked("anthropic", CANONICAL)
def to_canonical(native: dict[str, Any] | str) -> Converted:
    """Return the transcript of a request, or the message of a reply; no message for a body that holds neither.

    Losses of an event stream point into its assembled reply; InvalidDocument is raised if that is not valid.
    """
    if not isinstance(native, str):
        return transcript(native)
    reply = assembled(native)
    if reply:
        validate(reply, "anthropic", "<stream>")
    return transcript(reply)


@checked(CANONICAL, "anthropic")
def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return the `system` and `messages` of a request; consecutive tool results become one user message."""
    return messages(canonical)
