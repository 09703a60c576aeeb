"""What is wrong with cited sources, by their pages and by the day on which they were read."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from conformance.evidence.cited.citations import Citation
from conformance.evidence.cited.pages import Page
from conformance.profiles import Source

_PLACEHOLDER: Final = re.compile(r"\{[a-z]+\}")
_MIN_FRAGMENT: Final = 12
"""Characters of a message between placeholders that are long enough to be looked for."""

_MIN_TEXT: Final = 400
"""A shorter page holds no words, most likely because scripts load them, or because it is not text."""


class ProblemKind(StrEnum):
    """What may be wrong.

    `UNCHECKED`: nothing could be said. `MESSAGE`: no page of a claim holds the error message that it quotes, which may
    have been found in another way; both are only notes.
    """

    GONE = "gone"
    MOVED = "moved"
    QUOTE = "quote not found"
    STALE = "not read lately"
    MESSAGE = "message not found"
    UNCHECKED = "not checked"

    @property
    def is_finding(self) -> bool:
        """Return True if someone has to correct the source."""
        return self not in (ProblemKind.MESSAGE, ProblemKind.UNCHECKED)


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of one source, and all that cite it; `text` is the source in print."""

    kind: ProblemKind
    text: str
    detail: str
    cited: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the problem as a JSON object."""
        return {"kind": self.kind.value, "source": self.text, "detail": self.detail, "cited": list(self.cited)}


def find(
    citations: Iterable[Citation], pages: Mapping[str, Page], today: date, max_age: timedelta
) -> tuple[Problem, ...]:
    """Return the problems of all sources, by kind and source; each problem once."""
    cited: dict[tuple[ProblemKind, str, str], dict[str, None]] = {}
    for citation in citations:
        for kind, source, detail in _of_citation(citation, pages, today - max_age):
            cited.setdefault((kind, source.text, detail), {})[citation.where] = None
    order = list(ProblemKind)
    keys = sorted(cited, key=lambda key: (order.index(key[0]), *key[1:]))
    return tuple([Problem(*key, tuple(cited[key])) for key in keys])


def _of_citation(
    citation: Citation, pages: Mapping[str, Page], oldest: date
) -> Iterator[tuple[ProblemKind, Source, str]]:
    read: list[tuple[Source, Page]] = []
    for source in citation.sources:
        days = (source.read or source.searched or "9999").split("-")
        if date(*map(int, [*days, "1", "1"][:3])) < oldest:
            yield ProblemKind.STALE, source, f"last read {source.read or source.searched}"
        for url in source.addresses:
            page = _page(source, url, pages)
            if page.failure or page.is_gone:
                kind = ProblemKind.GONE if page.is_gone else ProblemKind.UNCHECKED
                yield kind, source, page.failure or f"HTTP {page.status} at {page.url}"
                continue
            if _place(page.url) != _place(page.address):
                yield ProblemKind.MOVED, source, f"now at {page.address}"
            read.append((source, page))
            yield from _quoted(source, page)
    shown = [(source, page) for source, page in read if not source.package and len(page.text) >= _MIN_TEXT]
    for message in citation.messages if shown else ():
        if not any(_holds(page, message) for _, page in shown):
            yield ProblemKind.MESSAGE, shown[0][0], f"no page of the claim holds {message!r}"


def folder(source: Source) -> str:
    """Return the page of a folder in a repository, which has no raw file; empty for other sources."""
    return source.link.partition("#")[0].replace("/blob/", "/tree/", 1) if source.repo else ""


def _page(source: Source, url: str, pages: Mapping[str, Page]) -> Page:
    page = pages.get(url, Page(url, failure="not fetched"))
    return pages.get(folder(source), page) if page.is_gone else page


def _quoted(source: Source, page: Page) -> Iterator[tuple[ProblemKind, Source, str]]:
    if not source.quote or page.holds(source.quote):
        return
    if source.package:
        yield ProblemKind.UNCHECKED, source, "the quote: files of packages are not downloaded"
    elif len(page.text) < _MIN_TEXT:
        yield ProblemKind.UNCHECKED, source, "the quote: the page holds too little text"
    else:
        yield ProblemKind.QUOTE, source, source.quote


def _holds(page: Page, message: str) -> bool:
    """Return True if a page holds what is fixed in a message; fragments between placeholders must be long enough."""
    literal = _PLACEHOLDER.sub("\0", message.replace("{{", "{").replace("}}", "}"))
    fragments = [each for each in literal.split("\0") if len(each) >= _MIN_FRAGMENT]
    return page.holds("…".join(fragments))


def _place(url: str) -> tuple[str, str]:
    """Return what tells one place from another; https, a last slash, `www.` and case do not count.

    Nor does it whether GitHub shows a file or a folder at a path.
    """
    split = urlsplit(url)
    path = split.path.rstrip("/").lower()
    return (split.hostname or "").removeprefix("www."), path.replace("/tree/", "/blob/", 1)
