"""Rule: text parts hold text."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CONTENT = "/0/request/messages/1/content"
_CLAIM = {"content.empty-text-part": {"status": 400, "message": "text content is empty"}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: context.claim("content.empty-text-part") not in ("accepted", "ignored"),
    source=Source("https://github.com/MoonshotAI/kimi-cli/issues/2621", "text content is empty"),
    bad=[
        example("plain", {_CONTENT: [{"type": "text", "text": ""}]}, _CLAIM),
        example("tool-result", {_CONTENT: [{"type": "text", "text": ""}]}, _CLAIM),
    ],
    good=[example("plain", {_CONTENT: [{"type": "text", "text": "Hello"}]}, _CLAIM)],
    needs=("content.empty-text-part",),
    refused="content.empty-text-part",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A text part is not empty, where the provider refuses empty ones.

    A reply that said nothing beside its calls becomes such a part in clients that keep all content as parts.
    To fix it, leave the part out.
    """
    listed = request.value.get("messages")
    faults = []
    for number, message in enumerate(listed if type(listed) is list else ()):
        content = message.get("content") if type(message) is dict else None
        for position, part in enumerate(content if type(content) is list else ()):
            if type(part) is dict and part.get("type") == "text" and part.get("text") == "":
                at = ("messages", number, "content", position, "text")
                values = {"role": message.get("role"), "position": position, "kind": "text"}
                faults.append(Fault("expected text, got an empty text part", at=at, values=values))
    return faults
