"""What is wrong with cited sources, by what they show and by the day on which they were read."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from conformance.evidence import index
from conformance.evidence.cited.citations import Citation
from conformance.evidence.cited.opening import FilePlace, OpenedFile, OpenState, of_page, places
from conformance.evidence.cited.pages import Page
from conformance.evidence.cited.shown import Proof, Shown, shown, without_model
from conformance.profiles import Source

_MIN_TEXT: Final = 400
"""A shorter page holds no words, most likely because scripts load them, or because it is not text."""


class ProblemKind(StrEnum):
    """What may be wrong.

    `ABSENT`: files that show a claim were opened, and none holds its value; a quote would say what it rests on.
    `MESSAGE`: no page of a claim holds the error message that it quotes, which may have been found in another way.
    `UNREACHABLE`: nothing is known, because nobody answered from here. These two and `UNCHECKED` are only notes.
    """

    GONE = "gone"
    MOVED = "moved"
    QUOTE = "quote not found"
    ABSENT = "value not found"
    MODEL = "model not found"
    STALE = "not read lately"
    MESSAGE = "message not found"
    UNCHECKED = "not checked"
    UNREACHABLE = "not reachable"

    @property
    def is_finding(self) -> bool:
        """Return True if someone has to correct the source."""
        return self not in (ProblemKind.MESSAGE, ProblemKind.UNCHECKED, ProblemKind.UNREACHABLE)


_SourceProof: TypeAlias = tuple[Source, OpenedFile, Shown]

_KINDS: Final = {
    Proof.ELSEWHERE: ProblemKind.MOVED,
    Proof.NO_QUOTE: ProblemKind.QUOTE,
    Proof.NO_MODEL: ProblemKind.MODEL,
}


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


class OpenedSources(NamedTuple):
    """What was opened: pages by address, and files by place."""

    pages: Mapping[str, Page]
    files: Mapping[FilePlace, OpenedFile]

    def opened(self, source: Source) -> tuple[OpenedFile, ...]:
        """Return the file of a source, in each release that it names."""
        file = source.file
        found = [self._file(source, place) for place in places(file)] if file else []
        return tuple([each for each in found if each is not None])

    def _file(self, source: Source, place: FilePlace) -> OpenedFile | None:
        held = self.files.get(place)
        if held is not None or place.registry != "github":
            return held
        url = source.addresses[0] if source.addresses else ""
        page = self.pages.get(url)
        page = self.pages.get(folder(source), page) if page is not None and page.is_gone else page
        return None if page is None else of_page(place, page)


class ComparedSources(NamedTuple):
    """The problems of all sources, by kind and source, each once; and how often files show what they are cited for."""

    problems: tuple[Problem, ...]
    shown: Mapping[Proof, int]


def find(
    citations: Sequence[Citation],
    found: OpenedSources,
    today: date,
    max_age: timedelta,
    on_citation: Callable[[int, int, str], None] = lambda _done, _all, _where: None,
) -> ComparedSources:
    """Compare what was opened with what cites it.

    `on_citation` is called with how many citations are done, how many there are, and the last one.
    """
    cited: dict[tuple[ProblemKind, str, str], dict[str, None]] = {}
    number: Counter[Proof] = Counter()
    for done, citation in enumerate(citations, 1):
        every = list(proofs(citation, found))
        number.update(proof.proof for _, _, proof in every)
        for kind, source, detail in _of_citation(citation, found, today - max_age, every):
            cited.setdefault((kind, source.text, detail), {})[citation.where] = None
        on_citation(done, len(citations), citation.where)
    order = list(ProblemKind)
    keys = sorted(cited, key=lambda key: (order.index(key[0]), *key[1:]))
    return ComparedSources(
        tuple([Problem(*key, tuple(cited[key])) for key in keys]), {each: number[each] for each in Proof}
    )


def proofs(citation: Citation, found: OpenedSources) -> Iterator[_SourceProof]:
    """Yield what each opened file of a citation shows; recordings in the index are compared by `evidence check`.

    What stands in a file counts only if this or another file of the citation names its model.
    """
    files = [
        (source, opened)
        for source in citation.sources
        if not is_recording(source)
        for opened in found.opened(source)
        if opened.state is OpenState.OPENED
    ]
    nameless = without_model(citation, files)
    for source, opened in files:
        proof = shown(citation, source, opened)
        yield source, opened, Shown(Proof.NO_MODEL, proof.line, nameless) if proof.is_found and nameless else proof


def is_recording(source: Source) -> bool:
    """Return True for a file of a repository that is in the index of recordings, and a folder or pattern of them."""
    file = source.file
    if file is None or file.registry != "github":
        return False
    held = index.commits().get((file.name, file.path))
    if held is None:
        held = index.below(file.name, file.path)
    return any(commit.startswith(file.versions[0]) for commit in held)


def folder(source: Source) -> str:
    """Return the page of a folder in a repository, which has no raw file; empty for other sources."""
    return source.link.partition("#")[0].replace("/blob/", "/tree/", 1) if source.repo else ""


def _of_citation(
    citation: Citation, found: OpenedSources, oldest: date, every: Sequence[_SourceProof]
) -> Iterator[tuple[ProblemKind, Source, str]]:
    for source in citation.sources:
        days = (source.read or source.searched or "9999").split("-")
        if date(*map(int, [*days, "1", "1"][:3])) < oldest:
            yield ProblemKind.STALE, source, f"last read {source.read or source.searched}"
        for opened in found.opened(source):
            if opened.state is not OpenState.OPENED:
                is_gone = opened.state is OpenState.GONE
                yield ProblemKind.GONE if is_gone else ProblemKind.UNREACHABLE, source, opened.detail
    yield from _of_files(citation, every)
    yield from _of_pages(citation, found.pages)


def _of_files(citation: Citation, every: Sequence[_SourceProof]) -> Iterator[tuple[ProblemKind, Source, str]]:
    for source, _, proof in every:
        if proof.proof in _KINDS:
            yield _KINDS[proof.proof], source, proof.detail
    is_shown = any(proof.is_found or proof.proof in _KINDS for _, _, proof in every)
    # What was measured, recorded or quoted from a page is checked in another way.
    otherwise = any(
        source.engine or source.exchange or is_recording(source) or (source.url and source.quote)
        for source in citation.sources
    )
    for source, _, proof in every if citation.is_in_force else ():
        # A file of a package is cited for what it shows, so that each one has to; others may explain.
        if proof.proof is Proof.NOTHING and (source.package or not (is_shown or otherwise)):
            yield ProblemKind.ABSENT, source, proof.detail


def _of_pages(citation: Citation, pages: Mapping[str, Page]) -> Iterator[tuple[ProblemKind, Source, str]]:
    read: list[tuple[Source, Page]] = []
    for source in citation.sources:
        for url in source.addresses if source.url else ():
            page = pages.get(url, Page(url, failure="not fetched"))
            if page.failure or page.is_gone:
                kind = ProblemKind.GONE if page.is_gone else ProblemKind.UNREACHABLE
                yield kind, source, page.failure or f"HTTP {page.status} at {page.url}"
                continue
            if _place(page.url) != _place(page.address):
                yield ProblemKind.MOVED, source, f"now at {page.address}"
            read.append((source, page))
            if source.quote and not page.holds(source.quote):
                if len(page.text) < _MIN_TEXT:
                    yield ProblemKind.UNCHECKED, source, "the quote: the page holds too little text"
                else:
                    yield ProblemKind.QUOTE, source, source.quote
    long = [(source, page) for source, page in read if len(page.text) >= _MIN_TEXT]
    for message in citation.messages if long else ():
        if not any(page.holds(message) for _, page in long):
            yield ProblemKind.MESSAGE, long[0][0], f"no page of the claim holds {message!r}"


def _place(url: str) -> tuple[str, str]:
    """Return what tells one place from another; https, a last slash, `www.` and case do not count.

    Nor does it whether GitHub shows a file or a folder at a path.
    """
    split = urlsplit(url)
    path = split.path.rstrip("/").lower()
    return (split.hostname or "").removeprefix("www."), path.replace("/tree/", "/blob/", 1)
