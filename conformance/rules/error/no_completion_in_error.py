from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import errors

_CHOICE = {"index": 0, "message": {"role": "assistant", "content": "Rarely."}, "finish_reason": "stop"}


@rule(
    Level.SHOULD,
    on=errors,
    harm=Harm.LOOP,
    where=lambda answer, _context: type(answer.value) is dict,
    source=Source("https://platform.openai.com/docs/api-reference/chat/object"),
    bad=[example("error", {"/0/response/choices": [_CHOICE]})],
    good=[example("error"), example("error-rate-limit")],
    wires=EVERY,
)
def judge(answer: Body, _context: Context) -> list[Fault]:
    """A reply with an error status contains no completion.

    A client drops the body, or retries and pays twice. To fix it, send the completion with status 200.
    """
    choices = answer.value.get("choices")
    if type(choices) is not list or not any(type(choice) is dict and choice.get("message") for choice in choices):
        return []
    return [Fault(f"expected no choices with status {answer.exchange.status}, got {len(choices)}", at=("choices",))]
