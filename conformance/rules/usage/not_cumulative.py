from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Reply, Usage
from conformance.wire.history import LaterUsage, later_usages

_TOKENS_PER_BYTE: Final = 0.6
"""More than any tokenizer makes of a text that is not random bytes."""
_PER_MESSAGE: Final = 10
"""What a chat template adds to a message, in tokens, at most."""
_PER_CALL: Final = 60
"""What a call and its result add beyond their texts, in tokens, at most: some models read them in a long notation."""
_PROMPT: Final = ("prompt_tokens",)
_COMPLETION: Final = ("completion_tokens",)
_TOTAL: Final = ("total_tokens",)
_CACHED: Final = ("prompt_tokens_details", "cached_tokens")
_COUNTS: Final[Mapping[Place, str]] = {
    _PROMPT: "prompt tokens",
    _COMPLETION: "completion tokens",
    _TOTAL: "tokens in total",
    _CACHED: "cached tokens",
}
_UNSEEN: Final = ("image_url", "input_audio", "file")


def _usage(done: int) -> dict[str, int]:
    return {"prompt_tokens": 900, "completion_tokens": done, "total_tokens": 900 + done}


def _can_be_compared(later: LaterUsage, _context: Context) -> bool:
    usages = [later.value, *later.earlier[:2]]
    is_known = len(usages) == 3 and all([each.request is not None for each in usages])
    return is_known and any([all([_count(each, at) > 0 for each in usages]) for at in _COUNTS])


@rule(
    Level.MUST,
    on=later_usages,
    where=_can_be_compared,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/object", "Usage statistics for the completion request."
    ),
    bad=[
        example(
            "thinking-session",
            {
                f"/{number}/response/usage": {
                    "prompt_tokens": prompt,
                    "completion_tokens": 10,
                    "total_tokens": prompt + 10,
                }
                for number, prompt in enumerate([300, 640, 1020])
            },
        ),
        example(
            "thinking-session",
            {f"/{number}/response/usage": _usage(done) for number, done in enumerate([40, 75, 110])},
        ),
    ],
    good=[example("thinking-session")],
    wires=EVERY,
)
def judge(later: LaterUsage, context: Context) -> list[Fault]:
    """The token counts of a reply are those of its request, not the sum of the session.

    Clients add up the counts themselves, and shorten the history by them: a sum is counted twice, and fills the context
    long before it is full. The rule reads three replies of a session that follow each other: if the prompt grows by
    more than the new messages can hold, twice and ever faster, the counts are sums. So are total and cached tokens
    that grow so, and completion tokens that are too many for the reply and grow by its length.
    To fix it, count each request alone.
    """
    usages = [later.value, *later.earlier[:3]]
    # The total follows from the others, so the first count that is a sum stands for those after it.
    at = next((each for each in _COUNTS if _is_sum(each, usages[:3], context)), None)
    if at is None or _is_sum(at, usages[1:], context):
        # Reported at the first reply that shows it.
        return []
    return [Fault(_message(_COUNTS[at], at, later), at=at)]


def _message(name: str, at: Place, later: LaterUsage) -> str:
    counts = ", ".join([str(_count(each, at)) for each in (*reversed(later.earlier[:2]), later.value)])
    return f"expected the tokens of this request, got what grows like a sum of all: {counts} {name}"


def _is_sum(at: Place, usages: Sequence[Usage], context: Context) -> bool:
    """Return whether a count of three replies, the latest first, grows by whole requests, not by what was added."""
    if len(usages) != 3 or not all([_count(each, at) for each in usages]):
        return False
    last, middle, first = usages
    early, late = _count(middle, at) - _count(first, at), _count(last, at) - _count(middle, at)
    if at == _COMPLETION:
        own = [_most_said(each, context) for each in (last, middle)]
        # Reasoning that is neither shown nor counted may be longer than the reply, but does not grow by its length.
        is_grown = 0 < early <= own[1] and 0 < late <= own[0]
        return is_grown and _count(last, at) > own[0] and _count(middle, at) > own[1]
    slack = max([_most_said(each, context) for each in usages]) if at == _TOTAL else 0
    if not 0 < early <= late + slack:
        return False
    if at == _CACHED and _count(last, at) <= _count(middle, _PROMPT) + _count(middle, _COMPLETION):
        # A cache may fill late; it holds no more than what was sent before.
        return False
    return early > _most_added(middle, first) + slack and late > _most_added(last, middle) + slack


def _most_said(usage: Usage, context: Context) -> float:
    """Return how many tokens the reply to a request can have, with the reasoning that it counts."""
    replies = context.index.parts[int(usage.place[0])].replies
    hidden = _count(usage, ("completion_tokens_details", "reasoning_tokens"))
    return (
        sum([context.index.of_reply(_size_of_reply, each) for each in replies]) * _TOKENS_PER_BYTE
        + _PER_MESSAGE
        + hidden
    )


def _most_added(after: Usage, before: Usage) -> float:
    """Return how many tokens the messages can have that a request has beyond an earlier one."""
    later, earlier = after.request or {}, before.request or {}
    if later.get("tools") != earlier.get("tools"):
        return float("inf")
    messages = later.get("messages")
    known = earlier.get("messages")
    new = messages[len(known) :] if type(messages) is list and type(known) is list else []
    hidden = _count(before, ("completion_tokens_details", "reasoning_tokens"))
    size = sum(map(_size, new)) * _TOKENS_PER_BYTE
    calls = sum([len(each.get("tool_calls") or ()) for each in new if type(each) is dict])
    return size + len(new) * _PER_MESSAGE + calls * _PER_CALL + hidden


def _size_of_reply(reply: Reply) -> float:
    return _size(reply.message)


def _size(value: Any) -> float:
    """Return the bytes of all texts in a value; infinite if it holds what is not text."""
    if type(value) is str:
        return len(value.encode(errors="replace"))
    if type(value) is dict:
        if value.get("type") in _UNSEEN:
            return float("inf")
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if type(value) is list else 0


def _count(usage: Usage, at: Place) -> int:
    value: Any = usage.value
    for key in at:
        value = value.get(key) if type(value) is dict else None
    return value if type(value) is int else 0
