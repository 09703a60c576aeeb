from collections.abc import Mapping
from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeMessage, special_messages

_FIRST, _ROLE, _POSITION = "messages.system-first", "messages.system-role", "messages.system-position"
_SYSTEM = {"role": "system", "content": "Answer in French."}
_USER = {"role": "user", "content": "Hello."}
_AT = "/0/request/messages"
_LEADING = {_FIRST: {"status": 400, "message": "messages.0: use the top-level 'system' parameter"}}
_REFUSED = {_ROLE: {"status": 400, "message": "role 'system' is not supported on this model"}}
_PLACED = {_POSITION: {"status": 400}}


@rule(
    Level.MUST,
    on=special_messages,
    where=lambda message, _context: message.value.get("role") == "system",
    when=lambda claimed: any([claimed.rejects_or_damages(each) for each in (_FIRST, _ROLE, _POSITION)]),
    source=Source(
        package="pypi/pydantic-ai-slim@2.68.0:pydantic_ai/profiles/anthropic.py#L32",
        quote="Older models reject it outright (`role 'system' is not",
    ),
    bad=[
        example("messages-result", {f"{_AT}/0": {"role": "system", "content": "Be brief."}}, _LEADING),
        example("messages-result", {f"{_AT}/-": _SYSTEM}, _REFUSED),
        example("messages-result", {_AT: [_USER, _SYSTEM, _USER]}, _PLACED),
    ],
    good=[example("messages-result", {f"{_AT}/-": _SYSTEM}, _PLACED)],
    reads=(_FIRST, _ROLE, _POSITION),
    wires=("messages",),
)
def judge(message: NativeMessage, context: Context) -> list[Fault]:
    """A message with the role system stands only where the model takes one.

    Newer Claude models read instructions in the middle of a conversation, directly before a message of the assistant
    or at the end; older ones reject the role, or ignore what it says. To fix it, put the text into `system`, or into
    the message of the user before it.
    """
    values = {"index": message.number, "role": "system"}
    at = ("role",)
    if message.number == 0:
        return [Fault("expected a message of the user first, got role system", at=at, values=values, claim=_FIRST)]
    if context.rejects_or_damages(_ROLE):
        return [Fault("expected role user or assistant, got system", at=at, values=values, claim=_ROLE)]
    following = _following(message)
    if following is None or following.get("role") == "assistant":
        return []
    expected = "expected a message of the assistant, or none, after one with role system"
    text = f"{expected}, got role {following.get('role')!r:.20}"
    return [Fault(text, at=at, values=values, claim=_POSITION)]


def _following(message: NativeMessage) -> Mapping[str, Any] | None:
    """Return the next message that has another role than system."""
    later = [each for each in message.siblings[message.number + 1 :] if type(each) is dict]
    return next((each for each in later if each.get("role") != "system"), None)
