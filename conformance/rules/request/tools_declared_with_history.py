"""Rule: calls in the history need their tools."""

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"tools.history-without-tools": {"status": 400, "message": "tools must be set when calls are sent."}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: context.claim("tools.history-without-tools") not in ("accepted", "ignored"),
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("tool-result", {"/0/request/tools": REMOVE}, _REFUSED)],
    good=[
        example("tool-result", claims=_REFUSED),
        example("plain", claims=_REFUSED),
    ],
    needs=("tools.history-without-tools",),
    refused="tools.history-without-tools",
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request with tool calls in its history declares tools, where the provider refuses it otherwise.

    To fix it, send the definitions on, with `tool_choice: "none"` where no further call is wanted.
    """
    if request.value.get("tools"):
        return []
    return [
        Fault("expected tools beside the calls of the history, got none", values={"field": "tools"})
        for turn in context.index.turns
        if turn.place[0] == request.place[0]
    ][:1]
