from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CONTENT = "/0/request/messages/2/content"
_PARTS = [{"type": "text", "text": "18"}]
_REFUSED = {"status": 400, "message": "messages[{index}]: invalid type: sequence, expected a string"}
_CLAIMS = ("results.content-parts", "results.content-empty")


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: any(claimed.rejects_or_damages(name) for name in _CLAIMS),
    source=Source(
        "https://github.com/tailcallhq/forgecode/issues/2008",
        "Failed to deserialize the JSON body into the target type",
    ),
    bad=[
        example("tool-result", {_CONTENT: _PARTS}, {"results.content-parts": _REFUSED}),
        example("tool-result", {_CONTENT: ""}, {"results.content-empty": "damaged"}),
    ],
    good=[
        example("tool-result", claims={"results.content-parts": _REFUSED}),
        example("tool-result", {_CONTENT: ""}, {"results.content-parts": _REFUSED}),
    ],
    reads=_CLAIMS,
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """The content of tool messages has a form that the provider accepts.

    Text parts are canonical, but some providers accept only a string. An empty string is canonical, but some reject it.
    To fix it, join the parts into one text, and say in words that there was no output.
    """
    faults = []
    for result in context.results:
        content = result.value.get("content")
        if content == "" or type(content) is list:
            name = "results.content-parts" if content else "results.content-empty"
            if context.rejects_or_damages(name):
                message = f"expected content in a form that the provider accepts, got {content!r:.60}"
                values = {"id": result.id, "role": "tool"}
                faults.append(Fault(message, place=(*result.place, "content"), values=values, claim=name))
    return faults
