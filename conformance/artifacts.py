"""Everything that the package writes for users: a file is replaced whole or not at all, and runs lock their folders.

A file is first written beside its place under a temporary name, and then renamed. A full disk, a signal or a crash
leaves the former file as it was.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

from conformance.errors import InvalidDocument, Unusable

LOCK: Final = ".conformance.lock"
"""The name of the lock file of a folder; it is there only while a process holds the lock."""

CACHE: Final = "CONFORMANCE_CACHE"
"""The environment variable that names the cache folder."""

_TEMPORARY: Final = ".conformance-tmp"
_SEPARATOR: Final = re.compile(r"[/:]")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._@+=,-]+")
_MAX_NAME: Final = 100
_RESERVED: Final = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
"""Names of devices on Windows."""

_SHARED: Final = 0o666
_PRIVATE: Final = 0o600
_PROBE: Final = bytes(64 * 1024)
_HAS_DESCRIPTORS: Final = {os.open, os.unlink, os.rename} <= os.supports_dir_fd
"""Whether files can be opened and renamed by a descriptor of their folder, which Windows cannot do."""


def cache_root(kind: str) -> Path:
    """Return the folder in the user's cache for what is made again if it is lost, of a kind such as `engines`.

    It is `$CONFORMANCE_CACHE/<kind>`, else `wire-conformance/<kind>` in the user's cache (XDG_CACHE_HOME, ~/.cache).
    """
    chosen = os.environ.get(CACHE)
    if chosen:
        return Path(chosen).absolute() / kind
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wire-conformance" / kind


def write(path: Path, data: str | bytes | Iterable[bytes], *, private: bool = False, root: Path | None = None) -> None:
    """Write a file, and create its folders; a reader sees its former content or all of the new one.

    `private`: only the owner of the file can read it. `root`: a folder that the file is in, for what peers send: no
    link below it is followed, nor is the folder one. Raises Unusable if the file cannot be written; it is then as it
    was before.
    """
    data = data.encode() if isinstance(data, str) else data
    content = [data] if isinstance(data, bytes) else data
    mode = _PRIVATE if private else _SHARED
    # A link stays a link: what it leads to is replaced.
    target = path.resolve() if root is None else path
    if root is not None:
        refuse_links(root, path)
    _make(target.parent)
    try:
        if root is None or not _HAS_DESCRIPTORS:
            _replace(target, content, mode)
        else:
            with _opened(root, target.parent) as folder:
                _replace(Path(target.name), content, mode, folder)
    except OSError as error:
        raise Unusable(f"cannot write {path}: {error.strerror or error}; it is unchanged") from None


def refuse_links(root: Path, path: Path) -> None:
    """Raise Unusable if a folder, or what leads from it to a path below it, is a link, or if the path is a device."""
    between = [each for each in path.parents if root in each.parents]
    for each in (root, *reversed(between), path):
        try:
            mode = each.lstat().st_mode
        except OSError:  # What does not exist is made, and what cannot be read cannot be written.
            return
        if stat.S_ISLNK(mode):
            raise Unusable(f"{each} is a link, and recordings follow none; remove it, or name what it leads to")
        if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
            raise Unusable(f"{each} is neither a file nor a folder; remove it, or choose another folder")


@contextmanager
def _opened(root: Path, folder: Path) -> Iterator[int]:
    """Yield a descriptor of a folder; unlike a path, it cannot lead elsewhere once somebody puts a link on the way."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    current = os.open(root, flags)
    try:
        for name in folder.relative_to(root).parts:
            outer, current = current, os.open(name, flags, dir_fd=current)
            os.close(outer)
        yield current
    finally:
        os.close(current)


def _replace(target: Path, content: Iterable[bytes], mode: int, folder: int | None = None) -> None:
    """Replace a file; `folder` is a descriptor of the folder that its name is in, None for a path."""
    temporary = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}{_TEMPORARY}")
    try:
        _create(temporary, content, mode, folder)
        os.replace(temporary, target, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def file_name(text: str) -> str:
    """Return a text from the wire as the name of a file or a folder: of a safe alphabet, and at most 100 characters.

    What follows a slash or a colon in it follows two hyphens in the name. A text that is changed further gets a digest,
    so that different texts have different names.
    """
    from hashlib import blake2b  # Imported here because every start of the command would pay for it.

    plain = _SEPARATOR.sub("--", text)
    name = _UNSAFE.sub("-", plain)[:_MAX_NAME].rstrip(".")
    name = f"_{name[1:]}" if name.startswith((".", "-")) or not name else name
    if name == plain and not _RESERVED.fullmatch(name):
        return name
    return f"{name}-{blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


class Journal:
    """A file of what a command has done of a long list, so that it can go on after an interruption."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        """Read what is done, if the command resumes; raises InvalidDocument if that is not possible."""
        self._path = path
        try:
            value: Any = json.loads(path.read_bytes()) if resume and path.exists() else []
        except ValueError:
            value = None
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InvalidDocument("expected a list of names; remove the file, or omit --resume", str(path))
        self.done = set(value)

    def add(self, name: str) -> None:
        """Note that something is done."""
        self.done.add(name)
        write(self._path, json.dumps(sorted(self.done)))

    def clear(self) -> None:
        """Remove the file: nothing is left to do."""
        self._path.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of writers that were killed; only for a folder whose lock is held."""
    for path in folder.glob(f".*{_TEMPORARY}"):
        path.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path, seconds: float = 0.0, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock of a folder, which is created if necessary; the lock ends with the process, however it ends.

    `seconds`: how long to wait for another process that holds it; `on_wait` is called first if that is necessary.
    Raises Unusable if the lock is still held then.
    """
    with locked_file(folder / LOCK, seconds, on_wait, folder=folder):
        remove_leftovers(folder)
        yield


@contextmanager
def locked_file(
    path: Path, seconds: float = 0.0, on_wait: Callable[[], None] = lambda: None, *, folder: Path | None = None
) -> Iterator[None]:
    """Hold a lock whose file is given; see `locked`.

    `folder` is what it locks, for the error; the file is removed then, so that the folder stays clean.
    """
    # Imported here because only commands that write need it.
    from filelock import FileLock, Timeout

    _make(path.parent)
    lock = FileLock(path)
    try:
        with suppress(Timeout):
            lock.acquire(blocking=False)
        if not lock.is_locked:
            on_wait()
            lock.acquire(timeout=seconds)
    except Timeout:
        raise Unusable(_held(folder or path.parent, seconds)) from None
    except OSError as error:
        raise Unusable(f"cannot lock {path.parent}: {error.strerror or error}") from None
    try:
        yield
    finally:
        if folder is not None:
            # While the lock is held: a process that opened the file before looks whether it is still there.
            with suppress(OSError):
                path.unlink()
        lock.release()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unusable(f"cannot create the folder {folder}: {error.strerror or error}") from None


def check_writable(folder: Path) -> None:
    """Create a folder; raises Unusable if files cannot be written to it, before the work that they come from."""
    _make(folder)
    try:
        with TemporaryFile(dir=folder, buffering=0) as file:
            # A full disk often still takes an empty file.
            file.write(_PROBE)
            os.fsync(file.fileno())
    except OSError as error:
        raise Unusable(f"cannot write to the folder {folder}: {error.strerror or error}") from None


def check_replaceable(path: Path) -> None:
    """Raise Unusable if there is something at a path that no file can replace, such as a folder."""
    if path.exists() and not path.is_file():
        raise Unusable(f"cannot write {path}: it exists and is not a file; remove it, or choose another folder")


def _held(folder: Path, seconds: float) -> str:
    still = f" (and has for {seconds:g} seconds)" if seconds else ""
    return f"another process writes to {folder}{still}; wait until it has finished, or choose another folder"


def _create(path: Path, content: Iterable[bytes], mode: int, folder: int | None) -> None:
    # The kernel applies the umask; a private file is private from its first byte on.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.writelines(content)
        file.flush()
        os.fsync(descriptor)
