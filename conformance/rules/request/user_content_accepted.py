"""Rule: what users say comes as text, where parts are refused."""

from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_PARTS = {"/0/request/messages/1/content": [{"type": "text", "text": "Is it cold in Paris in May?"}]}
_REFUSED = {"content.parts-on-user": {"status": 400, "message": "messages[{index}].content: expected a string"}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: context.claim("content.parts-on-user") not in ("accepted", "ignored"),
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("plain", _PARTS, _REFUSED)],
    good=[example("plain", claims=_REFUSED)],
    needs=("content.parts-on-user",),
    refused="content.parts-on-user",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """The content of a user message that is text alone is a string, where the provider takes no parts.

    To fix it, join the parts to one text.
    """
    listed = request.value.get("messages")
    return [
        Fault("expected a string as the content, got text parts", at=("messages", number, "content"), values=_USER)
        for number, message in enumerate(listed if type(listed) is list else ())
        if type(message) is dict and message.get("role") == "user" and _is_text(message.get("content"))
    ]


_USER = {"role": "user"}


def _is_text(content: Any) -> bool:
    return (
        type(content) is list
        and bool(content)
        and all(type(part) is dict and part.get("type") == "text" for part in content)
    )
