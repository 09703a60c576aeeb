"""Fetches the files of the index into a cache outside the repository, and compares them with the index.

Files come from their repositories by commit: over HTTPS, or from bare git mirrors. A file in the cache is never fetched
again, because a commit does not change; so an interrupted run resumes.
"""

import hashlib
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from urllib.parse import quote

from conformance import artifacts, processes
from conformance.artifacts import cache_root
from conformance.errors import ConformanceError, InvalidDocument, Unusable
from conformance.evidence import reading
from conformance.evidence.index import IndexedRecording, PublicFile, by_place
from conformance.evidence.reading import Numbered
from conformance.observations.sights import digest
from conformance.urls import redirected

if TYPE_CHECKING:
    import httpx

KIND: Final = "recordings"
"""The kind of cache that holds the files."""

RAW: Final = "https://raw.githubusercontent.com"
"""Where GitHub serves single files: `/<owner>/<name>/<commit>/<path>`."""

_SECONDS: Final = 30.0
_ATTEMPTS: Final = 3
_MAX_PAUSE: Final = 20.0
_MAX_REDIRECTS: Final = 5
_MAX_BYTES: Final = 1 << 26


class State(StrEnum):
    """What became of a file, or of a recording in it.

    `verified`: its digest is that of the index. `differs`: it has another digest. `unverified`: the index has no
    digest, because no format reader can read the recording. `gone`: the repository has no such file at that commit.
    `not mirrored here`: no mirror of the repository, or of that commit, which says nothing of the file. `failed`: it
    could not be fetched or read this time. `missing`: it is not in the cache.
    """

    VERIFIED = "verified"
    DIFFERS = "differs"
    UNVERIFIED = "unverified"
    GONE = "gone"
    NOT_MIRRORED = "not mirrored here"
    FAILED = "failed"
    MISSING = "missing"


class Absent(ConformanceError):
    """A repository does not have a file."""


class NotMirrored(ConformanceError):
    """A folder of mirrors lacks a repository, a commit or a file of it, which may exist elsewhere."""


class FileOrigin(Protocol):
    """Where files are fetched from."""

    def get(self, place: PublicFile) -> bytes:
        """Return the content of a file.

        Raises Absent if there is none, NotMirrored if mirrors do not say, and Unusable if it cannot be fetched.
        """
        ...


class Checked(NamedTuple):
    """A recording of the index, what became of it, and why; `exchange` is known only if it is verified."""

    recording: IndexedRecording
    state: State
    reason: str = ""
    exchange: Numbered | None = None


class Mirrors:
    """Bare git mirrors in a folder: `owner/name`, `owner+name`, each also with `.git`, or one level below these."""

    def __init__(self, folder: Path) -> None:
        """Take a folder; raises Unusable if it does not exist."""
        if not folder.is_dir():
            raise Unusable(f"{folder} is not a folder")
        self._folder = folder

    def get(self, place: PublicFile) -> bytes:
        """Return the content of a file, or the list of a folder."""
        found = self._repository(place.repository)
        if found is None:
            raise NotMirrored(f"no mirror of {place.repository} in {self._folder}")
        if self._git(found, "cat-file", "-e", f"{place.commit}^{{commit}}")[0]:
            raise NotMirrored(f"the mirror of {place.repository} has no commit {place.commit}")
        # `git show` takes a path with brackets or stars that does not exist for a pattern, and shows nothing.
        code, content, said = self._git(found, "cat-file", "-p", f"{place.commit}:{place.path}")
        if not code:
            return content
        code, listed, _ = self._git(found, "ls-tree", place.commit, "--", place.path)
        if code or listed:
            raise NotMirrored(f"the mirror of {place.repository} lacks the content of {place.path}: {said}")
        raise Absent(f"{place.repository} has no {place.path} at {place.commit}")

    def _git(self, repository: Path, *arguments: str) -> tuple[int, bytes, str]:
        """Return what git says of a mirror: its exit code, output and last line of errors."""
        # A partial mirror would fetch what it lacks, and nothing here may use the network unasked.
        alone = {"GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
        command = [_git(), f"--git-dir={repository}", *arguments]
        code, content, errors = processes.output(command, _SECONDS, alone, errors=subprocess.PIPE)
        said = errors.decode("utf-8", "replace").strip().splitlines()
        return code, content, said[-1] if said else ""

    def _repository(self, repository: str) -> Path | None:
        owner, _, name = repository.partition("/")
        bases = [self._folder / f"{owner}+{name}", self._folder / owner / name]
        named = [each for base in bases for each in (base, base.with_name(f"{base.name}.git"))]
        below = [each for base in bases if base.is_dir() for each in sorted(base.iterdir())]
        roots = [root for each in (*named, *below) for root in (each, each / ".git")]
        return next((root for root in roots if (root / "HEAD").is_file() and (root / "objects").is_dir()), None)


class Raw:
    """Single files over HTTPS."""

    def __init__(self, client: "httpx.Client", base: str = RAW) -> None:
        """Take a client, and the address that serves the files."""
        self._client = client
        self._base = base.rstrip("/")

    def get(self, place: PublicFile) -> bytes:
        """Return the content of a file; a busy server is asked again after a pause."""
        url = f"{self._base}/{place.repository}/{place.commit}/{quote(place.path)}"
        for attempt in range(_ATTEMPTS):
            found = self._ask(url)
            if isinstance(found, bytes):
                return found
            if attempt + 1 < _ATTEMPTS:
                time.sleep(min(2.0**attempt if found is None else found, _MAX_PAUSE))
        raise Unusable(f"{url}: the server is busy or failing; try again later")

    def _ask(self, url: str) -> bytes | float | None:
        """Return the content of a file, or how many seconds a busy server asks to wait; None if it does not say."""
        import httpx

        address = url
        for _ in range(_MAX_REDIRECTS + 1):
            try:
                with self._client.stream("GET", address, follow_redirects=False, timeout=_SECONDS) as reply:
                    if reply.status_code == 200:
                        return _bounded(reply)
                if not reply.has_redirect_location:
                    return _seconds_to_wait(reply, url)
                address = redirected(address, reply.headers["location"])
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                raise Unusable(f"{url}: {error or type(error).__name__}") from None
        raise Unusable(f"{url}: redirects more than {_MAX_REDIRECTS} times")


def _seconds_to_wait(reply: "httpx.Response", url: str) -> float | None:
    """Return how many seconds a busy server asks to wait, None if it does not say; raises for any other answer."""
    if reply.status_code in (404, 410):
        raise Absent(f"{url}: HTTP {reply.status_code}")
    # Any other status is not going to change by waiting.
    if reply.status_code not in (429, 500, 502, 503, 504):
        raise Unusable(f"{url}: HTTP {reply.status_code}")
    try:
        return max(0.0, float(reply.headers.get("retry-after", "")))
    except ValueError:
        return None


def _bounded(reply: "httpx.Response") -> bytes:
    content = bytearray()
    for part in reply.iter_bytes():
        content += part
        if len(content) > _MAX_BYTES:
            raise Unusable(f"{reply.url}: more than {_MAX_BYTES} bytes")
    return bytes(content)


class Cache:
    """The fetched files, one folder per repository and commit."""

    def __init__(self, folder: Path | None = None) -> None:
        """Take a folder, by default `recordings` in the cache that CONFORMANCE_CACHE names."""
        self.folder = folder or cache_root(KIND)

    def path(self, place: PublicFile) -> Path:
        """Return where a file is cached; its name is a digest, because paths of repositories may be long or odd."""
        # 96 bits: enough for the files of one commit, and short enough for every file system.
        name = hashlib.sha256(place.path.encode()).hexdigest()[:24]
        suffix = "".join(Path(place.path).suffixes[-2:])[-24:]
        return self.folder / place.repository.replace("/", "+") / place.commit / f"{name}{suffix}"

    def read(self, place: PublicFile) -> bytes | None:
        """Return the content of a file; None if it is not cached."""
        try:
            return self.path(place).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, place: PublicFile, content: bytes) -> None:
        """Keep the content of a file, whole or not at all."""
        artifacts.write(self.path(place), content)


def fetch(
    recordings: Iterable[IndexedRecording],
    origin: FileOrigin,
    cache: Cache,
    jobs: int,
    on_file: Callable[[int, int], None],
) -> Iterator[Checked]:
    """Fetch the files that the cache lacks, and yield each recording with what became of it, in the order of files.

    `on_file` is called after each file with how many are done, and how many there are.
    """
    files = by_place(recordings)
    listed = list(files.values())
    # In the order of the files, so that the output is the same however long each takes.
    contents = processes.results_in_order(lambda held: _content(held, origin, cache), listed, jobs)
    for done, (held, content) in enumerate(zip(listed, contents, strict=True), 1):
        yield from check(held, content)
        on_file(done, len(listed))


def cached(recordings: Iterable[IndexedRecording], cache: Cache) -> Iterator[Checked]:
    """Yield each recording with its exchange from the cache, by file; nothing is fetched."""
    for place, held in by_place(recordings).items():
        content = cache.read(place)
        if content is None:
            yield from (Checked(each, State.MISSING) for each in held)
        else:
            yield from check(held, content)


def check(recordings: Sequence[IndexedRecording], content: bytes | Checked) -> Iterator[Checked]:
    """Yield recordings of one file, compared with its content; `content` may be why there is none."""
    if isinstance(content, Checked):
        yield from (content._replace(recording=each) for each in recordings)
        return
    try:
        found: Mapping[int, Numbered] = {
            each.number: each for each in reading.exchanges(content, str(recordings[0].place))
        }
    except InvalidDocument as error:
        # Not raised: the recordings of all other files are still to be checked.
        found, problem = {}, str(error)
    else:
        problem = "no such interaction in the file"
    for each in recordings:
        exchange = found.get(each.number)
        if not each.digest:
            yield Checked(each, State.UNVERIFIED, problem if exchange is None else "the index has no digest")
        elif exchange is None:
            yield Checked(each, State.DIFFERS, problem)
        elif digest(exchange.exchange) != each.digest:
            got = digest(exchange.exchange)
            yield Checked(each, State.DIFFERS, f"expected the digest {each.digest}, got {got}")
        else:
            yield Checked(each, State.VERIFIED, exchange=exchange)


def _content(recordings: Sequence[IndexedRecording], origin: FileOrigin, cache: Cache) -> bytes | Checked:
    """Return a file from the cache or its origin, or else why it cannot be had, as a pattern for its recordings.

    A cached file that differs from the index is fetched again, because the cache may be damaged.
    """
    place = recordings[0].place
    content = cache.read(place)
    if content is not None and all(each.state is not State.DIFFERS for each in check(recordings, content)):
        return content
    unknown = IndexedRecording(place, 0, "", "")
    try:
        fetched = origin.get(place)
        cache.write(place, fetched)
    except Absent as error:
        return content or Checked(unknown, State.GONE, str(error))
    except NotMirrored as error:
        return content or Checked(unknown, State.NOT_MIRRORED, str(error))
    except (Unusable, subprocess.TimeoutExpired) as error:
        return content or Checked(unknown, State.FAILED, str(error))
    return fetched


def _git() -> str:
    found = shutil.which("git")
    if found is None:
        raise Unusable("git is not installed; it reads the mirrors")
    return found
