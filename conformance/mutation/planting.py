"""Planting: every vice at every place, every bad example, and who found it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import orjson

from conformance import profiles
from conformance.documents.pointer import render
from conformance.engine import check
from conformance.mutation import bases
from conformance.mutation.bases import Host, Record
from conformance.mutation.definition import SURVIVED, Vice
from conformance.results import Status
from conformance.rules import Rule


class Fate(StrEnum):
    """What became of a mutant.

    `itself`: an expected rule found it. `kin`: only rules did that the vice names as kin. `others`: only rules did
    that have no business with it. `survived`: none did, or the rule broke on it. `borne`: none did, and none had to,
    since the change is harmless.
    """

    ITSELF = "itself"
    KIN = "kin"
    OTHERS = "others"
    SURVIVED = "survived"
    BORNE = "borne"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A good conversation with one fault, and what was said of it.

    `by`: the vice, or the rule whose bad example it is. `change`: what the first difference to the host is, by JSON
    Pointer. `found`: every rule that it breaks. `strangers`: those of them that accuse falsely, together with what
    is not expected otherwise; `excused`: those of these for which the catalogue gives a reason.
    """

    by: str
    host: str
    change: str
    expects: tuple[str, ...]
    fate: Fate
    found: tuple[str, ...]
    strangers: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()

    @property
    def holes(self) -> tuple[str, ...]:
        """Return what is wrong and not explained: rules that accuse falsely, and `survived`."""
        wrong = (*self.strangers, *((SURVIVED,) if self.fate is Fate.SURVIVED else ()))
        return tuple(each for each in wrong if each not in self.excused)


def of_vice(vice: Vice) -> Iterator[Mutant]:
    """Yield the mutants of a vice: one for each place in each host that is good at the provider of its claims."""
    for host in _hosts(vice):
        count = len(list(vice.find(host.records())))
        for number in range(count):
            records = host.records()
            place = next(each for at, each in enumerate(vice.find(records)) if at == number)
            vice.plant(place)
            if orjson.dumps(records) != host.text:
                yield _judged(vice, host, records)


def of_rule(rule: Rule) -> Iterator[Mutant]:
    """Yield the mutants that are a rule's own bad examples."""
    for number, example in enumerate(rule.bad, 1):
        outcomes = check(example.conversation(), profiles.of(example.claims) if example.claims else None)
        found = tuple(each.rule for each in outcomes if each.status is Status.FAILED)
        strangers = tuple(each for each in found if each != rule.id)
        yield Mutant(
            rule.id, example.base, f"bad example {number}", (rule.id,), _fate(found, (rule.id,), ()), found, strangers
        )


@cache
def every() -> tuple[tuple[Host, ...], tuple[Host, ...]]:
    """Return all hosts: beginnings of sessions, and single exchanges, each conversation once."""
    found = bases.sessions()
    begun = {host.text: host for session in reversed(found) for host in session.beginnings()}
    single = {host.text: host for session in reversed(found) for host in session.split()}
    return _sorted(begun.values()), _sorted(single.values())


def _sorted(found: Iterable[Host]) -> tuple[Host, ...]:
    return tuple(sorted(found, key=lambda host: host.name))


def _hosts(vice: Vice) -> Iterator[Host]:
    for host in every()[not vice.sessions]:
        prepared = host
        if vice.prepare is not None:
            records = host.records()
            vice.prepare(records)
            prepared = Host(host.name, orjson.dumps(records))
        if not vice.claims or bases.is_good(prepared, vice.claims):
            yield prepared


def _judged(vice: Vice, host: Host, records: Sequence[Record]) -> Mutant:
    broken = bases.broken(records, vice.claims)
    found = tuple(name for name, status in broken.items() if status is Status.FAILED)
    errored = tuple(f"{name} (errored)" for name, status in broken.items() if status is Status.ERRORED)
    strangers = (*(each for each in found if each not in (*vice.expects, *vice.kin)), *errored)
    fate = _fate(found, vice.expects, vice.kin)
    excused = {each.what for each in vice.allows if fnmatchcase(host.name, each.on)}
    wrong = (*strangers, *((SURVIVED,) if fate is Fate.SURVIVED else ()))
    change = difference(host.records(), records)
    return Mutant(
        vice.name, host.name, change, vice.expects, fate, found, strangers,
        tuple(each for each in wrong if each in excused),
    )  # fmt: skip


def _fate(found: Sequence[str], expects: Sequence[str], kin: Sequence[str]) -> Fate:
    if any(each in expects for each in found):
        return Fate.ITSELF
    if any(each in kin for each in found):
        return Fate.KIN
    if found:
        return Fate.OTHERS
    return Fate.SURVIVED if expects else Fate.BORNE


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
