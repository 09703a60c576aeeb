"""Archives of packages: kept in a bounded cache, and read within bounds without unpacking them to disk.

Nothing of an archive is installed, imported or run, and no name in it becomes a path on this machine.
"""

import base64
import gzip
import hashlib
import io
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Final, NamedTuple

from conformance import artifacts
from conformance.artifacts import cache_root
from conformance.evidence.packages.registries import Archive, NotReachable, Registries

KIND: Final = "packages"
"""The kind of cache that holds the archives."""

MAX_ARCHIVE: Final = 96 * 1024 * 1024
"""Bytes of an archive. Wheels with compiled code are larger; the source of such a release is read instead."""

MAX_CACHE: Final = 2 * 1024 * 1024 * 1024
"""Bytes of all archives in the cache; the ones that were used longest ago are removed."""

MAX_UNPACKED: Final = 1024 * 1024 * 1024
"""Bytes that a compressed tar file may unpack to: real ones have a tenth of that."""

MAX_FILE: Final = 16 * 1024 * 1024
"""Bytes of one file that is read."""

MAX_MEMBERS: Final = 60_000
MAX_DIRECTORY: Final = 16 * 1024 * 1024
"""Bytes of the directory of a zip file, which Python reads whole."""

_END: Final = struct.Struct("<4s4H2LH")
_END_MAGIC: Final = b"PK\x05\x06"
_WIDE_MAGIC: Final = b"PK\x06\x07"
_WIDE: Final = 20
_MAX_COMMENT: Final = 1 << 16


class UnreadableArchive(NotReachable):
    """An archive that is damaged, or beyond a bound."""


class Contents(NamedTuple):
    """What an archive holds of what was asked for: texts by path, and every path that it has."""

    texts: Mapping[str, str]
    paths: frozenset[str]


class Archives:
    """Archives of releases, each downloaded once."""

    def __init__(self, registries: Registries, folder: Path | None = None, limit: int = MAX_CACHE) -> None:
        """Take the registries, a folder (by default `packages` in the cache), and its bound in bytes."""
        self._registries, self._folder, self._limit = registries, folder or cache_root(KIND), limit

    def get(self, registry: str, name: str, version: str) -> Path:
        """Return the file of a release's archive; raises NoRelease, NotReachable, and Unusable for a full disk."""
        folder = self._folder / registry / artifacts.file_name(f"{name}@{version}")
        kept = sorted(folder.glob("*")) if folder.is_dir() else []
        if kept:
            os.utime(kept[0])
            return kept[0]
        every = self._registries.archives(registry, name, version)
        small = [each for each in every if each.size <= MAX_ARCHIVE]
        if not small:
            raise NotReachable(f"every archive of {name} {version} has more than {MAX_ARCHIVE:,} bytes")
        return self._downloaded(small[0], folder)

    def newest(self, registry: str, name: str) -> str:
        """Return the newest release of a package."""
        return self._registries.newest(registry, name)

    def _downloaded(self, archive: Archive, folder: Path) -> Path:
        content = self._registries.bytes_of(archive.url, MAX_ARCHIVE)
        if not _matches(content, archive.digest):
            raise NotReachable(f"{archive.file} does not have the digest that the registry gives")
        path = folder / artifacts.file_name(archive.file)
        artifacts.write(path, content)
        self._shrink(path)
        return path

    def _shrink(self, kept: Path) -> None:
        """Remove archives that were used longest ago, until the cache is within its bound."""
        files = [(each.stat(), each) for each in self._folder.glob("*/*/*") if each.is_file()]
        size = sum(stat.st_size for stat, _ in files)
        for stat, path in sorted(files, key=lambda each: each[0].st_mtime):
            if size <= self._limit:
                break
            if path != kept:
                path.unlink(missing_ok=True)
                size -= stat.st_size


def read(path: Path, wanted: Iterable[str] | None = None, prefixes: tuple[str, ...] = ()) -> Contents:
    """Return texts of an archive: of the wanted paths, and of all below some prefixes.

    Paths are as installed: without the folder that source distributions and npm put around everything. Raises
    UnreadableArchive.
    """
    names = None if wanted is None else frozenset(wanted)
    texts: dict[str, str] = {}
    paths: set[str] = set()
    try:
        members = _zipped(path) if path.suffix in (".whl", ".zip") else _tarred(path)
        for name, size, content in members:
            paths.add(name)
            if len(paths) > MAX_MEMBERS:
                raise UnreadableArchive(f"{path.name} has more than {MAX_MEMBERS:,} files")
            if names is None or name in names or (prefixes and name.startswith(prefixes)):
                if size > MAX_FILE:
                    raise UnreadableArchive(f"{name} in {path.name} has more than {MAX_FILE:,} bytes")
                texts[name] = content().decode("utf-8", "replace")
    except (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zlib.error) as error:
        raise UnreadableArchive(f"{path.name} cannot be read: {error or type(error).__name__}") from None
    except (tarfile.TarError, zipfile.BadZipFile, struct.error) as error:
        raise UnreadableArchive(f"{path.name} cannot be read: {error}") from None
    return Contents(texts, frozenset(paths))


class _Member(NamedTuple):
    """A file of an archive; `content` reads it, and `size` is what its header says."""

    name: str
    size: int
    content: Callable[[], bytes]


def _bounded(opened: IO[bytes] | None, name: str) -> bytes:
    """Return the bytes of a file, and no more than the bound allows, whatever its header says."""
    content = opened.read(MAX_FILE + 1) if opened is not None else b""
    if len(content) > MAX_FILE:
        raise UnreadableArchive(f"{name} has more than {MAX_FILE:,} bytes")
    return content


def _unzipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with archive.open(member) as opened:
        return _bounded(opened, member.filename)


def _untarred(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    return _bounded(archive.extractfile(member), member.name)


def _zipped(path: Path) -> Iterator[_Member]:
    with path.open("rb") as file:
        _check_directory(file, path.name)
        with zipfile.ZipFile(file) as archive:
            for each in archive.infolist():
                if not each.is_dir():
                    yield _Member(each.filename, each.file_size, partial(_unzipped, archive, each))


def _check_directory(file: io.BufferedReader, name: str) -> None:
    """Refuse a zip file with a huge directory, before Python reads it whole into memory."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _MAX_COMMENT - _END.size - _WIDE))
    tail = file.read()
    at = len(tail) - _END.size
    if at < 0 or tail[at : at + 4] != _END_MAGIC:
        at = tail.rfind(_END_MAGIC)
    if at < 0 or len(tail) < at + _END.size:
        raise UnreadableArchive(f"{name} is not a zip file")
    fields = _END.unpack_from(tail, at)
    if fields[5] > MAX_DIRECTORY or tail[max(0, at - _WIDE) : at].startswith(_WIDE_MAGIC):
        raise UnreadableArchive(f"{name} has a directory of more than {MAX_DIRECTORY:,} bytes")
    file.seek(0)


class _Bounded(io.RawIOBase):
    """A decompressed stream that refuses to go on beyond its bound, or to be read in one huge piece."""

    def __init__(self, stream: gzip.GzipFile, name: str) -> None:
        super().__init__()
        self._stream, self._name = stream, name

    def read(self, size: int = -1) -> bytes:
        # tarfile reads extended headers in one piece, of whatever size they say.
        if size < 0 or size > 2 * MAX_FILE:
            raise UnreadableArchive(f"{self._name} has a header of {size:,} bytes")
        self._check(self._stream.tell() + size)
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET:
            self._check(offset)
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def _check(self, position: int) -> None:
        if position > MAX_UNPACKED:
            raise UnreadableArchive(f"{self._name} unpacks to more than {MAX_UNPACKED:,} bytes")


def _tarred(path: Path) -> Iterator[_Member]:
    with gzip.open(path) as stream, tarfile.open(fileobj=_Bounded(stream, path.name), mode="r:") as archive:
        for each in archive:
            if not each.isfile():
                continue
            inner = each.name.removeprefix("./").partition("/")[2]
            # Packages of npm are installed with this folder, those of Python without it.
            name = inner if path.suffix == ".tgz" else inner.removeprefix("src/")
            yield _Member(name, each.size, partial(_untarred, archive, each))


def _matches(content: bytes, digest: str) -> bool:
    """Return whether content has a digest: `sha256:<hex>`, or npm's integrity, of which the strongest counts."""
    kind, _, value = digest.partition(":")
    if value:
        return kind in ("sha256", "sha1") and hashlib.new(kind, content, usedforsecurity=False).hexdigest() == value
    if not digest:
        return True
    found = [part for part in digest.split() if part.startswith("sha512-")]
    expected = base64.b64encode(hashlib.sha512(content).digest()).decode()
    return any(part.partition("?")[0] == f"sha512-{expected}" for part in found)
