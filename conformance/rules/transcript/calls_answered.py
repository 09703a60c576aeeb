from collections import Counter

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import EVERY, TURN, Context, Fault, Source, example, rule
from conformance.wire.elements import ToolTurn
from conformance.wire.keys import key_of
from conformance.wire.views import tool_turns

_NO_ID = "results.without-id"
_UNKNOWN_ID = "results.unknown-id"
_NONE = "gemini.call-without-response"


@rule(
    Level.MUST,
    on=tool_turns,
    reach=TURN,
    source=Source(
        "https://github.com/sdcb/chats/issues/132",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    ),
    bad=[
        example("tool-result-parallel", {"/0/request/messages/4": REMOVE}),
        example("tool-result", {"/0/request/messages/2": {"role": "user", "content": "Never mind."}}),
    ],
    good=[example("tool-result")],
    claim="results.missing",
    reads=("results.missing-at-end", _NO_ID, _UNKNOWN_ID, _NONE),
    wires=EVERY,
)
def judge(turn: ToolTurn, context: Context) -> list[Fault]:
    """Every tool call in a request's history has a tool message.

    A call whose tool failed or was denied is answered too: the failure is text in `content`. Calls that share an id
    need one result each. To fix it, reserve one result per call before any tool runs, and fill each in its place.
    """
    if turn.paired:
        return []
    answers = Counter([key_of(result.id) for result in turn.results])
    is_last = turn.number == len(turn.request["messages"]) - 1
    claim = "results.missing-at-end" if is_last and context.knows("results.missing-at-end") else None
    if not turn.results and not is_last and context.knows(_NONE):
        claim = _NONE
    if any(result.id is None for result in turn.results) and _NO_ID in context.claims:
        # What a provider does with a result without an id, it does with the call that this result may be meant for.
        claim = claim if context.rejects_or_damages(_NO_ID) else _NO_ID
    elif claim is None and not context.knows("results.missing") and _is_misnamed(turn, context):
        claim = _UNKNOWN_ID
    calls, faults = turn.calls, []
    for call in calls:
        key = key_of(call.id)
        if answers[key]:
            answers[key] -= 1
        else:
            message = f"expected a tool message with tool_call_id {call.id!r} before the next turn, got none"
            missing = {"id": call.id, "ids": call.id, "count": len(calls)}
            faults.append(Fault(message, at=("tool_calls", call.position), values=missing, claim=claim))
    return faults


def _is_misnamed(turn: ToolTurn, context: Context) -> bool:
    """Return True if a result names no call of the turn, and the provider answers such a request all the same."""
    own = {key_of(call.id) for call in turn.calls}
    is_answered = context.knows(_UNKNOWN_ID) and not context.rejects_or_damages(_UNKNOWN_ID)
    return is_answered and any(result.id is not None and key_of(result.id) not in own for result in turn.results)
