from typing import TYPE_CHECKING, Final

from conformance.markup.signs import CALL, REASONING, REMAINS, TOKEN
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_reasoning
from conformance.rules.leaks import described, leaks_in
from conformance.wire.elements import Reply
from conformance.wire.reasoning import carried_fields, reasoning_text
from conformance.wire.views import replies

if TYPE_CHECKING:
    from conformance.markup.detection import Leak

_THOUGHT: Final = "/0/response/choices/0/message/reasoning_content"
_CALLING: Final = {
    "type": "thinking",
    "thinking": "I check.\n<tool_call>\n<function=get_weather>\n",
    "signature": "c2lnbmVkLTk=",
}
_CALLS: Final = (CALL, REMAINS)
_KINDS: Final = (*_CALLS, REASONING, TOKEN)
_FEW: Final = 3


@rule(
    Level.SHOULD,
    on=replies,
    among=reply_has_reasoning,
    source=Source(
        "https://github.com/MoonshotAI/Kimi-K2/issues/89",
        "special tool-calling tokens such as `<|tool_calls_section_begin|>` appear within the `reasoning_delta` stream",
    ),
    bad=[
        example("reply-thinking", {_THOUGHT: "I will check Oslo.<|tool_calls_section_begin|>"}),
        example("reply-thinking", {_THOUGHT: "<think>\nA greeting.\n</think>"}),
        example("messages-plain", {"/0/response/content": [_CALLING, {"type": "text", "text": "Sure."}]}),
    ],
    good=[example("reply-thinking", {_THOUGHT: "The user asks what `<think>` means, a tag of Qwen."})],
    reads=("reply.parsers",),
    wires=EVERY,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The reasoning of a reply has no tool calls, tags or special tokens in the markup of its model.

    A call that a model begins before the end of its thinking is lost there, and the reply ends without it. Tags that
    come back with the reasoning stand in the next prompt twice. To fix it, let the reasoning parser end the reasoning
    where a call begins, and take the tags out.
    """
    for field in carried_fields(reply.message):
        text = reasoning_text(reply.message, field)
        leaks = leaks_in(text, reply, context, _KINDS)
        found = [leak for leak in leaks if leak.kind not in _CALLS or not _is_draft(text, leak, reply)]
        if found:
            at = ("message", field) if field in reply.message else ("message", "content")
            return [Fault(f"expected reasoning alone, got {described(found[0], context)}", at=at)]
    return []


def _is_draft(text: str, leak: "Leak", reply: Reply) -> bool:
    """Return whether reasoning goes on after a call, or the call was made: models draft what they are going to call."""
    after = text[leak.start :]
    said_after = after[max(map(after.rfind, "}>])")) + 1 :]
    is_made = bool(reply.calls) and not {"|", "｜"} & set(leak.marker)
    return is_made or len([word for word in said_after.split() if word.strip(",.:;!?").isalpha()]) >= _FEW
