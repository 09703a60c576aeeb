"""What the token counts of a reply show."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.evidence.observed.seen import Sight, View, partial, value

_REASONING: Final = "reasoning"
_CACHED: Final = "cache"


def sights(view: View) -> Iterator[Sight]:
    """Yield what the usage objects of an exchange show."""
    for usage in view.elements.usages:
        if usage.place[0] == view.number and usage.value:
            yield from _of(usage.value)


def _of(usage: Mapping[str, Any]) -> Iterator[Sight]:
    leaves = dict(_leaves(usage, ""))
    yield from (value("usage.fields", each.removeprefix("/")) for each in leaves)
    prompt, completion, total = (usage.get(f"{name}_tokens") for name in ("prompt", "completion", "total"))
    reasoning_at = [at for at, held in leaves.items() if at.endswith("reasoning_tokens") and isinstance(held, int)]
    cached_at = [at for at, held in leaves.items() if _is_cached(at) and isinstance(held, int)]
    yield from partial("usage.reasoning-at", reasoning_at)
    yield from partial("usage.cached-at", cached_at)
    if type(prompt) is not int or type(completion) is not int or type(total) is not int:
        return
    reasoning = max([leaves[at] for at in reasoning_at], default=0)
    yield from _total(prompt, completion, total, reasoning)
    if not reasoning_at:
        yield from partial("usage.reasoning-tokens", ["absent"])
    elif reasoning > completion:
        yield value("usage.reasoning-tokens", "larger", "outside")
    elif reasoning and total == prompt + completion + reasoning:
        yield value("usage.reasoning-tokens", "outside")
    elif reasoning:
        yield value("usage.reasoning-tokens", "inside", "larger")


def _total(prompt: int, completion: int, total: int, reasoning: int) -> Iterator[Sight]:
    if total == prompt + completion:
        alone = ("prompt+completion+reasoning",) if not reasoning else ()
        yield value("usage.total", "prompt+completion", *alone)
    elif reasoning and total == prompt + completion + reasoning:
        yield value("usage.total", "prompt+completion+reasoning")
    elif total > prompt + completion:
        yield value("usage.total", "larger")


def _leaves(held: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield every key of an object and of the objects in it, as JSON Pointers."""
    for key, inner in held.items():
        yield f"{prefix}/{key}", inner
        if isinstance(inner, Mapping):
            yield from _leaves(inner, f"{prefix}/{key}")


def _is_cached(at: str) -> bool:
    name = at.rpartition("/")[2]
    return "cached" in name or "cache_hit" in name or "cache_read" in name
