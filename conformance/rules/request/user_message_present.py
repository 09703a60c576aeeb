"""Rule: somebody asks."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"request.no-user": {"status": 400, "message": "The messages parameter is illegal."}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: context.claim("request.no-user") not in ("accepted", "ignored"),
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("plain", {"/0/request/messages/1": {"role": "system", "content": "Greet."}}, _REFUSED)],
    good=[example("plain", claims=_REFUSED)],
    needs=("request.no-user",),
    refused="request.no-user",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A request holds a user message, where the provider refuses it otherwise.

    To fix it, send the last instruction as the user's.
    """
    listed = request.value.get("messages")
    if type(listed) is not list or not listed:
        return []
    if any(type(message) is dict and message.get("role") == "user" for message in listed):
        return []
    return [Fault("expected a user message, got none", at=("messages",), values={"role": "user"})]
