"""Sources of facts: where a reader can open what a claim, a rule or a scenario rests on."""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote

_REPO: Final = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{6,40})(:(?P<path>[^#]+)(#(?P<lines>L.+))?)?")
_PACKAGE: Final = re.compile(
    r"(?P<registry>pypi|npm)/(?P<name>@?[^@]+)@(?P<version>[^:]+)(:(?P<path>[^#]+)(#(?P<lines>L.+))?)?"
)
_RANGE: Final = re.compile(r"L?(\d+)(?:-L?(\d+))?")
_VERSIONS: Final = re.compile(r",|\.\.")
_PACKAGE_PAGES: Final = {
    "pypi": "https://pypi.org/project/{name}/{version}/",
    "npm": "https://www.npmjs.com/package/{name}/v/{version}",
}


class CitedFile(NamedTuple):
    """A file that a source cites.

    `registry`: `github`, `pypi` or `npm`. `versions`: releases of a package, or the commit of a repository. `path` is
    empty if the source names no file. `lines`: first and last line of each range, 1-based; none means the whole file.
    """

    registry: str
    name: str
    versions: tuple[str, ...]
    path: str
    lines: tuple[tuple[int, int], ...] = ()


class Source(NamedTuple):
    """Where a fact is known from; exactly one of the members below says it.

    `url`: an address. `repo`: a file of a public repository, `owner/name@commit:path`, with `#L12` for its lines.
    `package`: a file of a published package, `pypi/name@version:path`. `engine`: this project measured it on that
    release of an engine. `exchange`: the digest of an exchange with a real endpoint. `recorded`: recordings of real
    traffic in words, without a place. `inferred`: how it follows from something else. `searched`: the ISO 8601 day on
    which nothing was found.

    `quote` are the words that the fact rests on, `read` is the ISO 8601 day on which the source was read.
    """

    url: str = ""
    quote: str = ""
    read: str = ""
    repo: str = ""
    package: str = ""
    engine: str = ""
    exchange: str = ""
    recorded: str = ""
    inferred: str = ""
    searched: str = ""

    @property
    def text(self) -> str:
        """Return what to print: the place, or the words that stand for one."""
        if self.searched:
            return f"searched {self.searched}, nothing found"
        if self.engine:
            return f"measured with {self.engine}"
        if self.exchange:
            return f"observed in exchange {self.exchange}"
        return self.url or self.repo or self.package or self.recorded or self.inferred

    @property
    def link(self) -> str:
        """Return the address that a reader can open; empty if there is none."""
        if repo := _REPO.fullmatch(self.repo):
            # GitHub marks one range only, and requires an L before both of its ends.
            first = (repo["lines"] or "").partition(",")[0].replace("-", "-L").replace("-LL", "-L")
            anchor = f"#{first}" if first else ""
            at = f"blob/{repo['commit']}/{repo['path']}{anchor}" if repo["path"] else f"tree/{repo['commit']}"
            return f"https://github.com/{repo['name']}/{at}"
        if package := _PACKAGE.fullmatch(self.package):
            # Of several versions, the newest has the page that a reader is most likely to need.
            version = _VERSIONS.split(package["version"])[-1]
            return _PACKAGE_PAGES[package["registry"]].format(name=package["name"], version=version)
        return self.url

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the addresses that show whether the place still exists; empty if there is no place.

        For a file of a repository it is the raw file. Files of packages have no address of their own.
        """
        if (repo := _REPO.fullmatch(self.repo)) and repo["path"]:
            return (f"https://raw.githubusercontent.com/{repo['name']}/{repo['commit']}/{repo['path']}",)
        if self.package:
            return ()
        return (self.link.partition("#")[0],) if self.link else ()

    @property
    def file(self) -> CitedFile | None:
        """Return the file of a repository or package that the source cites; None if it cites none."""
        if repo := _REPO.fullmatch(self.repo):
            # Sources write a path as addresses do, without spaces.
            path = unquote(repo["path"] or "")
            return CitedFile("github", repo["name"], (repo["commit"],), path, _ranges(repo["lines"]))
        if package := _PACKAGE.fullmatch(self.package):
            versions = tuple(_VERSIONS.split(package["version"]))
            return CitedFile(
                package["registry"], package["name"], versions, package["path"] or "", _ranges(package["lines"])
            )
        return None

    @property
    def has_place(self) -> bool:
        """Return True if a reader can open the source, or repeat the measurement."""
        return bool(self.link or self.engine or self.exchange)


def _ranges(lines: str | None) -> tuple[tuple[int, int], ...]:
    found = [match for part in (lines or "").split(",") if (match := _RANGE.fullmatch(part)) is not None]
    return tuple([(int(each[1]), int(each[2] or each[1])) for each in found])
