from typing import Any

from conformance.results import Level
from conformance.rules import TURN, WITH_REASONING, Context, Fault, Source, example, rule
from conformance.rules.reasoning_claims import REQUIRED, is_required, request_fields
from conformance.wire.elements import Resent
from conformance.wire.reasoning import carried_fields, present_fields, reasoning_text
from conformance.wire.text import quoted_difference
from conformance.wire.views import resent

_ABSENT = object()
_DETAILS = "reasoning_details"


def _applies(returned: Resent, _context: Context) -> bool:
    return bool(present_fields(returned.value)) and bool(carried_fields(returned.reply.message))


@rule(
    Level.MUST,
    on=resent,
    reach=TURN,
    where=_applies,
    source=Source(
        "https://docs.z.ai/guides/capabilities/thinking-mode",
        "thinking blocks should be explicitly preserved and returned together with the tool results.",
    ),
    bad=[
        example(
            "thinking-session",
            {f"/{number}/request/messages/2/reasoning_content": "Two calls." for number in (1, 2, 3)},
        ),
        example("stream-thinking-session", {"/1/request/messages/1/reasoning_content": "I need the"}),
        example("stream-thinking-session", {"/1/request/messages/1/reasoning_content": ""}),
        example(
            "stream-thinking-session",
            {"/1/request/messages/1/reasoning_content": "I need the"},
            {"reasoning.altered": "accepted"},
        ),
        example("details-session", {"/2/request/messages/5/reasoning": "Rome is warm."}),
    ],
    good=[example("thinking-session"), example("stream-thinking-session"), example("details-session")],
    claim="reasoning.altered",
    reads=("reasoning.request-field", "reasoning.empty-on-tool-turn", *REQUIRED),
    wires=WITH_REASONING,
)
def judge(returned: Resent, context: Context) -> list[Fault]:
    """Reasoning is sent back word for word.

    A summarized, trimmed or re-encoded text is different reasoning: it misses the prompt cache, and the model continues
    from something that it never wrote. That stays a MUST at a provider that accepts the request. It is a SHOULD if the
    `reasoning_details` beside a rebuilt text are intact, because the provider reads those. To fix it, store the text as
    received; join streamed deltas with nothing between them.
    """
    sent, message = returned.value, returned.reply.message
    fields = present_fields(sent)
    # A field may be a part of the content instead of a key; then both lack the key, which does not make them equal.
    if len(fields) == 1 and sent.get(fields[0], _ABSENT) == message.get(fields[0]):
        return []
    given = [said for said in (reasoning_text(message, field) for field in carried_fields(message)) if said]
    if not given:
        return []
    return [_fault(given[0], field, returned) for field in fields if not _is_right(field, given, returned, context)]


def _is_right(field: str, given: list[str], returned: Resent, context: Context) -> bool:
    """Return whether a field holds the text of the reply, or another rule covers it."""
    sent = returned.value
    if field == _DETAILS and type(returned.reply.message.get(field)) is list:
        return True
    said = reasoning_text(sent, field)
    if said:
        return said in given
    return bool(carried_fields(sent)) or _counts_as_none(field, returned, context)


def _fault(given: str, field: str, returned: Resent) -> Fault:
    """Return the fault of a changed text; it is only a SHOULD beside `reasoning_details` that are sent back intact."""
    sent = returned.value
    old, new = quoted_difference(given, reasoning_text(sent, field))
    message = f"expected {old} as in the reply, got {new}"
    at = (field if field in sent else "content",)
    if _has_same_details(returned.reply.message, sent):
        return Fault(f"{message}, beside intact {_DETAILS}", at, values={"field": field}, level=Level.SHOULD)
    return Fault(message, at, values={"field": field}, is_loss=True)


def _has_same_details(given: dict[str, Any], sent: dict[str, Any]) -> bool:
    return bool(given.get(_DETAILS)) and sent.get(_DETAILS) == given[_DETAILS]


def _counts_as_none(field: str, returned: Resent, context: Context) -> bool:
    """Return whether the provider treats an empty field as missing; other rules cover that."""
    if not returned.reply.calls or context.thinks is not True:
        return False
    if is_required(context, current=returned.current) and field not in request_fields(context):
        return True
    return returned.current and context.rejects_or_damages("reasoning.empty-on-tool-turn")
