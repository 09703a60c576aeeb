"""The baseline: failures that are known and excused, each with its reason, and what they cover.

A failure has names, such as `openai/stream/role-first` and `openai/stream.role`; an entry covers it where its `match`
fits one of them whole. Everything here is pure, so that every report and the gate agree on what is expected.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from conformance import definitions
from conformance.documents.pointer import render
from conformance.resources import folder

RECORDINGS = "recordings"
"""The first part of the names of failures that recordings of real traffic show; those of results have none such."""


class Named(Protocol):
    """What can be covered: anything that has names."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name that an entry may match, their parts divided by slashes."""


Failure = TypeVar("Failure", bound=Named)


@dataclass(frozen=True, slots=True)
class Entry:
    """One expected failure.

    `match`: a pattern, see `fits`. `link`: where it is known from. `until`: the first ISO 8601 day on which it is no
    excuse any more; empty: it has no end. `flaky`: it comes and goes, so that its absence proves nothing.
    `line`: where the entry stands in its file.
    """

    match: str
    reason: str
    link: str
    until: str = ""
    flaky: bool = False
    line: int | None = None

    def covers(self, names: Iterable[str]) -> bool:
        """Say whether the pattern fits one of these names."""
        return any(fits(self.match, name) for name in names)

    def has_ended(self, today: str) -> bool:
        """Say whether the entry is past its end on a day (ISO 8601; empty: no day is past it)."""
        return bool(self.until and today and self.until <= today)


@dataclass(frozen=True, slots=True)
class Covered(Generic[Failure]):
    """Failures held against a baseline.

    `unexpected`: no entry covers it. `expected`: each with the first entry that does. `stale`: entries that cover
    nothing and are not flaky. `ended`: entries past their end, which cover nothing for that reason.
    """

    unexpected: tuple[Failure, ...]
    expected: tuple[tuple[Failure, Entry], ...]
    stale: tuple[Entry, ...]
    ended: tuple[Entry, ...]


def default() -> Path:
    """Return where the project's own expected failures stand."""
    return folder("reports") / "expected-failures.yaml"


def load(path: Path | None = None, *, recordings: bool = False) -> tuple[Entry, ...]:
    """Return the entries of a file, by default the project's own, in their order.

    Those about recordings of real traffic, or all others: nothing is held against both.

    Raises InvalidDocument with file, line and pointer for what is not an entry, and for a pattern that is given twice.
    """
    path = default() if path is None else path
    document = definitions.read(path, "expected-failures")
    entries: dict[str, Entry] = {}
    for number, value in enumerate(document.value):
        entry = Entry(**value, line=document.line(render((number,))))
        if entry.match in entries:
            message = f"expected each pattern once, got {entry.match!r} again"
            raise definitions.invalid(document, (number, "match"), message)
        entries[entry.match] = entry
    return tuple([each for each in entries.values() if each.match.startswith(f"{RECORDINGS}/") is recordings])


def cover(failures: Sequence[Failure], entries: Sequence[Entry], today: str = "") -> Covered[Failure]:
    """Hold failures against the entries that are in force on a day (ISO 8601; empty: all are)."""
    ended = tuple([entry for entry in entries if entry.has_ended(today)])
    in_force = [entry for entry in entries if not entry.has_ended(today)]
    met: set[str] = set()
    unexpected: list[Failure] = []
    expected: list[tuple[Failure, Entry]] = []
    for failure in failures:
        covering = [entry for entry in in_force if entry.covers(failure.names)]
        met.update([entry.match for entry in covering])
        if covering:
            expected.append((failure, covering[0]))
        else:
            unexpected.append(failure)
    stale = [entry for entry in in_force if entry.match not in met and not entry.flaky]
    return Covered(tuple(unexpected), tuple(expected), tuple(stale), ended)


def fits(pattern: str, name: str) -> bool:
    """Say whether a pattern fits a whole name.

    `*` stands for any characters within one part, none included; a part `**` for any number of parts, none included.
    """
    parts = name.split("/")
    # After each part of the pattern: how many parts of the name may be used up. Never tries a way twice.
    reached = {0}
    for wanted in pattern.split("/"):
        if wanted == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else reached
        else:
            reached = {used + 1 for used in reached if used < len(parts) and _fits_part(wanted, parts[used])}
    return len(parts) in reached


def _fits_part(pattern: str, part: str) -> bool:
    """Say whether a pattern fits one part; each piece between stars is looked for behind the one before it."""
    first, *rest = pattern.split("*")
    if not rest:
        return first == part
    last = rest.pop()
    if not part.startswith(first) or not part.endswith(last) or len(part) < len(first) + len(last):
        return False
    at, end = len(first), len(part) - len(last)
    for piece in rest:
        at = part.find(piece, at, end) + len(piece)
        if at < len(piece):
            return False
    return True
