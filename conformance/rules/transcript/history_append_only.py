from bisect import bisect_left
from collections.abc import Sequence, Set
from functools import cached_property
from operator import itemgetter
from typing import Any

from conformance.documents.pointer import REMOVE, Place
from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.changes import LOST, MOVED, MessageChange
from conformance.wire.continuations import Continuation
from conformance.wire.elements import Call
from conformance.wire.reasoning import is_signed
from conformance.wire.reuse import SentCalls, calls_of_messages, missing, overwritten, sent_calls
from conformance.wire.same_calls import call_key, calls_in
from conformance.wire.text import content_text, quoted, quoted_difference
from conformance.wire.views import continuations

_REFUSED = {"status": 400, "message": "messages[{index}]: the prefix of a signed block has changed."}


@rule(
    Level.SHOULD,
    on=continuations,
    harm=Harm.CONTENT,
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
    wires=EVERY,
)
def judge(continuation: Continuation, context: Context) -> list[Fault]:
    """A request that continues another repeats its messages, in order and unchanged.

    It is only a SHOULD: no provider stores the history, and a client may shorten one that grew too long. But everything
    after the change misses the prompt cache, and the model continues from something that it never saw. It is a MUST if
    the result of a call is replaced by that of a later call with the same id: the model then reads a wrong result.
    Providers that check signatures reject signed parts after the change. Other rules cover lost user messages, changed
    replies and reasoning. To fix it, append to what was sent, keep one result per call and not per id, and put what
    changes (the time, the state of a task) into the new message.
    """
    if not continuation.changes:
        return []
    before = context.index.conversation[continuation.earlier].request["messages"]
    history = _History(before, continuation.value["messages"], context.index.reply_call_keys(context.number))
    return [
        fault
        for change in continuation.changes
        if not (_is_lost_user(change) or _is_named_with_its_call(change, history))
        for fault in _of_reuse(continuation, change, history) or [_fault(continuation, change, history)]
    ]


class _History:
    """What faults say of the messages around a change, found once for all changes of a request."""

    def __init__(self, before: Sequence[Any], after: Sequence[Any], known: Set[Any]) -> None:
        self.before, self.after, self._known = before, after, known
        self.last_signed = max((at for at, message in enumerate(after) if is_signed(message)), default=-1)
        self.calls: dict[str, list[tuple[int, Call]]] = {}
        self.last_results: dict[tuple[str, str], int] = {}
        for number, message in enumerate(before):
            for call in calls_in(message) if type(message) is dict else ():
                same_id = self.calls.setdefault(call.id, []) if type(call.id) is str else []
                if not same_id or same_id[-1][0] != number:
                    same_id.append((number, call))
        for at, message in enumerate(after):
            identity = message.get("tool_call_id") if type(message) is dict else None
            if type(identity) is str:
                self.last_results[identity, content_text(message.get("content"))] = at

    @cached_property
    def sent(self) -> SentCalls:
        """The calls of the request, with the ids of those that the request before it or a reply has."""
        earlier = {call_key(call) for call in calls_of_messages(self.before)}
        return sent_calls(self.after, earlier, self._known)

    def called(self, identity: str, number: int) -> Call | None:
        """Return the latest call with an id before a message; None if there is none."""
        same_id = self.calls.get(identity, [])
        following = bisect_left(same_id, number, key=itemgetter(0))
        return same_id[following - 1][1] if following else None


def _is_lost_user(change: MessageChange) -> bool:
    return change.kind == LOST and change.value.get("role") == "user"


def _is_named_with_its_call(change: MessageChange, history: _History) -> bool:
    """Return whether a lost result is one of a call that is gone because its id was used again, which is reported."""
    identity = change.value.get("tool_call_id")
    if change.kind != LOST or change.value.get("role") != "tool" or type(identity) is not str:
        return False
    called = history.called(identity, change.number)
    return called is not None and bool(overwritten([called], history.sent))


def _of_reuse(continuation: Continuation, change: MessageChange, history: _History) -> list[Fault]:
    """Return the faults of an assistant message whose calls are gone because their ids were used again."""
    if change.value.get("role") != "assistant" or change.kind == MOVED:
        return []
    gone = overwritten(calls_in(change.value), history.sent)
    place: Place = (*continuation.place, "messages", *(() if change.at is None else (change.at,)))
    # Other content in its place is a wrong memory; a history may be shortened.
    level = None if change.at is None else Level.MUST
    return [
        Fault(missing(call, [history.before]), place=place, values={"role": "assistant"}, level=level) for call in gone
    ]


def _fault(continuation: Continuation, change: MessageChange, history: _History) -> Fault:
    role = str(change.value.get("role"))[:40]
    messages = history.after
    words = f"message {change.number} of the previous request ({role}{_call_of(change, history)})"
    text, place = _text(change.value), (*continuation.place, "messages")
    level = None
    if change.at is None:
        message = f"expected {words}, {quoted(text)}, got none"
    elif change.kind == MOVED:
        message, place = f"expected {words}, {quoted(text)}, in order, got it after others", (*place, change.at)
    else:
        old, new = quoted_difference(text, _text(messages[change.at]))
        is_overwritten = _is_overwritten(change, history)
        found = f"{new}, the result of a later call with this id" if is_overwritten else new
        message, place = f"expected {words} unchanged, {old}, got {found}", (*place, change.at)
        level = Level.MUST if is_overwritten else None
    start = continuation.end if change.at is None else change.at
    claim = "signature.prefix-changed" if history.last_signed >= start else None
    return Fault(message, place=place, values={"role": role}, claim=claim, level=level, is_loss=level is not None)


def _text(message: Any) -> str:
    """Return what a message says: its text, else its calls."""
    text = content_text(message.get("content")) if type(message) is dict else ""
    return text or ", ".join([f"{call.name}({call.arguments})" for call in calls_in(message)])


def _call_of(change: MessageChange, history: _History) -> str:
    """Return which call a tool message answers, in words; empty for other messages."""
    identity = change.value.get("tool_call_id")
    if change.value.get("role") != "tool" or type(identity) is not str:
        return ""
    called = history.called(identity, change.number)
    return f" for call {identity!r:.60}" + ("" if called is None else f" of {called.name!r:.60}")


def _is_overwritten(change: MessageChange, history: _History) -> bool:
    """Return whether a result now has the text of a later result with the same id."""
    identity = change.value.get("tool_call_id")
    if change.value.get("role") != "tool" or type(identity) is not str or change.at is None:
        return False
    text = content_text(history.after[change.at].get("content"))
    return bool(text) and history.last_results.get((identity, text), -1) > change.at
