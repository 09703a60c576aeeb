from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wires.responses.views import SentState, sent_states


@rule(
    Level.MUST,
    on=sent_states,
    source=Source(
        "https://platform.openai.com/docs/api-reference/responses/create",
        "Cannot be used in conjunction with `conversation`.",
    ),
    bad=[example("responses-held-session", {"/1/request/conversation": "conv_01"})],
    good=[example("responses-held-session")],
    claim="responses.two-states",
    wires=("responses",),
)
def judge(state: SentState, _context: Context) -> list[Fault]:
    """A request continues a response or a conversation, never both.

    Each of them stands for a history of its own. To fix it, send `previous_response_id` or `conversation`.
    """
    if state.value.get("previous_response_id") is None or state.value.get("conversation") is None:
        return []
    return [Fault("expected previous_response_id or conversation, got both", at=("conversation",))]
