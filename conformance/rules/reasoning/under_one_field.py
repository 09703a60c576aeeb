from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.reasoning import PAIR
from conformance.wire.views import requests

_BOTH = {"/2/request/messages/5/reasoning": "Rome is warm; Oslo is left."}
_REFUSED = {"reasoning.input.both": {"status": 400, "message": "messages.{index}: both are set"}}


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: (
        claimed.rejects_or_damages("reasoning.input.both")
        and not any([claimed.rejects_or_damages(f"reasoning.input.{name}") for name in PAIR])
    ),
    source=Source("https://github.com/agentjido/req_llm/issues/772"),
    bad=[example("thinking-session", _BOTH, _REFUSED)],
    good=[example("thinking-session", claims=_REFUSED)],
    needs=("reasoning.input.both",),
    claim="reasoning.input.both",
    reads=tuple([f"reasoning.input.{name}" for name in PAIR]),
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Assistant messages carry reasoning in one field if the provider rejects two.

    If it rejects one of them anyway, another rule reports it. To fix it, send the field that the provider is documented
    to read.
    """
    return [
        Fault(
            "expected the reasoning in one field, got it in both",
            at=("messages", number, "reasoning"),
            values={"role": "assistant", "field": "reasoning"},
        )
        for number, message in context.assistants
        if all(message.get(name) for name in PAIR)
    ]
