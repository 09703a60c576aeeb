from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"tools.history-without-tools": {"status": 400, "message": "tools must be set when calls are sent."}}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages("tools.history-without-tools"),
    source=Source(
        "https://github.com/pydantic/pydantic-ai/pull/5929",
        "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    ),
    bad=[example("tool-result", {"/0/request/tools": REMOVE}, _REFUSED)],
    good=[
        example("tool-result", claims=_REFUSED),
        example("plain", claims=_REFUSED),
    ],
    needs=("tools.history-without-tools",),
    claim="tools.history-without-tools",
    wires=EVERY,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request with tool calls in its history declares tools if the provider requires it.

    To fix it, keep sending the definitions, with `tool_choice: "none"` if no further call is wanted.
    """
    if request.value.get("tools"):
        return []
    if not context.has_turns:
        return []
    return [Fault("expected tools beside the calls of the history, got none", values={"field": "tools"})]
