"""The baseline: expected failures, each with its reason, and what they cover.

A failure has names, such as `openai/plain-answer.stream/stream/role-first`; an entry covers it if its `match` fits one
of them whole. Matching is pure, so that every report and the gate agree on what is expected.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from conformance import definitions
from conformance.documents.pointer import render
from conformance.resources import folder

RECORDINGS = "recordings"
"""The first part of the names of failures found in recordings of real traffic; failures of results never have it."""

_PARTS: Final = 4
"""The parts of the shortest name: a subject, a case, and a rule or probe, which has two."""

LONGEST: Final = 366
"""The days after which a new entry ends at the latest: somebody looks at each failure once a year."""


class Named(Protocol):
    """Anything that an entry can cover, because it has names."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name that an entry may match, with slashes between the parts."""


Failure = TypeVar("Failure", bound=Named)


@dataclass(frozen=True, slots=True)
class Entry:
    """One expected failure.

    `match`: a pattern, see `fits`. `link`: where the failure is described. `until`: the ISO 8601 day on which the entry
    expires; empty: never. `max`: how many failures a pattern with stars may cover; None without stars. `flaky`: the
    failure comes and goes, so a pass proves nothing. `line`: in the entry's file.
    """

    match: str
    reason: str
    link: str
    until: str = ""
    max: int | None = None
    flaky: bool = False
    line: int | None = None

    def covers(self, names: Iterable[str]) -> bool:
        """Return True if the pattern fits one of these names."""
        return any(fits(self.match, name) for name in names)

    def concerns(self, subject: str) -> bool:
        """Return True if the pattern may fit a name that begins with a subject, such as `openai` or `sdk@1/openai`."""
        wanted = self.match.split("/")
        # How many parts of the pattern name the subject is open, since `**` stands for any number of parts.
        return any(fits("/".join(wanted[:end]), subject) for end in range(1, len(wanted)))

    def has_expired(self, today: str) -> bool:
        """Return True if the entry has expired by a day (ISO 8601; empty: it has not)."""
        return bool(self.until and today and self.until <= today)


@dataclass(frozen=True, slots=True)
class Coverage(Generic[Failure]):
    """Failures compared with a baseline.

    `unexpected`: no entry covers them. `expected`: each with the first entry that does. `unused`: entries that cover
    nothing and are not flaky. `expired`: entries past their `until` day; they cover nothing. `exceeded`: entries that
    cover more failures than their `max`, each with the number.
    """

    unexpected: tuple[Failure, ...]
    expected: tuple[tuple[Failure, Entry], ...]
    unused: tuple[Entry, ...]
    expired: tuple[Entry, ...]
    exceeded: tuple[tuple[Entry, int], ...] = ()


def default() -> Path:
    """Return the path of the project's own expected failures."""
    return folder("reports") / "expected-failures.yaml"


def load(path: Path | None = None, *, recordings: bool = False, today: str = "") -> tuple[Entry, ...]:
    """Return the entries of a file, by default the project's own, in their order.

    With `recordings` those about recordings of real traffic, otherwise all others. `today` (ISO 8601; empty: any day)
    is the day within a year of which each entry has to end.

    Raises InvalidDocument with file, line and pointer for an invalid entry and for a pattern that occurs twice.
    """
    path = default() if path is None else path
    document = definitions.read(path, "expected-failures")
    entries: dict[str, Entry] = {}
    for number, value in enumerate(document.value):
        if problem := _problem(value, entries, today):
            key, message = problem
            raise definitions.invalid(document, (number, key), message)
        entries[value["match"]] = Entry(**value, line=document.line(render((number,))))
    return tuple([each for each in entries.values() if each.match.startswith(f"{RECORDINGS}/") is recordings])


def _problem(value: dict[str, Any], others: Container[str], today: str) -> tuple[str, str] | None:
    """Return the key and the reason if an entry that fits the schema cannot stand; None if it can."""
    match, until = value["match"], value["until"]
    if match in others:
        return "match", f"expected each pattern once, got {match!r} again"
    if "*" in match and "max" not in value:
        return "match", f'expected the key "max" beside a pattern with *: how many failures {match!r} may cover'
    if "*" not in match and "max" in value:
        return "max", f"expected max only beside a pattern with *; {match!r} covers one failure"
    is_recording = match.startswith(f"{RECORDINGS}/")
    if not is_recording and "**" not in match.split("/") and len(match.split("/")) < _PARTS:
        return "match", f"expected <subject>/<scenario>.<variant>/<rule>, got {match!r}, which names no case"
    last = (date.fromisoformat(today) + timedelta(LONGEST)).isoformat() if today else until
    if until > last:
        return "until", f"expected a day within a year, {last} at the latest, got {until}"
    return None


def dump(entries: Sequence[Entry]) -> str:
    """Return the text of a file with these entries."""
    # Imported here because only the creation of a baseline writes YAML.
    import yaml

    keys = ("match", "reason", "link", "until", "max", "flaky")
    shown = [{key: value for key in keys if (value := getattr(entry, key))} for entry in entries]
    return str(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=120))


def cover(failures: Sequence[Failure], entries: Sequence[Entry], today: str = "") -> Coverage[Failure]:
    """Compare failures with the entries that are in force on a day (ISO 8601; empty: all are)."""
    expired = tuple([entry for entry in entries if entry.has_expired(today)])
    in_force = [entry for entry in entries if not entry.has_expired(today)]
    met: Counter[str] = Counter()
    unexpected: list[Failure] = []
    expected: list[tuple[Failure, Entry]] = []
    for failure in failures:
        covering = [entry for entry in in_force if entry.covers(failure.names)]
        met.update([entry.match for entry in covering])
        if covering:
            expected.append((failure, covering[0]))
        else:
            unexpected.append(failure)
    unused = [entry for entry in in_force if not met[entry.match] and not entry.flaky]
    exceeded = [(each, met[each.match]) for each in in_force if each.max is not None and met[each.match] > each.max]
    return Coverage(tuple(unexpected), tuple(expected), tuple(unused), expired, tuple(exceeded))


def fits(pattern: str, name: str) -> bool:
    """Return True if a pattern fits a whole name.

    `*` matches any number of characters within one part; a part `**` matches any number of parts. Both may match none.
    """
    parts = name.split("/")
    # After each part of the pattern: how many parts of the name it may have consumed. No path is tried twice.
    reached = {0}
    for wanted in pattern.split("/"):
        if wanted == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else reached
        else:
            reached = {used + 1 for used in reached if used < len(parts) and _fits_part(wanted, parts[used])}
    return len(parts) in reached


def _fits_part(pattern: str, part: str) -> bool:
    """Return True if a pattern fits one part; each text between stars is searched for after the one before it."""
    first, *rest = pattern.split("*")
    if not rest:
        return first == part
    last = rest.pop()
    if not part.startswith(first) or not part.endswith(last) or len(part) < len(first) + len(last):
        return False
    at, end = len(first), len(part) - len(last)
    for text in rest:
        at = part.find(text, at, end) + len(text)
        if at < len(text):
            return False
    return True
