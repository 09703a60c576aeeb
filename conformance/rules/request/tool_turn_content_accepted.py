"""Rule: content beside calls has a form that the provider takes."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.index import Turn
from conformance.wire.pointer import REMOVE
from conformance.wire.views import tool_turns

_CONTENT = "/0/request/messages/1/content"
_REFUSED = {"status": 400, "message": "Invalid 'content': 'content' field must be a string or an array of objects.."}
_STRICT = {
    "content.null-on-tool-turn": _REFUSED,
    "content.absent-on-tool-turn": _REFUSED,
    "content.empty-on-tool-turn": "accepted",
}


def _claim(turn: Turn) -> str:
    """Return the name of the claim about the form that the content has."""
    content = turn.value.get("content", ...)
    if content is ...:
        form = "absent"
    elif content is None:
        form = "null"
    elif type(content) is list:
        form = "parts" if content else "empty-list"
    else:
        form = "text" if content else "empty"
    return f"content.{form}-on-tool-turn"


@rule(
    Level.MUST,
    on=tool_turns,
    where=lambda turn, context: bool(context.claims) and context.claim(_claim(turn)) is not None,
    source=Source("https://github.com/vercel/ai/issues/13744"),
    bad=[
        example("tool-result", {_CONTENT: None}, _STRICT),
        example("tool-result", {_CONTENT: REMOVE}, _STRICT),
        example("tool-result", {_CONTENT: ""}, {"content.empty-on-tool-turn": _REFUSED}),
        example("tool-result", {_CONTENT: "Let me look."}, {"content.text-on-tool-turn": "damaged"}),
    ],
    good=[
        example("tool-result", claims=_STRICT),
        example("tool-result", {_CONTENT: None}, {"content.null-on-tool-turn": "accepted"}),
    ],
)
def judge(turn: Turn, context: Context) -> list[Fault]:
    """The content of an assistant message with tool calls has a form that the provider accepts.

    The model said nothing beside its calls, and there are four ways to write that: null, an empty string, an empty
    list, or no key. Each is refused somewhere. To mend it, write it the way that the profile claims to be accepted;
    where none is known, send an empty string.
    """
    name = _claim(turn)
    if context.claim(name) in ("accepted", "ignored"):
        return []
    got = f"{turn.value['content']!r:.60}" if "content" in turn.value else "none"
    message = f"expected content in a form that the provider accepts, got {got}"
    at = ("content",) if "content" in turn.value else ()
    return [Fault(message, at=at, values={"role": "assistant"}, claim=name)]
