"""Sources of facts: where a reader can open what a claim, a rule or a scenario rests on."""

import re
from typing import Final, NamedTuple

_REPO: Final = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{6,40})(:(?P<path>[^#]+)(#(?P<lines>L.+))?)?")
_PACKAGE: Final = re.compile(r"(?P<registry>pypi|npm)/(?P<name>@?[^@]+)@(?P<version>[^:]+)(:.*)?")
_VERSIONS: Final = re.compile(r",|\.\.")
_PACKAGE_ENTRIES: Final = {
    "pypi": "https://pypi.org/pypi/{name}/{version}/json",
    "npm": "https://registry.npmjs.org/{name}/{version}",
}
_PACKAGE_PAGES: Final = {
    "pypi": "https://pypi.org/project/{name}/{version}/",
    "npm": "https://www.npmjs.com/package/{name}/v/{version}",
}


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

        For a file of a repository it is the raw file, for a package the registry's entry of each version.
        """
        if (repo := _REPO.fullmatch(self.repo)) and repo["path"]:
            return (f"https://raw.githubusercontent.com/{repo['name']}/{repo['commit']}/{repo['path']}",)
        if package := _PACKAGE.fullmatch(self.package):
            entry, name = _PACKAGE_ENTRIES[package["registry"]], package["name"]
            return tuple([entry.format(name=name, version=each) for each in _VERSIONS.split(package["version"])])
        return (self.link.partition("#")[0],) if self.link else ()

    @property
    def has_place(self) -> bool:
        """Return True if a reader can open the source, or repeat the measurement."""
        return bool(self.link or self.engine or self.exchange)
