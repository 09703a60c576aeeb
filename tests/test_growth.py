"""What checking costs grows no faster than the input, whatever there is much of."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from conformance import profiles
from conformance.judge import check
from conformance.profiles import Profile
from conformance.wire.exchange import Conversation
from tests.benchmarks.growth import BOUND
from tests.benchmarks.shapes import SHAPES, exchange, history, replied, size
from tests.loops import every
from tests.sampling import some

SMALL, LARGE = 20, 80


def counted_calls(conversation: Conversation, profile: Profile | None) -> int:
    """Return how many functions are called to check a conversation, those of the interpreter included."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        check(conversation, profile)
    finally:
        sys.setprofile(None)
    return calls


class Identity(str):
    """An id that counts how often it is compared."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Identity.comparisons += 1
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


@every("name", some(SHAPES, 4))
def test_the_calls_of_functions_grow_no_faster_than_the_input(name: str) -> None:
    shape = SHAPES[name]
    profile = None if shape.provider is None else profiles.load(shape.provider)
    small, large = shape.build(SMALL), shape.build(LARGE)
    check(small, profile)
    growth = size(large) / size(small)
    assert growth**BOUND >= counted_calls(large, profile) / counted_calls(small, profile)


def unanswered(number: int) -> Conversation:
    return history(number, lambda _: False, lambda each: Identity(f"call_{each}"))


def half_answered(number: int) -> Conversation:
    return history(number, lambda each: each % 2 == 0, lambda each: Identity(f"call_{each}"))


def reversed_results(number: int) -> Conversation:
    return history(number, lambda _: True, lambda each: Identity(f"call_{each}"), back=True)


def of_one_id(number: int) -> Conversation:
    return history(number, lambda _: True, lambda _: Identity("call_1"), back=True)


def calls_of_a_reply(number: int) -> Conversation:
    return replied(number, lambda each: Identity(f"call_{each}"))


def repeated_calls(number: int) -> Conversation:
    """Return a reply whose calls all have an id of its request."""
    (before,) = reversed_results(number)
    (after,) = calls_of_a_reply(number)
    return (exchange(before.request, after.response),)


@every("provider", some([None, "mistral", "deepseek"]))
@every("build", [unanswered, half_answered, reversed_results, of_one_id, calls_of_a_reply, repeated_calls])
def test_each_id_is_compared_a_constant_number_of_times(
    build: Callable[[int], Conversation], provider: str | None
) -> None:
    profile = None if provider is None else profiles.load(provider)
    counts = []
    for number in (SMALL, LARGE):
        conversation = build(number)
        Identity.comparisons = 0
        check(conversation, profile)
        counts.append(Identity.comparisons)
    few, many = counts
    assert many <= (few + 1) * (LARGE / SMALL) ** BOUND
