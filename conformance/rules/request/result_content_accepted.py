"""Rule: the content of a result has a form that the provider takes."""

from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.index import Body
from conformance.wire.views import requests

_CONTENT = "/0/request/messages/2/content"
_PARTS = [{"type": "text", "text": "18"}]
_REFUSED = {"status": 400, "message": "messages[{index}]: invalid type: sequence, expected a string"}
_BORNE = (None, "accepted", "ignored")
_CLAIMS = ("results.content-parts", "results.content-empty")


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: bool(context.claims) and any(context.claim(name) not in _BORNE for name in _CLAIMS),
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
    by some. To mend it, join the parts to one text, and say in words that there was no output.
    """
    listed = request.value.get("messages")
    faults = []
    for position, message in enumerate(listed if type(listed) is list else ()):
        name = _claim(message)
        if name and context.claim(name) not in _BORNE:
            got = f"expected content in a form that the provider accepts, got {message['content']!r:.60}"
            at = ("messages", position, "content")
            faults.append(Fault(got, at=at, values={"id": message.get("tool_call_id"), "role": "tool"}, claim=name))
    return faults


def _claim(message: Any) -> str:
    """Return the name of the claim about the form of a result's content; empty where it is text."""
    if type(message) is not dict or message.get("role") != "tool":
        return ""
    content = message.get("content")
    return "results.content-parts" if type(content) is list else "results.content-empty" if content == "" else ""
