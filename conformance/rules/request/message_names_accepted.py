from conformance import linear
from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIM = "request.message-name-pattern"
_TEXT = "Invalid 'messages[1].name': string does not match pattern."
_REFUSED = {
    _CLAIM: {
        "pattern": "[a-zA-Z0-9_-]+",
        "refusal": {"status": 400, "message": "Invalid 'messages[{index}].name': string does not match pattern."},
    }
}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source("https://github.com/microsoft/autogen/issues/4157", _TEXT),
    bad=[
        example("plain", {"/0/request/messages/1/name": "John Doe"}, _REFUSED),
        example("tool-result", {"/0/request/messages/1/name": "Jörg"}, _REFUSED),
    ],
    good=[example("plain", {"/0/request/messages/1/name": "John_Doe"}, _REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Names of messages match the pattern that the provider requires.

    Frameworks with several agents put the name of an agent or a person there, with a space. To fix it, leave the name
    out or replace what does not match, and say in the text who speaks.
    """
    pattern = context.claim(_CLAIM)["pattern"]
    return [
        Fault(
            f"expected a name that matches {pattern}, got {name!r:.60}",
            at=("messages", number, "name"),
            values={"index": number, "name": name, "role": message.get("role")},
        )
        for number, message in context.messages()
        if type(name := message.get("name")) is str and not linear.fits(pattern, name)
    ]
