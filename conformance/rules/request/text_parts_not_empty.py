from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CONTENT = "/0/request/messages/1/content"
_CLAIM = {"content.empty-text-part": {"status": 400, "message": "text content is empty"}}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: claimed.rejects_or_damages("content.empty-text-part"),
    source=Source("https://github.com/MoonshotAI/kimi-cli/issues/2621", "text content is empty"),
    bad=[
        example("plain", {_CONTENT: [{"type": "text", "text": ""}]}, _CLAIM),
        example("tool-result", {_CONTENT: [{"type": "text", "text": ""}]}, _CLAIM),
    ],
    good=[example("plain", {_CONTENT: [{"type": "text", "text": "Hello"}]}, _CLAIM)],
    needs=("content.empty-text-part",),
    claim="content.empty-text-part",
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Text parts are not empty if the provider rejects empty ones.

    Clients that store all content as parts make one from a reply with calls and no text. To fix it, omit the part.
    """
    faults = []
    for number, message in context.messages():
        content = message.get("content")
        for position, part in enumerate(content if type(content) is list else ()):
            if type(part) is dict and part.get("type") == "text" and part.get("text") == "":
                at = ("messages", number, "content", position, "text")
                values = {"role": message.get("role"), "position": position, "kind": "text"}
                faults.append(Fault("expected text, got an empty text part", at=at, values=values))
    return faults
