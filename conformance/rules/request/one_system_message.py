"""Rule: one system message."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = {"request.several-system": {"status": 400, "message": "Only one system message is allowed."}}
_SECOND = {"/0/request/messages/1": {"role": "system", "content": "Be brief."}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: context.claim("request.several-system") not in ("accepted", "ignored"),
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("request-plain-turns", _SECOND, _CLAIM)],
    good=[example("request-plain-turns", claims=_CLAIM)],
    needs=("request.several-system",),
    refused="request.several-system",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A request holds one system message, where the provider takes no more.

    To fix it, join their texts to one.
    """
    listed = request.value.get("messages")
    found = [
        position
        for position, message in enumerate(listed if type(listed) is list else ())
        if type(message) is dict and message.get("role") == "system"
    ]
    return [
        Fault(
            "expected one system message, got another",
            at=("messages", position),
            values={"role": "system", "count": len(found)},
        )
        for position in found[1:]
    ]
