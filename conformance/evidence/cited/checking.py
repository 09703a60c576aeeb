"""Checks cited sources: reads their pages, and reports what is wrong."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, Protocol

from conformance.evidence.cited import problems
from conformance.evidence.cited.citations import Citation
from conformance.evidence.cited.opening import FilePlace, OpenedFile, OpenState, of_repository, packages, places
from conformance.evidence.cited.pages import Page, Pages
from conformance.evidence.cited.problems import Problem, ProblemKind
from conformance.evidence.cited.shown import Proof
from conformance.evidence.fetching import FileOrigin
from conformance.evidence.packages.archives import Archives
from conformance.profiles import Source

_FRESH: Final = timedelta(days=1)
_UNKNOWN: Final = OpenedFile(FilePlace("", "", "", ""), OpenState.OPENED)


class Fetch(Protocol):
    """Fetches pages, as `fetching.fetch` does."""

    def __call__(
        self, urls: Iterable[str], pages: Pages, now: str, on_page: Callable[[Page], None], /
    ) -> Mapping[str, Page]:
        """Return the pages of some addresses, keep them, and call `on_page` for each."""
        ...


@dataclass(frozen=True, slots=True)
class Reader:
    """Gets the pages of addresses: those that are kept, and the others by fetching them.

    A page that was fetched less than a day before `now` is not fetched again, so that an interrupted check resumes;
    with `refresh` it is. Without `fetch`, every page that is kept counts. `on_page` is called with the number of pages
    so far, the number of all, and the address of the last; `on_citation` likewise, when sources are compared.
    """

    pages: Pages
    now: datetime
    fetch: Fetch | None = None
    refresh: bool = False
    on_page: Callable[[int, int, str], None] = lambda _done, _all, _url: None
    on_citation: Callable[[int, int, str], None] = lambda _done, _all, _where: None

    def read(self, urls: Iterable[str]) -> dict[str, Page]:
        """Return the page of each address."""
        wanted = list(dict.fromkeys(urls))
        since = "" if self.fetch is None else (self.now - (timedelta() if self.refresh else _FRESH)).isoformat()
        found = {url: page for url in wanted if (page := self.pages.get(url, since)) is not None}
        left = [url for url in wanted if url not in found]
        if self.fetch is None:
            return found | {url: Page(url, failure="no page of this address is kept") for url in left}
        done = len(found)

        def count(page: Page) -> None:
            nonlocal done
            done += 1
            self.on_page(done, len(wanted), page.url)

        return found | dict(self.fetch(left, self.pages, self.now.isoformat(), count))


class Report(NamedTuple):
    """What was checked: all cited sources, their addresses and files, how many of these answered, and the problems.

    `shown` counts what the files that were opened show of what cites them.
    """

    day: str
    sources: int
    addresses: int
    answered: int
    problems: tuple[Problem, ...]
    files: int = 0
    opened: int = 0
    shown: Mapping[Proof, int] = {}

    def count(self, kind: ProblemKind) -> int:
        """Return the number of problems of a kind."""
        return sum(1 for problem in self.problems if problem.kind is kind)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        counts = {"sources": self.sources, "addresses": self.addresses, "answered": self.answered}
        counts |= {"files": self.files, "opened": self.opened}
        counts |= {f"files with {proof.value}": number for proof, number in self.shown.items()}
        counts |= {kind.value: self.count(kind) for kind in ProblemKind}
        return {"day": self.day, "counts": counts, "problems": [problem.to_json() for problem in self.problems]}


@dataclass(frozen=True, slots=True)
class FileReader:
    """Opens the files of packages and repositories; what is None is not opened."""

    archives: Archives | None = None
    mirrors: FileOrigin | None = None
    on_archive: Callable[[int, int, str], None] = lambda _done, _all, _name: None

    def open(self, sources: Iterable[Source]) -> dict[FilePlace, OpenedFile]:
        """Return the files of sources."""
        every = dict.fromkeys([place for source in sources if source.file for place in places(source.file)])
        published = [place for place in every if place.registry != "github"]
        found: dict[FilePlace, OpenedFile] = {}
        if self.archives is not None:
            found |= packages(published, self.archives, self.on_archive)
        if self.mirrors is not None:
            found |= {each: of_repository(each, self.mirrors) for each in every if each.registry == "github"}
        return found


def check(
    citations: Iterable[Citation], reader: Reader, max_age: timedelta, files: FileReader = FileReader()
) -> Report:
    """Return the report on all sources; older ones than `max_age` have to be read again."""
    cited = list(citations)
    sources = dict.fromkeys([source for citation in cited for source in citation.sources])
    opened = files.open([source for source in sources if not problems.is_recording(source) or files.mirrors])
    # A mirror answers for the repositories that it has; the server is asked for the others.
    left = [
        source
        for source in sources
        if not source.file
        or any(opened.get(each, _UNKNOWN).state is OpenState.UNREACHABLE for each in places(source.file))
        or (source.repo and files.mirrors is None)
    ]
    urls = dict.fromkeys([url for source in left for url in source.addresses])
    pages = reader.read(urls)
    # A repository has no raw file for a folder.
    gone = [source for source in left if any(pages[url].is_gone for url in source.addresses)]
    pages |= reader.read([problems.folder(source) for source in gone if source.repo])
    answered = sum(1 for url in urls if not pages[url].failure)
    today = reader.now.date()
    found = problems.OpenedSources(pages, opened)
    compared = problems.find(cited, found, today, max_age, reader.on_citation)
    return Report(
        today.isoformat(),
        len(sources),
        len(urls),
        answered,
        compared.problems,
        len(opened),
        sum(1 for each in opened.values() if each.state is OpenState.OPENED),
        compared.shown,
    )
