from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wires.responses.views import SentState, sent_states


@rule(
    Level.MUST,
    on=sent_states,
    where=lambda state, _context: state.stored is not None,
    source=Source(
        "https://platform.openai.com/docs/guides/conversation-state",
        "Previous response with id 'resp_123' not found.",
    ),
    bad=[example("responses-held-session", {"/0/response/store": False})],
    good=[example("responses-held-session")],
    claim="responses.previous-response-not-stored",
    wires=("responses",),
)
def judge(state: SentState, _context: Context) -> list[Fault]:
    """`previous_response_id` names a response that the server keeps.

    A response that was made with `store: false` cannot be continued by its id. To fix it, send its items back, or let
    the server store it.
    """
    if state.stored is not False:
        return []
    previous = state.value["previous_response_id"]
    message = f"expected a response that is stored, got {previous!r}, made with store: false"
    return [Fault(message, at=("previous_response_id",), values={"id": previous})]
