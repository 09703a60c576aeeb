"""A sight: a value of a claim, as one exchange shows it. What surrounds it, and the ways to make one."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from conformance.documents import read_json
from conformance.profiles import Claims
from conformance.resources import folder
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index


class Sight(NamedTuple):
    """One value of one claim, as an exchange shows it.

    `values`: any one of these is what was seen; there are several where an exchange cannot tell them apart. `partial`:
    the claim lists more than one exchange can show, and says nothing of values that it does not list. `function`:
    the name of the function that a tool call's id belongs to, because an id may include it.
    """

    claim: str
    values: tuple[Any, ...]
    partial: bool = False
    function: str = ""


class ExchangeView(NamedTuple):
    """One exchange to look at: its number in the conversation, the elements of that, and whether it was accepted."""

    number: int
    exchange: Exchange
    elements: Index
    accepted: bool


def value(claim: str, *values: Any) -> Sight:
    """Return a sight of a value; several values mean any one of them."""
    return Sight(claim, values)


def happens(claim: str, happened: object) -> Sight:
    """Return a sight of what may happen or not: an exchange in which it does not happen is not evidence against it."""
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


@cache
def canonical_keys(schema: str, definition: str = "") -> frozenset[str]:
    """Return the keys that the canonical wire defines for an object."""
    whole: Any = read_json(folder("schemas") / "canonical" / f"{schema}.json")
    return frozenset((whole["$defs"][definition] if definition else whole)["properties"])


@cache
def kinds() -> Mapping[str, str]:
    """Return the kind of value that each claim has, by `schemas/files/profile.json`."""
    schema: Any = read_json(folder("schemas") / "files" / "profile.json")
    claims = schema["$defs"]["claims"]["properties"]
    return {name: each["$ref"].rpartition("/")[2].removesuffix("-claim") for name, each in claims.items()}


def digest(exchange: Exchange) -> str:
    """Return what identifies an exchange wherever it is stored: 12 hexadecimal digits of a hash.

    They are over the request, the reply and the status, as the format readers normalise them; over those of its own
    wire, if it is a translation.
    """
    held = exchange if exchange.native is None else exchange.native
    recorded = [held.request, held.response, exchange.status]
    # The standard library, because the text of a recording may hold a lone surrogate, which orjson refuses.
    return hashlib.sha256(json.dumps(recorded, sort_keys=True).encode()).hexdigest()[:12]
