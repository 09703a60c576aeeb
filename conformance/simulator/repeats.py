"""Requests that ask once more for a turn of which the client got only a part."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.scenarios import ScriptTurn
from conformance.wire.changes import message_key
from conformance.wire.exchange import Exchange
from conformance.wire.text import content_text

TRUNCATING: Final = frozenset({"cut", "error-inside"})
"""The `raw` deviations of a stream that leave no complete answer."""

_SPELLED: Final = ("content", "tool_calls")
"""The keys of a message that can say the same in several ways."""


def asks_again(turn: ScriptTurn, before: Exchange, request: Mapping[str, Any], prompts: Sequence[str]) -> bool:
    """Return whether a request asks again for a turn that the exchange before it got truncated.

    Some agents add a note for the model, such as "continue from there". `prompts` are the user's own messages, with
    which a client goes on instead.
    """
    if TRUNCATING.isdisjoint(turn.raw) or not before.as_received.streamed:
        return False
    note = _note(before.request.get("messages"), request.get("messages"))
    return note is not None and not any(prompt.strip() in note for prompt in prompts)


def _note(old: Any, new: Any) -> str | None:
    """Return the text that the user's side of a request adds to the messages of an earlier one.

    It is None if the requests differ in anything else.
    """
    if type(old) is not list or type(new) is not list or not old:
        return None
    pairs = enumerate(zip(old, new, strict=False))
    same = next((at for at, (before, after) in pairs if _key(before) != _key(after)), min(len(old), len(new)))
    added = new[same:]
    if any(type(each) is not dict or each.get("role") != "user" for each in added):
        return None
    text = "\n".join([content_text(each.get("content")) for each in added]).strip()
    if same == len(old):
        return text
    # The note can be a part of the last message itself.
    last = _user_text(old[-1])
    return text.removeprefix(last) if same == len(old) - 1 and last and text.startswith(last) else None


def _key(message: Any) -> Any:
    """Return a message in a form that ignores notation, but not reasoning: what is kept of a reply may be all of it."""
    others = {key: value for key, value in message.items() if key not in _SPELLED} if type(message) is dict else {}
    return message_key(message), others


def _user_text(message: Any) -> str:
    is_user = type(message) is dict and message.get("role") == "user"
    return content_text(message.get("content")).strip() if is_user else ""
