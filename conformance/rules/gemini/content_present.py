from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, replies
from conformance.wire.values import as_object, objects

_BLOCKED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MAX_TOKENS")
"""Finish reasons that say why there is no content; the limit can be reached before any."""

_NOT_SAID = frozenset({"text", "thought", "thoughtSignature", "partMetadata"})
_CANDIDATE = "/1/response/candidates/0"
_MALFORMED = {f"{_CANDIDATE}/content": {}, f"{_CANDIDATE}/finishReason": "MALFORMED_FUNCTION_CALL"}


def _candidates(reply: NativeBody) -> list[tuple[int, dict[str, Any]]]:
    listed = objects(reply.value.get("candidates"))
    return [(at, dict(each)) for at, each in listed if each.get("finishReason") not in (None, *_BLOCKED)]


@rule(
    Level.MUST,
    on=replies,
    where=lambda reply, _context: bool(_candidates(reply)) or _says_nothing(reply.value),
    source=Source(
        "https://github.com/BerriAI/litellm/issues/36881",
        "When a Gemini candidate comes back with no `content`",
    ),
    bad=[
        example(
            "gemini-session", {f"{_CANDIDATE}/content": {}, f"{_CANDIDATE}/finishReason": "MALFORMED_FUNCTION_CALL"}
        ),
        example("gemini-session", {f"{_CANDIDATE}/content/parts": [{"text": ""}]}),
        example("gemini-session", {"/1/response/candidates": []}),
        example("gemini-session", {f"{_CANDIDATE}/content/parts": [{"text": "\n", "thoughtSignature": "c2ln"}]}),
    ],
    good=[
        example("gemini-session"),
        example("gemini-stream"),
        example("gemini-session", {f"{_CANDIDATE}/content": {}, f"{_CANDIDATE}/finishReason": "SAFETY"}),
    ],
    wires=("gemini",),
)
def judge(reply: NativeBody, _context: Context) -> list[Fault]:
    """A candidate that was not blocked has content.

    Clients drop such a candidate and end the loop without an answer (LiteLLM), or store it and are rejected with the
    next request, because content needs parts (the chats of Google's SDK for Go). To fix it, ask the model again.
    """
    if _says_nothing(reply.value):
        return [Fault("expected a candidate, or a promptFeedback that says why there is none, got neither")]
    return [
        Fault(f"expected text, a call or data, got none of them and {each['finishReason']!r}", at=("candidates", at))
        for at, each in _candidates(reply)
        if not any(_says_something(part) for _, part in objects(as_object(each.get("content")).get("parts")))
    ]


def _says_nothing(reply: Any) -> bool:
    """Return whether a reply has neither candidates, nor a reason for that, nor an error."""
    return not any([reply.get(key) for key in ("candidates", "promptFeedback", "error")])


def _says_something(part: Any) -> bool:
    """Return whether a part has more than blank text; a thought alone has a rule of its own."""
    text = part.get("text")
    has_text = type(text) is str and bool(text.strip())
    return has_text or any([value for key, value in part.items() if key not in _NOT_SAID])
