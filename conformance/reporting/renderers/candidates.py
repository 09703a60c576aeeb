"""The changes of SDKs since the releases that claims cite, as a Markdown list to work through."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.evidence.packages.candidates import MAX_FILES, MAX_LINES, Candidates, Change
from conformance.reporting.text import code, plural, printable, shorten

_MAX_LINE: Final = 160
_INTRODUCTION: Final = """\
# Candidates for claims

Lines of provider files that differ between the release of an SDK that claims cite and its newest release. A line may
say something new about a host, or that something no longer holds. Read the file, correct or add the claim, and cite the
newer release. `conformance evidence candidates --write reports/candidates.md` writes this file.

"""


def render(found: Sequence[Candidates]) -> Iterator[str]:
    """Yield the page in parts."""
    yield _INTRODUCTION
    same = [each for each in found if not each.problem and not each.changes]
    for each in found:
        if each.changes:
            yield from _package(each)
    if same:
        names = ", ".join(f"{each.name} {each.newest}" for each in same)
        yield f"## No changes\n\n{names}\n"
    for each in found:
        if each.problem:
            yield f"\n- {each.name} {each.cited}: not compared, {printable(each.problem)}\n"


def _package(found: Candidates) -> Iterator[str]:
    yield f"## {found.name} {found.cited} → {found.newest}\n\n"
    counted = Counter(each.path for each in found.changes)
    for path, number in sorted(counted.most_common(MAX_FILES)):
        yield f"- {code(path)}, {plural(number, 'line')}\n"
        for change in [each for each in found.changes if each.path == path][:MAX_LINES]:
            yield f"    - {_line(change, found)}\n"
        if number > MAX_LINES:
            yield f"    - and {number - MAX_LINES:,} more\n"
    if len(counted) > MAX_FILES:
        yield f"- and {plural(len(counted) - MAX_FILES, 'file')} more\n"
    yield "\n"


def _line(change: Change, found: Candidates) -> str:
    text = code(shorten(change.text, _MAX_LINE))
    what = "new" if change.is_added else f"gone, was in {found.cited}"
    return f"L{change.line} {what}: {text}"
