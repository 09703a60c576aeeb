from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
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
    claim="tools.parallel-switch",
    wires=EVERY,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """A reply has at most one tool call if `parallel_tool_calls` is false.

    Clients set it because their tools cannot run in parallel, or because a later call depends on an earlier result.
    Many engines accept the parameter and ignore it. To fix it, keep the first call and drop the rest; a client runs the
    calls one after the other.
    """
    if len(reply.calls) <= 1:
        return []
    message = f"expected at most one tool call, because parallel_tool_calls is false, got {len(reply.calls)}"
    return [Fault(message, at=("message", "tool_calls"))]
