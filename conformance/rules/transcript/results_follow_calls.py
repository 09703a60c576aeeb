from conformance.results import Level
from conformance.rules import EVERY, TURN, Context, Fault, Source, example, rule
from conformance.wire.elements import Result
from conformance.wire.views import tool_results


@rule(
    Level.MUST,
    on=tool_results,
    reach=TURN,
    where=lambda result, _context: result.called is not None,
    source=Source(
        "https://github.com/gptme/gptme/issues/3421",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    ),
    bad=[
        example(
            "tool-result",
            {
                "/0/request/messages/2": {"role": "user", "content": "Are you there?"},
                "/0/request/messages/-": {"role": "tool", "tool_call_id": "call_a", "content": "18"},
            },
        ),
    ],
    good=[example("tool-result"), example("tool-result-parallel")],
    claim="results.not-adjacent",
    wires=EVERY,
)
def judge(result: Result, _context: Context) -> list[Fault]:
    """Tool results directly follow the assistant message with their calls.

    A user or system message that arrives while tools run waits until the last result is in. To fix it, move the
    messages in between to the end.
    """
    if result.adjacent:
        return []
    text = "expected only tool messages between the calls and this result, got another message"
    return [Fault(text, values={"id": result.id, "ids": result.id})]
