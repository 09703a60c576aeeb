"""Where the provider files of an SDK differ between the release that claims cite and its newest one."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.documents import parse_json
from conformance.documents.pointer import escape
from conformance.errors import ConformanceError, InvalidDocument
from conformance.evidence.packages.archives import Archives, read

_SOURCE: Final = re.compile(r"\.(py|ts|js|mjs|json|md)$")
_SKIPPED: Final = re.compile(r"(^|/)(tests?|__tests__|node_modules|docs|examples|benchmarks?)/|\.(min|d)\.\w+$|\.map$")
_TELLS: Final = re.compile(
    r"(?i)reasoning|thinking|thought|signature|tool|call_id|effort|budget|\b4\d\d\b|not support|unsupported|must |"
    r"require|deprecat|max_tokens|parallel|stream|usage|finish|refus|encrypted"
)
"""Words of a changed line that make it a candidate: it may say something new about a wire."""

MAX_LINES: Final = 4
"""Changed lines that are shown of a file."""

MAX_FILES: Final = 12
"""Files that are shown of a package: those with the most changed lines."""

_FEW: Final = 3
_MAX_TEXT: Final = 2 * 1024 * 1024


class Change(NamedTuple):
    """A changed line of a provider file: its number in the newest release, or in the cited one if it was removed."""

    path: str
    line: int
    text: str
    is_added: bool


class Candidates(NamedTuple):
    """What changed in a package: the release that is cited, the newest one, the changes, or why nothing is known."""

    registry: str
    name: str
    cited: str
    newest: str
    changes: tuple[Change, ...] = ()
    problem: str = ""


class CitedPackage(NamedTuple):
    """A package, the newest release of it that claims cite, and the files in it that they cite."""

    registry: str
    name: str
    version: str
    paths: tuple[str, ...]

    @property
    def folders(self) -> tuple[str, ...]:
        """Return where its provider files are: in the folders of the cited files, at most two levels deep."""
        parents = ["/".join(path.split("/")[:-1][:2]) for path in self.paths]
        return tuple(sorted({f"{parent}/" for parent in parents if parent}))


def candidates(cited: Iterable[CitedPackage], archives: Archives) -> Iterator[Candidates]:
    """Yield what changed in the provider files of each package since the release that claims cite."""
    for package in cited:
        registry, name, version = package[:3]
        try:
            newest = archives.newest(registry, name)
            changes = () if newest == version else tuple(_changes(package, newest, archives))
        except ConformanceError as error:
            yield Candidates(registry, name, version, "", problem=str(error))
        else:
            yield Candidates(registry, name, version, newest, changes)


def _changes(package: CitedPackage, newest: str, archives: Archives) -> Iterator[Change]:
    before, after = (
        _texts(archives.get(package.registry, package.name, each), package.folders)
        for each in (package.version, newest)
    )
    for path in sorted({*before, *after}):
        old, new = before.get(path, ""), after.get(path, "")
        if old != new and max(len(old), len(new)) <= _MAX_TEXT:
            yield from _of_file(path, _lines(path, old), _lines(path, new))


def _texts(path: Path, folders: tuple[str, ...]) -> Mapping[str, str]:
    every = read(path, ()).paths
    chosen = [each for each in every if _SOURCE.search(each) and not _SKIPPED.search(each)]
    return read(path, [each for each in chosen if each.startswith(folders) or each == "CHANGELOG.md"]).texts


def _lines(path: str, text: str) -> list[tuple[int, str]]:
    """Return the lines of a file with their numbers; data on one line have one for each value, with its pointer."""
    lines = text.splitlines()
    if path.endswith(".json") and len(lines) <= _FEW:
        try:
            return [(1, line) for line in _values(parse_json(text, path), "")]
        except InvalidDocument:
            pass
    return list(enumerate(lines, 1))


def _values(value: Any, pointer: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _values(each, f"{pointer}/{escape(str(key))}")
    else:
        yield f"{pointer}: {json.dumps(value, ensure_ascii=False)}"


def _of_file(path: str, old: Sequence[tuple[int, str]], new: Sequence[tuple[int, str]]) -> Iterator[Change]:
    # Only lines that stand nowhere in the other release: moved code is no news, and this needs no quadratic match.
    had, has = ({line.strip() for _, line in lines} for lines in (old, new))
    added = [Change(path, at, line.strip(), is_added=True) for at, line in new if line.strip() not in had]
    removed = [Change(path, at, line.strip(), is_added=False) for at, line in old if line.strip() not in has]
    yield from (each for each in (*added, *removed) if _TELLS.search(each.text) and "/cost/" not in each.text)
