"""Mutations that keep the structure of a body: values that the same place has elsewhere, equal ids, calls out of order.

A rule looks only at what has the shape that it is about, and most changes of any value destroy that shape.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

from tests.fuzz import mutation, wired

Kind: TypeAlias = tuple[str, ...]
"""Where a value stands, without positions: what all values have in common that stand there."""

_MOST: Final = 40
"""Values that are kept of one place."""
_LONGEST: Final = 1500
_BODIES: Final = ("request", "response", "events")


class Place(NamedTuple):
    """A value in a conversation: its container, its key and its kind."""

    holder: Any
    key: Any
    kind: Kind


class Bank(NamedTuple):
    """The JSON texts of the values that conversations have, and the names of the members of objects, by their place."""

    values: Mapping[Kind, Sequence[str]]
    members: Mapping[Kind, Sequence[str]]


@cache
def bank(seed: int, corpus: Path | None) -> Bank:
    """Return what the conversations have."""
    found: dict[Kind, dict[str, None]] = defaultdict(dict)
    for text in dict.fromkeys(wired.pool(seed, corpus)):
        given = json.loads(text)
        for place in places(given):
            shown = json.dumps(place.holder[place.key])
            if len(shown) <= _LONGEST and len(found[place.kind]) < _MOST:
                found[place.kind][shown] = None
    below: dict[Kind, list[str]] = defaultdict(list)
    for *above, name in found:
        if name != "*" and not name.startswith("["):
            below[tuple(above)].append(name)
    return Bank({kind: tuple(values) for kind, values in found.items()}, below)


def places(given: Any) -> Iterator[Place]:
    """Yield the places in the bodies of a conversation."""
    for record in wired.records_of(given["exchanges"]):
        for body in _BODIES:
            if body in record:
                yield from _inside(record, body, (given["wire"], body))


def _inside(holder: Any, key: Any, kind: Kind) -> Iterator[Place]:
    yield Place(holder, key, kind)
    value = holder[key]
    for name in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        # An event is known by its name, which says what else it has.
        own = name if isinstance(name, str) else f"[{value[0]}]" if _is_event(kind, value) else "*"
        yield from _inside(value, name, (*kind, own))


def _is_event(kind: Kind, value: Any) -> bool:
    return (
        kind[-1] == "*" and "events" in kind and isinstance(value, list) and bool(value) and isinstance(value[0], str)
    )


def mutated(rng: Random, given: Any, known: Bank) -> Any:
    """Return a conversation after a few changes, made in place."""
    for _ in range(mutation.times(rng)):
        found = list(places(given))
        if not found:
            return given
        rng.choice(_STEPS)(rng, rng.choice(found), found, known)
    if rng.random() < 0.15:
        _in_session(rng, given["exchanges"])
    return given


_Step: TypeAlias = Callable[[Random, Place, Sequence[Place], Bank], None]


def _replace(rng: Random, place: Place, _: Sequence[Place], known: Bank) -> None:
    """Put here what stands in the same place elsewhere."""
    if place.kind in known.values:
        place.holder[place.key] = json.loads(rng.choice(known.values[place.kind]))


def _add(rng: Random, place: Place, _: Sequence[Place], known: Bank) -> None:
    """Add a member or an item that objects or lists in the same place have elsewhere."""
    value = place.holder[place.key]
    if isinstance(value, list) and (items := known.values.get((*place.kind, "*"))):
        value.insert(rng.randint(0, len(value)), json.loads(rng.choice(items)))
    elif isinstance(value, dict) and (below := known.members.get(place.kind)):
        name = rng.choice(below)
        value[name] = json.loads(rng.choice(known.values[*place.kind, name]))


def _remove(rng: Random, place: Place, _: Sequence[Place], known: Bank) -> None:
    del place.holder[place.key]


def _repeat(rng: Random, place: Place, _: Sequence[Place], known: Bank) -> None:
    """Repeat an item of a list: a call, a result, a message, an event."""
    if isinstance(place.holder, list):
        place.holder.insert(rng.randint(0, len(place.holder)), json.loads(json.dumps(place.holder[place.key])))


def _move(rng: Random, place: Place, _: Sequence[Place], known: Bank) -> None:
    if isinstance(place.holder, list):
        moved = place.holder.pop(place.key)
        place.holder.insert(rng.randint(0, len(place.holder)), moved)


def _equal(rng: Random, place: Place, found: Sequence[Place], known: Bank) -> None:
    """Let two values be equal that are of one type and of one name, or both ids."""
    value = place.holder[place.key]
    alike = [
        each
        for each in found
        if type(each.holder[each.key]) is type(value) and _name(each.kind) == _name(place.kind) and each is not place
    ]
    if alike:
        other = rng.choice(alike)
        place.holder[place.key] = json.loads(json.dumps(other.holder[other.key]))


def _name(kind: Kind) -> str:
    return "id" if kind[-1].endswith("id") else kind[-1]


def _text(rng: Random, place: Place, _: Sequence[Place], known: Bank) -> None:
    value = place.holder[place.key]
    if isinstance(value, str):
        place.holder[place.key] = mutation.text(rng, value)


def _odd(rng: Random, place: Place, _: Sequence[Place], known: Bank) -> None:
    place.holder[place.key] = mutation.odd(rng)


_STEPS: Final[tuple[_Step, ...]] = (
    _replace, _replace, _replace, _replace, _add, _add, _add, _remove, _remove, _repeat, _repeat, _move, _equal, _equal,
    _equal, _text, _text, _odd,
)  # fmt: skip


def _in_session(rng: Random, records: list[Any]) -> None:
    """Repeat, move or remove an exchange, or let it lack its reply."""
    at = rng.randrange(len(records))
    match rng.randrange(4):
        case 0:
            records.insert(rng.randint(0, len(records)), json.loads(json.dumps(records[at])))
        case 1:
            records.insert(rng.randint(0, len(records) - 1), records.pop(at))
        case 2 if len(records) > 1:
            del records[at]
        case _:
            for name in ("response", "events"):
                records[at].pop(name, None)
