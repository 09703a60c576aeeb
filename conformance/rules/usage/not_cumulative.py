from typing import Any, Final

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Usage
from conformance.wire.history import LaterUsage, later_usages

_TOKENS_PER_BYTE: Final = 0.75
"""More than any tokenizer makes of a text that is not random bytes."""
_PER_MESSAGE: Final = 16
"""What a chat template adds to a message, in tokens, at most."""
_UNSEEN: Final = ("image_url", "input_audio", "file")


def _can_be_compared(later: LaterUsage, _context: Context) -> bool:
    usages = [later.value, *later.earlier[:2]]
    return len(usages) == 3 and all([_prompt(each) > 0 and each.request is not None for each in usages])


@rule(
    Level.MUST,
    on=later_usages,
    where=_can_be_compared,
    source=Source(
        "https://github.com/agentclientprotocol/agent-client-protocol/issues/1860",
        "Getting it wrong silently corrupts token accounting",
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
    ],
    good=[example("thinking-session")],
    wires=EVERY,
)
def judge(later: LaterUsage, _context: Context) -> list[Fault]:
    """The token counts of a reply are those of its request, not the sum of the session.

    Clients add up the counts themselves, and shorten the history by them: a sum is counted twice, and fills the context
    long before it is full. The rule reads three replies of a session that follow each other: if the prompt grows by
    more than the new messages can hold, twice and ever faster, the counts are sums. To fix it, count each request
    alone.
    """
    if not _is_sum(later.value, *later.earlier[:2]):
        return []
    if len(later.earlier) > 2 and _prompt(later.earlier[2]) and _is_sum(*later.earlier[:3]):
        # Reported at the first reply that shows it.
        return []
    counts = ", ".join([str(_prompt(each)) for each in (*reversed(later.earlier[:2]), later.value)])
    message = f"expected the tokens of this request, got what grows like a sum of all: {counts} prompt tokens"
    return [Fault(message, at=("prompt_tokens",))]


def _is_sum(last: Usage, middle: Usage, first: Usage) -> bool:
    """Return whether the prompts of three replies grow by whole prompts, and not by what was added to them."""
    early, late = _prompt(middle) - _prompt(first), _prompt(last) - _prompt(middle)
    if not 0 < early <= late:
        return False
    return early > _most_added(middle, first) and late > _most_added(last, middle)


def _most_added(after: Usage, before: Usage) -> float:
    """Return how many tokens the messages can have that a request has beyond an earlier one."""
    later, earlier = after.request or {}, before.request or {}
    if later.get("tools") != earlier.get("tools"):
        return float("inf")
    messages = later.get("messages")
    known = earlier.get("messages")
    new = messages[len(known) :] if type(messages) is list and type(known) is list else []
    details = before.value.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if type(details) is dict else 0
    hidden = reasoning if type(reasoning) is int else 0
    size = sum(map(_size, new)) * _TOKENS_PER_BYTE
    return size + len(new) * _PER_MESSAGE + hidden


def _size(value: Any) -> float:
    """Return the bytes of all texts in a value; infinite if it holds what is not text."""
    if type(value) is str:
        return len(value.encode(errors="replace"))
    if type(value) is dict:
        if value.get("type") in _UNSEEN:
            return float("inf")
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if type(value) is list else 0


def _prompt(usage: Usage) -> int:
    count = usage.value.get("prompt_tokens")
    return count if type(count) is int else 0
