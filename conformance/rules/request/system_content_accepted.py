"""Rule: instructions come as text, where parts are refused."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_PARTS = {"/0/request/messages/0/content": [{"type": "text", "text": "You are a weather bot."}]}
_REFUSED = {"content.parts-on-system": {"status": 400, "message": "messages[{index}].content: expected a string"}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: context.claim("content.parts-on-system") not in ("accepted", "ignored"),
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("plain", _PARTS, _REFUSED)],
    good=[example("plain", claims=_REFUSED)],
    needs=("content.parts-on-system",),
    refused="content.parts-on-system",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """The content of a system message is a string, where the provider takes no parts there.

    To fix it, join the parts to one text.
    """
    listed = request.value.get("messages")
    return [
        Fault(
            "expected a string as the content of a system message, got parts",
            at=("messages", number, "content"),
            values={"role": message["role"]},
        )
        for number, message in enumerate(listed if type(listed) is list else ())
        if type(message) is dict
        and message.get("role") in ("system", "developer")
        and type(message.get("content")) is list
    ]
