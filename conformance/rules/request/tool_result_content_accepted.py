"""Rule: the content of a result has a form that the provider takes."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CONTENT = "/0/request/messages/2/content"
_PARTS = [{"type": "text", "text": "18"}]
_REFUSED = {"status": 400, "message": "messages[{index}]: invalid type: sequence, expected a string"}
_BORNE = (None, "accepted", "ignored", "unknown")
_CLAIMS = ("results.content-parts", "results.content-empty")


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: any(context.claims.get(name) not in _BORNE for name in _CLAIMS),
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
)
def judge(request: Body, context: Context) -> list[Fault]:
    """The content of a tool message has a form that the provider accepts.

    Text parts are canonical, and yet some providers take a string only; an empty result is a string and yet refused
    by some. To fix it, join the parts to one text, and say in words that there was no output.
    """
    number = request.place[0]
    faults = []
    for result in context.index.results:
        content = result.value.get("content")
        if (content == "" or type(content) is list) and result.place[0] == number:
            name = "results.content-parts" if content else "results.content-empty"
            if context.claims.get(name) not in _BORNE:
                message = f"expected content in a form that the provider accepts, got {content!r:.60}"
                values = {"id": result.id, "role": "tool"}
                faults.append(Fault(message, place=(*result.place, "content"), values=values, claim=name))
    return faults
