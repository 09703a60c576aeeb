from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CONTENT = "/0/request/messages/1/content"
_REFUSED = {"status": 400, "message": "Invalid 'content': 'content' field must be a string or an array of objects.."}
_STRICT = {
    "content.null-on-tool-turn": _REFUSED,
    "content.absent-on-tool-turn": _REFUSED,
    "content.empty-on-tool-turn": "accepted",
}
_CLAIMS = tuple(f"content.{form}-on-tool-turn" for form in ("absent", "null", "empty", "text", "empty-list", "parts"))


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: any(claimed.rejects_or_damages(name) for name in _CLAIMS),
    source=Source(
        "https://github.com/vercel/ai/pull/13538",
        "ValidationException: messages: text content blocks must be non-empty",
    ),
    bad=[
        example("tool-result", {_CONTENT: None}, _STRICT),
        example("tool-result", {_CONTENT: REMOVE}, _STRICT),
        example("tool-result", {_CONTENT: ""}, {"content.empty-on-tool-turn": _REFUSED}),
        example("tool-result", {_CONTENT: "Let me look."}, {"content.text-on-tool-turn": "damaged"}),
        example("tool-result", {_CONTENT: []}, {"content.empty-list-on-tool-turn": _REFUSED}),
    ],
    good=[
        example("tool-result", claims=_STRICT),
        example("tool-result", {_CONTENT: None}, {"content.empty-on-tool-turn": _REFUSED}),
    ],
    reads=_CLAIMS,
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """The content of messages with tool calls has a form that the provider accepts.

    If the model said nothing beside its calls, there are four ways to write that: null, an empty string, an empty list,
    or no key. Each is rejected somewhere. To fix it, use the form that the profile lists as accepted; if none is known,
    send an empty string.
    """
    rejected = {name for name in _CLAIMS if context.rejects_or_damages(name)}
    faults = []
    for turn in context.turns:
        if (name := _claim(turn.value)) in rejected:
            at = ("content",) if "content" in turn.value else ()
            got = f"{turn.value['content']!r:.60}" if at else "none"
            message = f"expected content in a form that the provider accepts, got {got}"
            faults.append(Fault(message, place=(*turn.place, *at), values={"role": "assistant"}, claim=name))
    return faults


def _claim(message: dict[str, Any]) -> str:
    """Return the name of the claim about the form of the content."""
    content = message.get("content", ...)
    if content is ...:
        return "content.absent-on-tool-turn"
    if content is None:
        return "content.null-on-tool-turn"
    if type(content) is list:
        return "content.parts-on-tool-turn" if content else "content.empty-list-on-tool-turn"
    return "content.text-on-tool-turn" if content else "content.empty-on-tool-turn"
