from collections import Counter

from conformance.results import Level
from conformance.rules import EVERY, TURN, Context, Fault, Source, example, rule
from conformance.wire.elements import ToolTurn
from conformance.wire.keys import key_of
from conformance.wire.views import tool_turns


@rule(
    Level.MUST,
    on=tool_turns,
    reach=TURN,
    source=Source(
        "https://github.com/agno-agi/agno/issues/5116",
        "Invalid parameter: Duplicate value for 'tool_call_id'",
    ),
    bad=[
        example(
            "tool-result",
            {"/0/request/messages/-": {"role": "tool", "tool_call_id": "call_a", "content": "18, still"}},
        ),
    ],
    good=[example("tool-result-parallel")],
    claim="results.duplicated",
    wires=EVERY,
)
def judge(turn: ToolTurn, _context: Context) -> list[Fault]:
    """A tool call has only one result.

    Calls that share an id may have as many results as there are calls. To fix it, put all output of a tool into the one
    message, and do not append the result of a retried call beside the first.
    """
    if turn.paired:
        return []
    open_calls = Counter(map(key_of, turn.ids))
    known = set(map(repr, turn.ids))
    faults = []
    for result in turn.results:
        key = key_of(result.id)
        if open_calls[key]:
            open_calls[key] -= 1
        elif repr(result.id) in known:
            message = f"expected one tool message for {result.id!r}, got another"
            faults.append(Fault(message, place=(*result.place, "tool_call_id"), values={"id": result.id}))
    return faults
