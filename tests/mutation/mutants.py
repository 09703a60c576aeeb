"""Every mutation applied to every target, every bad example, and the rules that found it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import orjson

from conformance.documents.pointer import render
from conformance.results import Status
from conformance.rules import Rule
from conformance.wire.native import CHAT
from tests.mutation import bases
from tests.mutation.bases import Base, Record
from tests.mutation.definition import SURVIVED, Mutation


class Fate(StrEnum):
    """What became of a mutant; the values are keys of `reports/mutation.json`.

    `ITSELF`: an expected rule found it. `RELATED`: only rules did that the mutation names as related. `OTHERS`: only
    other rules did. `SURVIVED`: none did, or the rule raised on it. `TOLERATED`: none did, and none had to, since the
    change is harmless.
    """

    ITSELF = "itself"
    RELATED = "related"
    OTHERS = "others"
    SURVIVED = "survived"
    TOLERATED = "tolerated"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A good conversation with one fault, and the rules that it breaks.

    `by`: the mutation, or the rule whose bad example it is. `change`: the first difference to the base, with its JSON
    Pointer. `found`: every rule that it breaks. `false_positives`: those of them that are neither expected nor
    related. `explained`: what is not as expected and has a reason in the catalogue.
    """

    by: str
    base: str
    change: str
    expects: tuple[str, ...]
    fate: Fate
    found: tuple[str, ...]
    false_positives: tuple[str, ...] = ()
    explained: tuple[str, ...] = ()

    @property
    def unexplained(self) -> tuple[str, ...]:
        """Return what is wrong and has no reason: false positives, and `survived`."""
        return tuple(name for name in _wrong(self.false_positives, self.fate) if name not in self.explained)


def of_mutation(mutation: Mutation) -> Iterator[Mutant]:
    """Yield the mutants of a mutation: one for each target in each base that is good at the provider of its claims."""
    for base in _bases(mutation):
        count = len(list(mutation.find(base.records())))
        for number in range(count):
            records = base.records()
            target = next(found for at, found in enumerate(mutation.find(records)) if at == number)
            mutation.apply(target)
            if orjson.dumps(records) != base.text:
                yield _checked(mutation, base, records)


def of_rule(rule: Rule) -> Iterator[Mutant]:
    """Yield the mutants that are a rule's own bad examples."""
    for number, example in enumerate(rule.bad, 1):
        broken = bases.judged(example.conversation(), example.claims)
        found = tuple(name for name, status in broken.items() if status is Status.FAILED)
        others = tuple(name for name in found if name != rule.id)
        change = f"bad example {number}"
        yield Mutant(rule.id, example.base, change, (rule.id,), _fate(found, (rule.id,), ()), found, others)


@cache
def all_bases(wire: str = CHAT) -> tuple[tuple[Base, ...], tuple[Base, ...]]:
    """Return all bases on a wire: starts of sessions, and single exchanges, each conversation once."""
    found = bases.sessions(wire)
    starts = {base.text: base for session in reversed(found) for base in session.beginnings()}
    single = {base.text: base for session in reversed(found) for base in session.split()}
    return _sorted(starts.values()), _sorted(single.values())


def _sorted(found: Iterable[Base]) -> tuple[Base, ...]:
    return tuple(sorted(found, key=lambda base: base.name))


def _bases(mutation: Mutation) -> Iterator[Base]:
    for base in all_bases(mutation.wire)[not mutation.sessions]:
        prepared = base
        if mutation.prepare is not None:
            records = base.records()
            mutation.prepare(records)
            prepared = Base(base.name, orjson.dumps(records))
        if not mutation.claims or bases.is_good(prepared, mutation.claims):
            yield prepared


def _checked(mutation: Mutation, base: Base, records: Sequence[Record]) -> Mutant:
    broken = bases.broken(records, mutation.claims)
    found = tuple(name for name, status in broken.items() if status is Status.FAILED)
    errored = tuple(f"{name} (errored)" for name, status in broken.items() if status is Status.ERRORED)
    others = (*(name for name in found if name not in (*mutation.expects, *mutation.related)), *errored)
    fate = _fate(found, mutation.expects, mutation.related)
    allowed = {entry.what for entry in mutation.allows if fnmatchcase(base.name, entry.on)}
    explained = tuple(name for name in _wrong(others, fate) if name in allowed)
    change = difference(base.records(), records)
    return Mutant(mutation.name, base.name, change, mutation.expects, fate, found, others, explained)


def _wrong(false_positives: Sequence[str], fate: Fate) -> tuple[str, ...]:
    return (*false_positives, *((SURVIVED,) if fate is Fate.SURVIVED else ()))


def _fate(found: Sequence[str], expects: Sequence[str], related: Sequence[str]) -> Fate:
    if any(name in expects for name in found):
        return Fate.ITSELF
    if any(name in related for name in found):
        return Fate.RELATED
    if found:
        return Fate.OTHERS
    return Fate.SURVIVED if expects else Fate.TOLERATED


def difference(before: Any, after: Any, place: tuple[str | int, ...] = ()) -> str:
    """Return in words where two JSON values first differ and how: `/0/status: 200 is now 302`."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in (*before, *(key for key in after if key not in before)):
            if key not in after:
                return f"{render((*place, key))}: gone"
            if key not in before:
                return f"{render((*place, key))}: new, {_short(after[key])}"
            if before[key] != after[key]:
                return difference(before[key], after[key], (*place, key))
    if isinstance(before, list) and isinstance(after, list):
        pairs = enumerate(zip(before, after, strict=False))
        position = next((at for at, (left, right) in pairs if left != right), min(len(before), len(after)))
        if len(before) == len(after):
            return difference(before[position], after[position], (*place, position))
        here = _short(after[position]) if position < len(after) else "the end"
        return f"{render((*place, position))}: {len(before)} items are now {len(after)}, here {here}"
    return f"{render(place)}: {_short(before)} is now {_short(after)}"


def _short(value: Any) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= 80 else f"{text[:79]}…"
