from typing import Final

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Reply
from conformance.wire.history import LaterReply, later_replies
from conformance.wire.reasoning import carried_fields, is_telling, reasoning_text
from conformance.wire.text import quoted

_THOUGHT: Final = "/2/response/choices/0/message/reasoning_content"


@rule(
    Level.MUST,
    on=later_replies,
    where=lambda later, _context: bool(carried_fields(later.value.message)),
    source=Source(
        "https://github.com/kwaroran/Risuai/pull/1394",
        "OpenAI compatible API's Chat-Completion API has accumulating reasoning texts",
    ),
    bad=[
        example("thinking-session", {_THOUGHT: "Rome is warm; Oslo is left."}),
        example("thinking-session", {_THOUGHT: "Two cities, two calls. Now Oslo is known, too."}),
    ],
    good=[example("thinking-session")],
    wires=EVERY,
)
def judge(later: LaterReply, context: Context) -> list[Fault]:
    """A reply does not return the reasoning of an earlier turn again.

    It is shown, stored and sent back a second time, so that each turn costs more than the one before, and the model
    reads old reasoning as that of now. The rule reads the sixteen replies before a reply of the session. To fix it,
    begin each reply with empty reasoning.
    """
    message = later.value.message
    for field in carried_fields(message):
        text = reasoning_text(message, field).strip()
        repeated = next(
            (
                old
                for old in [context.index.of_reply(_thought, each) for each in later.earlier]
                if old and text.startswith(old)
            ),
            "",
        )
        if repeated:
            got = quoted(repeated)
            return [Fault(f"expected new reasoning, got that of an earlier turn again: {got}", at=("message", field))]
    return []


def _thought(reply: Reply) -> str:
    """Return the reasoning of a reply; empty if it is so short that two turns may well share it."""
    message = reply.message
    texts = [reasoning_text(message, field).strip() for field in carried_fields(message)]
    return next((text for text in texts if is_telling(text)), "")
