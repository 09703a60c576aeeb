"""Opens the files that sources cite: those of packages in their archives, those of repositories at their commit."""

import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, NamedTuple

from conformance.errors import Unusable
from conformance.evidence.cited.pages import Page
from conformance.evidence.cited.texts import CitedText
from conformance.evidence.fetching import Absent, FileOrigin, NotMirrored
from conformance.evidence.index import PublicFile
from conformance.evidence.packages.archives import Archives, Contents, read
from conformance.evidence.packages.registries import NoRelease, NotReachable
from conformance.profiles.sources import CitedFile

_MAX_OPEN: Final = 256


class OpenState(StrEnum):
    """What became of a file: `gone` is said by who has it, `unreachable` is all that is known otherwise."""

    OPENED = "opened"
    GONE = "gone"
    UNREACHABLE = "not reachable"


class FilePlace(NamedTuple):
    """One file of one release or commit."""

    registry: str
    name: str
    version: str
    path: str

    def __str__(self) -> str:
        """Return it as sources write it."""
        at = f":{self.path}" if self.path else ""
        prefix = "" if self.registry == "github" else f"{self.registry}/"
        return f"{prefix}{self.name}@{self.version}{at}"


class OpenedFile(NamedTuple):
    """A file, or why there is none; `path` is where it was found, which may differ from where it was looked for."""

    place: FilePlace
    state: OpenState
    detail: str = ""
    path: str = ""
    content: str = ""

    @property
    def text(self) -> CitedText:
        """Return its text."""
        return _text(self.content)


@lru_cache(maxsize=_MAX_OPEN)
def _text(content: str) -> CitedText:
    return CitedText.of(content)


def places(file: CitedFile) -> tuple[FilePlace, ...]:
    """Return the file of a source in each release that it names."""
    return tuple([FilePlace(file.registry, file.name, version, file.path) for version in file.versions])


def packages(
    wanted: Iterable[FilePlace], archives: Archives, on_archive: Callable[[int, int, str], None]
) -> Mapping[FilePlace, OpenedFile]:
    """Open files of packages, archive by archive.

    `on_archive` is called with how many archives are done, how many there are, and the last one.
    """
    by_release: dict[tuple[str, str, str], list[FilePlace]] = {}
    for place in wanted:
        by_release.setdefault(place[:3], []).append(place)
    found: dict[FilePlace, OpenedFile] = {}
    for done, (release, held) in enumerate(by_release.items(), 1):
        found |= {each.place: each for each in _of_release(release, held, archives)}
        on_archive(done, len(by_release), f"{release[1]} {release[2]}")
    return found


def of_page(place: FilePlace, page: Page) -> OpenedFile:
    """Return a file of a repository from the page that its server answered."""
    if page.is_gone:
        return OpenedFile(place, OpenState.GONE, f"HTTP {page.status} at {page.url}")
    if page.failure:
        return OpenedFile(place, OpenState.UNREACHABLE, page.failure)
    return OpenedFile(place, OpenState.OPENED, "", place.path, page.text)


def of_repository(place: FilePlace, origin: FileOrigin) -> OpenedFile:
    """Return a file of a repository from a mirror."""
    try:
        content = origin.get(PublicFile(place.name, place.version, place.path))
    except Absent as error:
        return OpenedFile(place, OpenState.GONE, str(error))
    except (NotMirrored, Unusable, subprocess.TimeoutExpired, OSError) as error:
        return OpenedFile(place, OpenState.UNREACHABLE, str(error))
    return OpenedFile(place, OpenState.OPENED, "", place.path, content.decode("utf-8", "replace"))


def _of_release(release: tuple[str, str, str], held: list[FilePlace], archives: Archives) -> Iterator[OpenedFile]:
    registry, name, version = release
    try:
        path = archives.get(registry, name, version)
        contents = read(path, {place.path for place in held})
        where = {place: _path(place.path, contents.paths) for place in held}
        # What is cited may stand elsewhere in the archive; to read that takes a second time.
        if elsewhere := {found for found in where.values() if found and found not in contents.texts}:
            contents = Contents({**contents.texts, **read(path, elsewhere).texts}, contents.paths)
    except NoRelease as error:
        yield from (OpenedFile(place, OpenState.GONE, str(error)) for place in held)
    except (NotReachable, Unusable) as error:
        yield from (OpenedFile(place, OpenState.UNREACHABLE, str(error)) for place in held)
    else:
        yield from (_opened(place, where[place], contents) for place in held)


def _opened(place: FilePlace, found: str, contents: Contents) -> OpenedFile:
    if not found:
        what = f"no file {place.path!r}" if place.path else "no path: name the file that shows it"
        return OpenedFile(place, OpenState.GONE, f"{place.name} {place.version} has {what}" if place.path else what)
    return OpenedFile(place, OpenState.OPENED, "", found, contents.texts[found])


def _path(path: str, every: Iterable[str]) -> str:
    """Return the one file that a path names: itself, or the only one that ends with it or fits its pattern."""
    if not path:
        return ""
    fits = [each for each in every if each == path]
    fits = fits or [each for each in every if each.endswith(f"/{path}")]
    fits = fits or [each for each in every if "*" in path and fnmatchcase(each, path)]
    return fits[0] if len(fits) == 1 else ""
