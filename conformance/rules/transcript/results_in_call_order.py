from conformance.results import Harm, Level
from conformance.rules import EVERY, TURN, Context, Fault, Source, example, rule
from conformance.wire.elements import ToolTurn
from conformance.wire.keys import key_of
from conformance.wire.views import tool_turns


@rule(
    Level.MUST,
    on=tool_turns,
    reach=TURN,
    harm=Harm.CONTENT,
    source=Source(
        "https://github.com/can1357/oh-my-pi/issues/11179",
        "Any model that reads results positionally then pairs them with the wrong calls.",
    ),
    bad=[
        example(
            "tool-result-parallel",
            {
                "/0/request/messages/3/tool_call_id": "call_b",
                "/0/request/messages/4/tool_call_id": "call_a",
            },
        ),
    ],
    good=[example("tool-result-parallel")],
    claim="results.reversed",
    wires=EVERY,
)
def judge(turn: ToolTurn, _context: Context) -> list[Fault]:
    """Tool results are in the order of the calls that they answer.

    Some hosts and models repeat ids, and then only the position says which result belongs to which call. To fix it,
    append results in the order of `tool_calls`, in whatever order the tools finished.
    """
    if turn.paired or len(turn.results) < 2:
        return []
    # Of calls that share an id, the first counts.
    called = {key_of(each): position for position, each in reversed([*enumerate(turn.ids)])}
    answered = [result for result in turn.results if key_of(result.id) in called]
    expected = sorted(answered, key=lambda result: called[key_of(result.id)])
    for result, wanted in zip(answered, expected, strict=True):
        if result.id != wanted.id:
            message = f"expected the result of {wanted.id!r}, in the order of the calls, got that of {result.id!r}"
            return [Fault(message, place=(*result.place, "tool_call_id"), values={"id": result.id})]
    return []
