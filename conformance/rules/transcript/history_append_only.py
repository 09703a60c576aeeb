from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.changes import LOST, MOVED, Change
from conformance.wire.continuations import Continuation
from conformance.wire.reasoning import is_signed
from conformance.wire.views import continuations

_REFUSED = {"status": 400, "message": "messages[{index}]: the prefix of a signed block has changed."}


@rule(
    Level.SHOULD,
    on=continuations,
    source=Source(
        "schemas/canonical/transcript.json",
        "the list only grows: earlier messages are sent again, in the same order and unchanged",
    ),
    bad=[
        example("plain-session", {"/2/request/messages/0/content": "You are a poet. It is noon."}),
        example("plain-session", {"/2/request/messages/1/content": "[at noon] My name is Ada."}),
        example("plain-session", {"/2/request/messages/2": REMOVE}),
        example("thinking-session", {"/3/request/messages/6/content": "cold"}),
        example("thinking-session", {"/3/request/messages/0": REMOVE}),
        example(
            "reasoning-signature-session",
            {"/1/request/messages/0/content": "Good morning. What is the weather in Paris?"},
            {"signature.prefix-changed": _REFUSED},
        ),
    ],
    good=[
        example("plain-session"),
        example("thinking-session"),
        example("plain-session", {"/2/request/messages/3/content": [{"type": "text", "text": "What rhymes with it?"}]}),
    ],
    reads=("signature.prefix-changed",),
)
def judge(continuation: Continuation, _context: Context) -> list[Fault]:
    """A request that continues another repeats its messages, in order and unchanged.

    It is only a SHOULD: no provider stores the history, and a client may shorten one that grew too long. But everything
    after the change misses the prompt cache, and the model continues from something that it never saw. Providers that
    check signatures reject signed parts after the change. Other rules cover lost user messages, changed replies and
    reasoning. To fix it, append to what was sent, and put what changes (the time, the state of a task) into the new
    message.
    """
    if not continuation.changes:
        return []
    return [_fault(continuation, change) for change in continuation.changes if not _is_lost_user(change)]


def _is_lost_user(change: Change) -> bool:
    return change.kind == LOST and change.value.get("role") == "user"


def _fault(continuation: Continuation, change: Change) -> Fault:
    role = str(change.value.get("role"))[:40]
    words = f"message {change.number} of the previous request ({role})"
    if change.at is None:
        message, place = f"expected {words}, got none", (*continuation.place, "messages")
    else:
        what = "in order, got it after others" if change.kind == MOVED else "unchanged, got another text"
        message, place = f"expected {words} {what}", (*continuation.place, "messages", change.at)
    later = continuation.value["messages"][continuation.end if change.at is None else change.at :]
    claim = "signature.prefix-changed" if any(map(is_signed, later)) else None
    return Fault(message, place=place, values={"role": role}, claim=claim)
