from conformance.documents.pointer import REMOVE
from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.changes import LOST
from conformance.wire.continuations import Continuation
from conformance.wire.views import continuations


@rule(
    Level.MUST,
    on=continuations,
    harm=Harm.CONTENT,
    source=Source("schemas/canonical/transcript.json", "no user message is lost"),
    bad=[
        example("plain-session", {"/2/request/messages/1": REMOVE}),
        example("plain-session", {"/2/request/messages/3": REMOVE}),
        example("thinking-session", {"/3/request/messages/1": REMOVE}),
    ],
    good=[
        example("plain-session"),
        example("plain-session", {"/2/request/messages/5/content": "What rhymes with it?"}),
    ],
    wires=EVERY,
)
def judge(continuation: Continuation, _context: Context) -> list[Fault]:
    """A request that continues another keeps all its user messages.

    Without the question, the model takes the answer for the beginning, and repeats or forgets the task. If its
    neighbours are gone too, the client has shortened the history, which it may: then it is only a SHOULD. To fix it,
    keep user messages in the list from which you build requests, and append each once.
    """
    return [
        Fault(
            f"expected message {change.number} of the previous request (user), got none",
            at=("messages",),
            values={"role": "user"},
            level=None if change.is_isolated else Level.SHOULD,
        )
        for change in continuation.changes
        if change.kind == LOST and change.value.get("role") == "user"
    ]
