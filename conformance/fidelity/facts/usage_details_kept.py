"""Fact: the numbers of cached and of reasoning tokens arrive."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.fidelity import REMOVE, REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import whole
from conformance.fidelity.passages import Passage
from conformance.wire.values import as_object

_DETAILS: Final = {
    "cached tokens": (("prompt_tokens_details", "cached_tokens"), ("prompt_cache_hit_tokens",), ("cached_tokens",)),
    "reasoning tokens": (("completion_tokens_details", "reasoning_tokens"), ("reasoning_tokens",)),
}


def _count(usage: Mapping[str, Any], name: str) -> int:
    for path in _DETAILS[name]:
        value: Any = usage
        for key in path:
            value = as_object(value).get(key)
        if type(value) is int and value:
            return value
    return 0


def _counted(passage: Passage) -> Sequence[str]:
    return [name for each in whole(passage) for name in _DETAILS if _count(each.before.usage, name)]


@fact(
    Level.SHOULD,
    element="number of cached or reasoning tokens",
    on=_counted,
    of=REPLIES,
    source=Source("https://platform.openai.com/docs/guides/prompt-caching"),
    bad=[example("stream", {"/0/front/response/3/usage/prompt_tokens_details": REMOVE})],
    good=[example("stream", {"/0/front/response/3/usage/cost": 0.001})],
)
def judge(name: str, passage: Passage) -> Iterator[PassageLoss]:
    """The numbers of cached and of reasoning tokens arrive.

    Users pay less for the one and cannot see the other elsewhere. To fix it, translate the details of the usage.
    """
    wanted, got = _count(passage.before.usage, name), _count(passage.after.usage, name)
    if passage.after.usage and got != wanted:
        at = passage.pointer_before(passage.before.pointer(passage.before.usage_place))
        became = passage.pointer_after(passage.after.pointer(passage.after.usage_place))
        yield PassageLoss(f"expected {wanted} {name}, got {got}", at, became)
