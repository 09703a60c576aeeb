from conformance.documents.pointer import render
from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wires.messages.views import BoundBlock, bound_blocks

_LATER = "/1/request"
_BLOCK = [{"type": "text", "text": "What is the weather in Paris and Rome?", "cache_control": {"type": "ephemeral"}}]


@rule(
    Level.SHOULD,
    on=bound_blocks,
    harm=Harm.CONTENT,
    source=Source(
        "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking",
        "The block is bound to a different conversation.",
    ),
    bad=[
        example("messages-session", {f"{_LATER}/tools/0/description": "Tells the weather."}),
        example("messages-session", {f"{_LATER}/tools": []}),
    ],
    good=[
        example("messages-session"),
        example("messages-session", {f"{_LATER}/system": "You are a weather bot.", "/1/request/max_tokens": 2048}),
        example("messages-session", {f"{_LATER}/messages/0/content": _BLOCK}),
    ],
    claim="signature.prefix-changed",
    wires=("messages",),
)
def judge(block: BoundBlock, _context: Context) -> list[Fault]:
    """What stands before a thinking block stays as it was when the model wrote it.

    A signature covers the system prompt, the tools and every earlier message: after an edit, a server that checks it
    rejects the block or drops it with all later ones. Appending, cache marks, and cutting thinking from the front are
    allowed. To fix it, keep the history byte for byte, or remove the thinking that was written after the edited part.
    """
    if block.changed is None:
        return []
    changed = render(block.changed)
    values = {"index": block.place[3]}
    return [
        Fault(f"expected what stands before this thinking block unchanged, got a change at {changed}", values=values)
    ]
