"""What the token counts of a reply show."""

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.observations.sights import ExchangeView, Sight, partial, value
from conformance.wire.index import Index


def prompt_tokens(elements: Index) -> int | None:
    """Return how many tokens a server counts in the prompt of an exchange; None if it does not say."""
    counts = [each.value["prompt_tokens"] for each in elements.usages if "prompt_tokens" in each.value]
    # The last count of a stream is the whole one. `type(…) is`: true would be an int.
    return counts[-1] if counts and type(counts[-1]) is int else None


def reasoning_tokens(elements: Index, number: int = 0) -> int:
    """Return how many reasoning tokens the reply of an exchange counts, wherever it does; 0 if it counts none."""
    usages = [each.value for each in elements.usages if each.place[0] == number]
    return max([held for usage in usages for held in _reasoning(dict(_leaves(usage, ""))).values()], default=0)


def sights(view: ExchangeView) -> Iterator[Sight]:
    """Yield what the usage objects of an exchange show."""
    for usage in view.elements.usages:
        if usage.place[0] == view.number and usage.value:
            yield from _of(usage.value)


def _of(usage: Mapping[str, Any]) -> Iterator[Sight]:
    leaves = dict(_leaves(usage, ""))
    yield from (value("usage.fields", each.removeprefix("/")) for each in leaves)
    prompt, completion, total = (usage.get(f"{name}_tokens") for name in ("prompt", "completion", "total"))
    counted = _reasoning(leaves)
    cached_at = [at for at, held in leaves.items() if _is_cached(at) and isinstance(held, int)]
    yield from partial("usage.reasoning-at", counted)
    yield from partial("usage.cached-at", cached_at)
    # `type(…) is`: isinstance would count true as 1.
    if type(prompt) is not int or type(completion) is not int or type(total) is not int:
        return
    reasoning = max(counted.values(), default=0)
    yield from _total(prompt, completion, total, reasoning)
    if not counted:
        yield from partial("usage.reasoning-tokens", ["absent"])
    elif reasoning > completion:
        # More than the completion cannot be a part of it; whether that is a fault, the total may not show.
        yield value("usage.reasoning-tokens", "larger", "outside")
    elif reasoning and total == prompt + completion + reasoning:
        yield value("usage.reasoning-tokens", "outside")
    elif reasoning:
        yield value("usage.reasoning-tokens", "inside", "larger")


def _total(prompt: int, completion: int, total: int, reasoning: int) -> Iterator[Sight]:
    if total == prompt + completion:
        # Without reasoning tokens, both sums are the same, so that both values fit.
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


def _reasoning(leaves: Mapping[str, Any]) -> Mapping[str, int]:
    return {at: held for at, held in leaves.items() if at.endswith("reasoning_tokens") and isinstance(held, int)}


def _is_cached(at: str) -> bool:
    name = at.rpartition("/")[2]
    return "cached" in name or "cache_hit" in name or "cache_read" in name
