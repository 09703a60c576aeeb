"""What was seen in one exchange: values by claim, and whether a claimed value fits them."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from conformance.documents import read_json
from conformance.profiles import Claims
from conformance.resources import folder
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index

_PATTERNS: Final = frozenset({"ids.format", "ids.format-in-stream", "reply.id-format"})


class Sight(NamedTuple):
    """One value of one claim, as an exchange shows it.

    `values`: any one of these is what was seen; there are several where an exchange cannot tell them apart. `partial`:
    the claim lists more than one exchange can show, and values that it does not list are no concern of it.
    """

    claim: str
    values: tuple[Any, ...]
    partial: bool = False


class View(NamedTuple):
    """One exchange to look at: its number in the conversation, the elements of that, and whether it was accepted."""

    number: int
    exchange: Exchange
    elements: Index
    accepted: bool


def value(claim: str, *values: Any) -> Sight:
    """Return a sight of a value; several values mean any one of them."""
    return Sight(claim, values)


def happens(claim: str, happened: object) -> Sight:
    """Return a sight of what may happen or not: an exchange in which it does not happen is no evidence against it."""
    return Sight(claim, (bool(happened),), partial=not happened)


def listed(claim: str, values: Iterable[Any], canonical: frozenset[str] = frozenset()) -> Iterator[Sight]:
    """Yield a sight of each value that is not canonical; if there is none, of the empty list."""
    found = [each for each in dict.fromkeys(values) if each not in canonical]
    yield from partial(claim, found) if found else (Sight(claim, ([],), partial=True),)


def partial(claim: str, values: Iterable[Any]) -> Iterator[Sight]:
    """Yield a sight of each value, of a claim that need not list it."""
    return (Sight(claim, (each,), partial=True) for each in values)


def further(claim: str, keys: Iterable[str], canonical: frozenset[str], claims: Claims) -> Iterator[Sight]:
    """Yield a sight of each key beyond the canonical wire; a claim may list canonical ones that are optional."""
    claimed = claims.get(claim)
    return listed(claim, keys, canonical - frozenset(claimed if isinstance(claimed, list) else ()))


def fits(claimed: Any, sights: Iterable[Sight]) -> bool:
    """Return whether a claimed value is one that was seen, and nothing else was seen that it excludes."""
    found = False
    for sight in sights:
        if any(_is(sight.claim, claimed, each) for each in sight.values):
            found = True
        elif not sight.partial:
            return False
    return found


def blank(holder: Any, key: str) -> str:
    """Return how a value is written: absent, null, empty, text, list or zero."""
    if not isinstance(holder, dict) or key not in holder:
        return "absent"
    held = holder[key]
    if held is None:
        return "null"
    if isinstance(held, dict) and held and not any(held.values()):
        return "zero"
    if not held:
        return "empty"
    return "list" if isinstance(held, list) else "text"


def canonical_keys(schema: str, definition: str = "") -> frozenset[str]:
    """Return the keys that the canonical wire defines for an object."""
    whole: Any = read_json(folder("schemas") / "canonical" / f"{schema}.json")
    return frozenset((whole["$defs"][definition] if definition else whole)["properties"])


def _is(claim: str, claimed: Any, seen: Any) -> bool:
    if claim in _PATTERNS and isinstance(seen, str):
        patterns = claimed if isinstance(claimed, list) else [claimed]
        return any(re.fullmatch(each, seen) is not None for each in patterns)
    if isinstance(claimed, list) and not isinstance(seen, list):
        return any(_same(each, seen) for each in claimed)
    return _same(claimed, seen)


def _same(left: Any, right: Any) -> bool:
    """Compare JSON values; unlike in Python, true is not 1."""
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)
