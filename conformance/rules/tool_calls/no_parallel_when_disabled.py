"""Rule: one call where parallel calls are switched off."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Reply
from conformance.wire.views import replies


@rule(
    Level.MUST,
    on=replies,
    where=lambda reply, _context: reply.request is not None and reply.request.get("parallel_tool_calls") is False,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "Whether to enable parallel function calling during tool use.",
    ),
    bad=[example("tool-call-parallel", {"/0/request/parallel_tool_calls": False})],
    good=[example("tool-call", {"/0/request/parallel_tool_calls": False})],
    refused="tools.parallel-switch",
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """A reply holds at most one tool call where the request says `parallel_tool_calls: false`.

    Clients ask for it because their tools cannot run side by side, or because a later call depends on an earlier
    result. Many engines take the parameter and drop it. To fix it, keep the first call and leave out the rest; a
    client runs the calls one after the other.
    """
    if len(reply.calls) <= 1:
        return []
    message = f"expected at most one call, as parallel_tool_calls is false, got {len(reply.calls)}"
    return [Fault(message, at=("message", "tool_calls"))]
