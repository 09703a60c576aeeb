"""The index of public recordings: which exchange stands in which file of a public repository, and its digest.

It holds facts only, no recording: anyone can fetch the files from their repositories and repeat every count. There is
one file of JSON Lines per repository in `recordings/`, and each line is one file of that repository at one commit.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import orjson

from conformance import artifacts, linear
from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.evidence import columns
from conformance.resources import unpacked

FOLDER: Final = Path(__file__).parent / "recordings"
"""The folder of the shipped index."""

REDACTED: Final = "ids and times are redacted"
"""The `fixture` of a recording in which nothing else was changed."""

UNFRAMED: Final = "only the chunks of the stream were recorded"
"""The `fixture` of a recording that says nothing of what surrounds the chunks; readers assume it."""

FRAMING: Final = ("stream.done", "stream.after-done", "stream.line-ends", "stream.comments", "stream.event-names")
"""The claims about what surrounds the chunks of a stream."""

REPOSITORY: Final = re.compile(r"([\w-][\w.-]*/[\w-][\w.-]*)@([0-9a-f]{40})")
"""A public repository and a commit. Nothing else may reach git and servers, because anyone can contribute entries."""

_IDS: Final = (
    "ids.",
    "reply.id-",
    "stream.chunk-id",
    "reasoning.details.unknown-id",
    "signature.",
    "messages.server-call-unanswered",
)
_PARTIAL: Final[Mapping[str, tuple[str, ...]]] = {REDACTED: _IDS, UNFRAMED: FRAMING}
"""The claims, or the beginnings of their names, that a partial fixture says nothing about."""

_SHORT: Final = 12
"""How many digits of a commit identify it in text."""
_OPTIONAL: Final = ("model", "date", "status", "fixture")


class PublicFile(NamedTuple):
    """A file of a public repository at a commit."""

    repository: str
    commit: str
    path: str

    def __str__(self) -> str:
        """Return `owner/name@commit:path`, with the commit's first digits."""
        return f"{self.repository}@{self.commit[:_SHORT]}:{self.path}"

    @property
    def link(self) -> str:
        """Return the address where a browser shows the file."""
        return f"https://github.com/{self.repository}/blob/{self.commit}/{quote(self.path)}"


class IndexedRecording(NamedTuple):
    """One recorded exchange of the index.

    `number`: its 0-based number among the interactions of the file. `digest`: that of the normalised exchange; empty
    if no format reader can read it, so that nobody can verify it. `provider`: the profile's name if it has one, else
    what the recording names; a wire other than chat completions follows a dot, as in `openai.responses`. `date`: ISO
    8601, that of the reply, else of the commit; empty if unknown. `status`: the HTTP status; None if it was not
    recorded. `fixture`: why the exchange is not what the provider sent, such as
    `written by hand`; empty for a recording as it came over the wire.
    """

    place: PublicFile
    number: int
    digest: str
    provider: str
    model: str = ""
    date: str = ""
    status: int | None = None
    fixture: str = ""
    licence: str = ""

    @property
    def link(self) -> str:
        """Return the address where a browser shows the file of the exchange."""
        return self.place.link

    @property
    def service(self) -> str:
        """Return the provider, whichever of its wires the exchange is on."""
        return self.provider.partition(".")[0]

    def is_altered(self, claim: str) -> bool:
        """Return whether the exchange, as it is stored, says nothing about a claim."""
        return claim.startswith(_PARTIAL[self.fixture]) if self.is_partial else bool(self.fixture)

    @property
    def is_partial(self) -> bool:
        """Return whether the fixture is what the provider sent, but for what its reason names."""
        return self.fixture in _PARTIAL


@cache
def load(folder: Path = FOLDER) -> tuple[IndexedRecording, ...]:
    """Return every recording of the index, by repository, path, commit and number.

    Raises InvalidDocument with file and line for a line that is not as written here.
    """
    return tuple([each for path in _files(unpacked(folder)) for each in _read(path)])


def by_place(recordings: Iterable[IndexedRecording]) -> Mapping[PublicFile, tuple[IndexedRecording, ...]]:
    """Return recordings by their file, in the order of their numbers."""
    found: dict[PublicFile, list[IndexedRecording]] = {}
    for each in recordings:
        found.setdefault(each.place, []).append(each)
    return {place: tuple(sorted(held, key=lambda each: each.number)) for place, held in found.items()}


@cache
def by_digest() -> Mapping[str, IndexedRecording]:
    """Return the first recording with each digest."""
    found: dict[str, IndexedRecording] = {}
    for each in load():
        found.setdefault(each.digest, each)
    return found


def digests(exchanges: Sequence[str | int]) -> Sequence[str]:
    """Return the digests of a calibration's exchanges, of which a wheel has the positions in the index instead."""
    return [load()[each].digest if isinstance(each, int) else each for each in exchanges]


@cache
def commits() -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the commits at which the index has a file, by repository and path."""
    found: dict[tuple[str, str], set[str]] = {}
    for each in load():
        found.setdefault((each.place.repository, each.place.path), set()).add(each.place.commit)
    return {key: frozenset(held) for key, held in found.items()}


@cache
def below(repository: str, path: str) -> frozenset[str]:
    """Return the commits at which the index has files of a folder, or of a pattern with stars."""
    folder = f"{path.rstrip('/')}/"
    return frozenset(
        commit
        for (name, held), at in commits().items()
        if name == repository and (held.startswith(folder) or ("*" in path and fits(held, path)))
        for commit in at
    )


def add(recordings: Iterable[IndexedRecording], folder: Path = FOLDER) -> None:
    """Enter recordings in the index; what it holds about the same files is replaced."""
    given = list(recordings)
    replaced = {each.place for each in given}
    kept = [each for each in load(folder) if each.place not in replaced]
    repositories = {place.repository for place in replaced}
    changed = [each for each in (*kept, *given) if each.place.repository in repositories]
    changed.sort(key=_order)
    for repository, held in groupby(changed, key=lambda each: each.place.repository):
        lines = [orjson.dumps(line) for line in _lines(held)]
        artifacts.write(folder / f"{repository.replace('/', '+')}.jsonl", b"\n".join(lines) + b"\n")
    load.cache_clear()
    by_digest.cache_clear()
    commits.cache_clear()
    below.cache_clear()


def fits(path: str, pattern: str) -> bool:
    """Return whether a path fits a pattern in which only a star is special: names of recordings have brackets."""
    return linear.fits("[^/]*".join([re.escape(part) for part in pattern.split("*")]), path)


def _order(recording: IndexedRecording) -> tuple[str, str, str, int]:
    place = recording.place
    return place.repository, place.path, place.commit, recording.number


def _lines(recordings: Iterable[IndexedRecording]) -> Iterator[dict[str, Any]]:
    for place, held in groupby(recordings, key=lambda each: each.place):
        exchanges = list(held)
        yield {
            **place._asdict(),
            "licence": exchanges[0].licence,
            "exchanges": [_entry(each) for each in exchanges],
        }


def _entry(recording: IndexedRecording) -> dict[str, Any]:
    kept = {key: value for key in _OPTIONAL if (value := getattr(recording, key)) not in ("", None)}
    return {"number": recording.number, "digest": recording.digest, "provider": recording.provider, **kept}


def _files(folder: Path) -> list[Path]:
    # A wheel has one file of columns instead of those of the repositories.
    whole = folder / columns.NAME
    return [whole] if whole.is_file() else sorted(folder.glob("*.jsonl"))


def _read(path: Path) -> Iterator[IndexedRecording]:
    data = path.read_bytes()
    packed = path.name == columns.NAME
    lines = columns.unpacked(data) if packed else (parse_json(line, str(path)) for line in data.splitlines())
    for number, value in enumerate(lines, 1):
        yield from _recordings(value, str(path), number)


def _recordings(value: Any, path: str, number: int) -> list[IndexedRecording]:
    try:
        place = PublicFile(value["repository"], value["commit"], value["path"])
        if not REPOSITORY.fullmatch(f"{place.repository}@{place.commit}"):
            message = f"expected owner/name and the 40 digits of a commit, got {place.repository!r}, {place.commit!r}"
            raise InvalidDocument(message, path, number)
        return [IndexedRecording(place, licence=value["licence"], **entry) for entry in value["exchanges"]]
    except (KeyError, TypeError) as error:
        message = f"expected the recordings of one file, got a line with a wrong or missing key: {error}"
        raise InvalidDocument(message, path, number) from None
