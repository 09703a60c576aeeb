from conformance.results import Level
from conformance.rules import EVERY, TURN, Context, Fault, Source, example, misplaced_ids, rule, unless_faulty
from conformance.wire.elements import Result
from conformance.wire.views import tool_results

_NO_ID = "results.without-id"


@rule(
    Level.MUST,
    on=tool_results,
    reach=TURN,
    settled=unless_faulty,
    source=Source(
        "https://github.com/sdcb/chats/issues/132",
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
    ),
    bad=[
        example("plain", {"/0/request/messages/-": {"role": "tool", "tool_call_id": "call_9", "content": "18"}}),
        example(
            "tool-result",
            {"/0/request/messages/-": {"role": "tool", "tool_call_id": "call_9", "content": "18"}},
        ),
    ],
    good=[example("tool-result-parallel")],
    claim="results.orphaned",
    reads=(
        "results.unknown-id",
        _NO_ID,
    ),
    wires=EVERY,
)
def judge(result: Result, context: Context) -> list[Fault]:
    """A tool result answers a call of the assistant message before it.

    Ids are looked up in that message only, so ids that repeat in later turns do no harm. To fix it, send the assistant
    message with its `tool_calls` before its results, and copy each call's id into `tool_call_id`; on Responses, its
    `call_id` and not the `id` of the item.
    """
    if (result.called is not None and result.known) or misplaced_ids.answers_hosted_call(result, context):
        return []
    if result.called is None:
        message = "expected an assistant message with tool_calls before this tool message, got none"
        return [Fault(message, values={"id": result.id, "role": "tool"})]
    message = f"expected the id of a call of the message before ({_named(result.called)}), got {result.id!r}"
    message += misplaced_ids.described(result, context)
    claim = "results.unknown-id" if context.knows("results.unknown-id") else None
    if result.id is None and _NO_ID in context.claims and not context.rejects_or_damages(_NO_ID):
        claim = _NO_ID
    values = {"id": result.id, "role": "tool"}
    return [Fault(message, at=("tool_call_id",), values=values, claim=claim)]


def _named(ids: list[object]) -> str:
    return ", ".join(repr(each) for each in ids[:5]) + (", …" if len(ids) > 5 else "")
