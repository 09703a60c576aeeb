from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.context import messages
from conformance.wire.elements import Body
from conformance.wire.reasoning import TEXT_KEYS
from conformance.wire.text import quoted
from conformance.wire.views import requests

_TURN = "/0/request/messages/1"
_SAME = {f"{_TURN}/reasoning_content": "The tool knows.", f"{_TURN}/reasoning": "The tool knows."}


@rule(
    Level.SHOULD,
    on=requests,
    source=Source("schemas/canonical/transcript.json", "If two fields hold reasoning, both hold the same text"),
    bad=[example("tool-result", _SAME | {f"{_TURN}/reasoning": "It is not known."})],
    good=[example("tool-result", _SAME)],
)
def judge(request: Body, context: Context) -> list[Fault]:
    """An assistant message of a request that has reasoning in two fields has the same text in both.

    A provider reads one of them, so what the model remembers depends on the provider. A reply that came like this is
    the provider's fault. To fix it, send one field, or fill both from one text.
    """
    expected, other = TEXT_KEYS
    differing = [
        (number, message[expected], message[other])
        for number, message in messages(request.value, "assistant")
        if message.get(expected) and message.get(other) and message[expected] != message[other]
    ]
    replies = [reply.message for reply in context.index.replies] if differing else []
    received = [(message.get(expected), message.get(other)) for message in replies]
    return [
        Fault(f"expected {quoted(first)} as under {expected}, got {quoted(second)}", at=("messages", number, other))
        for number, first, second in differing
        if (first, second) not in received
    ]
