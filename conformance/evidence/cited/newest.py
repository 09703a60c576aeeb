"""What moved between the release of a package that a claim cites and its newest one."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from conformance.errors import ConformanceError
from conformance.evidence.cited.citations import Citation
from conformance.evidence.cited.opening import FilePlace, OpenedFile, OpenState, packages, places
from conformance.evidence.cited.pages import letters
from conformance.evidence.cited.shown import Shown, shown
from conformance.evidence.packages.archives import Archives
from conformance.profiles import Source

_MIN_LETTERS: Final = 8
"""Letters of a line that tells something; a bracket alone does not."""


class Move(StrEnum):
    """What became of a cited place. `LINE`: the words stand at another line; `SAME` is not reported."""

    GONE = "line gone"
    FILE = "file gone"
    LINE = "line moved"
    UNREACHABLE = "not reachable"
    SAME = "unchanged"

    @property
    def is_finding(self) -> bool:
        """Return True if the claim has to be read again."""
        return self in (Move.GONE, Move.FILE)


class Moved(NamedTuple):
    """One source, its newest release, and what became of the place there; `cited` is everything that cites it."""

    source: Source
    name: str
    version: str
    move: Move
    detail: str
    cited: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "source": self.source.text,
            "newest": f"{self.name} {self.version}",
            "kind": self.move.value,
            "detail": self.detail,
            "cited": list(self.cited),
        }


def compare(citations: Iterable[Citation], archives: Archives) -> tuple[Moved, ...]:
    """Return what moved since the releases that claims in force cite, by package.

    A source is compared by its quote, else by the words of the value, else by the text of the lines that it cites.
    """
    cited: dict[tuple[Source, str], list[Citation]] = {}
    for citation in citations:
        for source in citation.sources:
            if source.package and source.file and citation.is_in_force:
                cited.setdefault((source, _key(citation, source)), []).append(citation)
    newest = _newest({(file.registry, file.name) for source, _ in cited if (file := source.file)}, archives)
    wanted = [place for source, _ in cited for place in _both(source, newest)]
    opened = packages(dict.fromkeys(wanted), archives, lambda *_: None)
    moved: dict[tuple[Source, Move, str], tuple[str, str, list[str]]] = {}
    for (source, _), held in cited.items():
        both = _both(source, newest)
        if len(both) > 1:
            move, detail = _moved(held[0], source, opened[both[0]], opened[both[1]])
            entry = moved.setdefault((source, move, detail), (both[1].name, both[1].version, []))
            entry[2].extend(each.where for each in held)
    found = [
        Moved(source, name, version, move, detail, tuple(dict.fromkeys(where)))
        for (source, move, detail), (name, version, where) in moved.items()
    ]
    order = list(Move)
    return tuple(sorted(found, key=lambda each: (each.name, order.index(each.move), each.source.text, each.detail)))


def _key(citation: Citation, source: Source) -> str:
    return source.quote or repr((citation.words, citation.messages, citation.models))


def _newest(names: Iterable[tuple[str, str]], archives: Archives) -> Mapping[tuple[str, str], str]:
    found = {}
    for registry, name in names:
        try:
            found[registry, name] = archives.newest(registry, name)
        except ConformanceError:
            # Its place is then reported as not reachable, or gone, by the check of the release that is cited.
            continue
    return found


def _both(source: Source, newest: Mapping[tuple[str, str], str]) -> tuple[FilePlace, ...]:
    """Return the cited place in the last release that a source names, and in the newest one, if that is another."""
    file = source.file
    if file is None:
        return ()
    last = places(file)[-1]
    version = newest.get((file.registry, file.name), last.version)
    return (last,) if version == last.version else (last, last._replace(version=version))


def _moved(citation: Citation, source: Source, before: OpenedFile, after: OpenedFile) -> tuple[Move, str]:
    if OpenState.UNREACHABLE in (before.state, after.state):
        return Move.UNREACHABLE, before.detail or after.detail
    if before.state is OpenState.GONE:
        return Move.UNREACHABLE, before.detail
    if after.state is OpenState.GONE:
        return Move.FILE, after.detail
    # The lines are those of the release that is cited; in another one, the words may stand anywhere.
    anywhere = source._replace(package=source.package.partition("#")[0])
    first = shown(citation, source, before)
    if not first.is_found:
        return _lines_moved(source, before, after)
    return _compared(first, shown(citation, anywhere, after), source.quote or ", ".join(citation.words))


def _compared(before: Shown, after: Shown, words: str) -> tuple[Move, str]:
    if not after.is_found:
        return Move.GONE, words
    if before.line != after.line:
        return Move.LINE, f"line {before.line:,} is now line {after.line:,}"
    return Move.SAME, ""


def _lines_moved(source: Source, before: OpenedFile, after: OpenedFile) -> tuple[Move, str]:
    ranges = source.file.lines if source.file else ()
    text = before.text
    inside = [
        line for line, number in zip(text.lines, text.numbers, strict=True) if any(a <= number <= b for a, b in ranges)
    ]
    telling = [line.strip() for line in inside if len(letters(line)) >= _MIN_LETTERS]
    gone = next((line for line in telling if not any(after.text.find(line))), "")
    return (Move.GONE, gone) if gone else (Move.SAME, "")
