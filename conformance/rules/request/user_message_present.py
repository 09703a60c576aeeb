from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.context import messages
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"request.no-user": {"status": 400, "message": "The messages parameter is illegal."}}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages("request.no-user"),
    source=Source(
        repo=(
            "agentscope-ai/agentscope-java@c2d43f86:"
            "agentscope-extensions/agentscope-extensions-model/agentscope-extensions-model-openai/src/main/java/"
            "io/agentscope/extensions/model/openai/compat/glm/GLMFormatter.java"
        ),
        quote="At least one user message is required (error 1214 otherwise)",
    ),
    bad=[example("plain", {"/0/request/messages/1": {"role": "system", "content": "Greet."}}, _REFUSED)],
    good=[example("plain", claims=_REFUSED)],
    needs=("request.no-user",),
    claim="request.no-user",
    wires=EVERY,
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A request has a user message if the provider requires one.

    To fix it, send the last instruction as a user message.
    """
    listed = request.value.get("messages")
    if type(listed) is not list or not listed:
        return []
    if any(messages(request.value, "user")):
        return []
    return [Fault("expected a user message, got none", at=("messages",), values={"role": "user"})]
