from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_to_tool_choice
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_NONE = {"/0/request/tool_choice": "none"}


@rule(
    Level.MUST,
    on=replies,
    among=reply_to_tool_choice,
    where=lambda reply, context: (
        reply.request["tool_choice"] == "none" and "none" in context.claim("tools.choices-obeyed", ("none",))
    ),
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "means the model will not call any tool and instead generates a message",
    ),
    bad=[example("tool-call", _NONE)],
    good=[example("tool-result", _NONE)],
    reads=("tools.choices-obeyed",),
    wires=EVERY,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """A reply has no tool call if `tool_choice` is `none`.

    A client that rules calls out, for example to get a summary, has nothing to run them with. To fix it, leave the
    tools out of the prompt, or forbid the call when decoding.
    """
    if not reply.calls:
        return []
    message = f"expected no tool call, because tool_choice is none, got {len(reply.calls)}"
    return [Fault(message, at=("message", "tool_calls"))]
