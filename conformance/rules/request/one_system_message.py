from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.context import messages
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = {"request.several-system": {"status": 400, "message": "Only one system message is allowed."}}
_SECOND = {"/0/request/messages/1": {"role": "system", "content": "Be brief."}}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages("request.several-system"),
    source=Source("https://github.com/MiniMax-AI/MiniMax-M2/issues/51", "invalid params, invalid chat setting (2013)"),
    bad=[example("request-plain-turns", _SECOND, _CLAIM)],
    good=[example("request-plain-turns", claims=_CLAIM)],
    needs=("request.several-system",),
    claim="request.several-system",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A request has one system message if the provider accepts only one.

    To fix it, join their texts.
    """
    found = [position for position, _ in messages(request.value, "system")]
    return [
        Fault(
            "expected one system message, got another",
            at=("messages", position),
            values={"role": "system", "count": len(found)},
        )
        for position in found[1:]
    ]
