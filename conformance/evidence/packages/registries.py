"""Releases and their archives: asked of the registries that pip and npm use."""

import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

import httpx
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from conformance.documents import parse_json
from conformance.errors import ConformanceError, InvalidDocument
from conformance.evidence.packages import settings
from conformance.urls import redirected

MAX_INDEX: Final = 64 * 1024 * 1024
"""Bytes of a registry's entry of a package: those with thousands of releases have 20 MB."""

_SECONDS: Final = 60.0
_MAX_REDIRECTS: Final = 5
_SIMPLE: Final = "application/vnd.pypi.simple.v1+json, text/html;q=0.2"
_GONE: Final = (404, 410)
_DIGEST: Final = re.compile(r"(sha(?:256|512))=([0-9a-f]+)")


class NotReachable(ConformanceError):
    """A registry does not answer from here, which says nothing of the package."""


class NoRelease(ConformanceError):
    """A registry has no such package or release."""


class Archive(NamedTuple):
    """An archive of a release: `digest` is `sha256:<hex>` or npm's `sha512-<base64>`, empty if the registry has none.

    `size` is 0 and `published` (ISO 8601) empty if the registry does not say.
    """

    registry: str
    name: str
    version: str
    url: str
    digest: str = ""
    size: int = 0
    is_pure: bool = False
    published: str = ""
    is_yanked: bool = False

    @property
    def file(self) -> str:
        """Return the name of its file."""
        return unquote(urlsplit(self.url).path.rpartition("/")[2])


class Release(NamedTuple):
    """A release of a package: its version, and the day it was published (ISO 8601; empty if the registry has none)."""

    version: str
    date: str = ""


class Registries:
    """Asks each registry once for each package; `pypi` and `npm` replace what is configured here."""

    def __init__(self, client: httpx.Client, pypi: str = "", npm: Callable[[str], str] = settings.npm) -> None:
        """Take an HTTP client."""
        self._client, self._pypi, self._npm = client, pypi, npm
        self._entries: dict[tuple[str, str], tuple[Archive, ...] | ConformanceError] = {}

    def archives(self, registry: str, name: str, version: str) -> tuple[Archive, ...]:
        """Return the archives of a release, the best first: one for all platforms, then the source, then the smallest.

        Raises NoRelease and NotReachable.
        """
        found = [each for each in self._all(registry, name) if _same(registry, each.version, version)]
        if not found:
            raise NoRelease(f"{registry} has no release {version} of {name}")
        return tuple(sorted(found, key=_preference))

    def newest(self, registry: str, name: str) -> str:
        """Return the newest release that is not a pre-release, as its registry names it."""
        every = {each.version: _version(each.version) for each in self._all(registry, name)}
        known = {name: version for name, version in every.items() if version is not None}
        if not known:
            raise NoRelease(f"{registry} has no release of {name}")
        final = {name: version for name, version in known.items() if not version.is_prerelease} or known
        return max(final, key=lambda each: final[each])

    def releases(self, registry: str, name: str) -> tuple[Release, ...]:
        """Return the releases of a package by version, the oldest first, without pre-releases and withdrawn ones.

        Raises NoRelease and NotReachable.
        """
        days: dict[str, list[str]] = {}
        for each in self._all(registry, name):
            if not each.is_yanked:
                days.setdefault(each.version, []).extend([each.published] if each.published else [])
        known = {text: version for text in days if (version := _version(text)) is not None}
        final = [text for text, version in known.items() if not version.is_prerelease]
        ordered = sorted(final, key=lambda text: known[text])
        return tuple([Release(text, min(days[text], default="")[:10]) for text in ordered])

    def bytes_of(self, url: str, limit: int, headers: Mapping[str, str] | None = None) -> bytes:
        """Return what an address holds; raises NoRelease, and NotReachable if it is larger than `limit`."""
        return b"".join(self.blocks_of(url, limit, headers)[1])

    def blocks_of(self, url: str, limit: int, headers: Mapping[str, str] | None = None) -> tuple[str, list[bytes]]:
        """Return the media type of an address, and its content in blocks."""
        shown, address = plain(url), url
        try:
            for _ in range(_MAX_REDIRECTS + 1):
                with self._client.stream(
                    "GET", address, headers=headers, follow_redirects=False, timeout=_SECONDS
                ) as reply:
                    if reply.has_redirect_location:
                        address = redirected(address, reply.headers["location"])
                        continue
                    if reply.status_code in _GONE:
                        raise NoRelease(f"HTTP {reply.status_code} at {shown}")
                    if not reply.is_success:
                        raise NotReachable(f"HTTP {reply.status_code} at {shown}")
                    return reply.headers.get("content-type", ""), _blocks(reply, limit, shown)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise NotReachable(f"{shown}: {error or type(error).__name__}") from None
        raise NotReachable(f"{shown} redirects more than {_MAX_REDIRECTS} times")

    def _all(self, registry: str, name: str) -> tuple[Archive, ...]:
        key = registry, name
        if key not in self._entries:
            try:
                self._entries[key] = tuple(self._asked_npm(name) if registry == "npm" else self._asked_pypi(name))
            except (NoRelease, NotReachable) as error:
                self._entries[key] = error
        found = self._entries[key]
        if isinstance(found, ConformanceError):
            raise found
        return found

    def _asked_pypi(self, name: str) -> list[Archive]:
        index = self._pypi or settings.pypi()
        url = f"{index}/{canonicalize_name(name)}/"
        kind, blocks = self.blocks_of(url, MAX_INDEX, {"accept": _SIMPLE})
        content = b"".join(blocks)
        files = _of_json(content, url) if "json" in kind else _of_html(content)
        return [archive for each in files if (archive := _python_archive(name, url, each)) is not None]

    def _asked_npm(self, name: str) -> list[Archive]:
        registry = self._npm(name.partition("/")[0] if name.startswith("@") else "")
        url = f"{registry}/{quote(name, safe='@')}"
        entry = _object(self.bytes_of(url, MAX_INDEX, {"accept": "application/json"}), url)
        times = entry.get("time")
        found = []
        for version, each in (entry.get("versions") or {}).items():
            dist = each.get("dist") if isinstance(each, dict) else None
            if isinstance(dist, dict) and isinstance(dist.get("tarball"), str):
                digest = dist.get("integrity") or (f"sha1:{dist['shasum']}" if dist.get("shasum") else "")
                day = str(times.get(version) or "") if isinstance(times, dict) else ""
                found.append(Archive("npm", name, version, dist["tarball"], str(digest), is_pure=True, published=day))
        return found


def plain(url: str) -> str:
    """Return an address without the user and password that a configured registry may have in it."""
    try:
        split = urlsplit(url)
        return split._replace(netloc=split.netloc.rpartition("@")[2]).geturl()
    except ValueError:
        return "(not an address)"


def _blocks(reply: httpx.Response, limit: int, shown: str) -> list[bytes]:
    held, size = [], 0
    for block in reply.iter_bytes():
        held.append(block)
        size += len(block)
        if size > limit:
            raise NotReachable(f"{shown} has more than {limit:,} bytes")
    return held


def _object(content: bytes, url: str) -> dict[str, Any]:
    try:
        value: Any = parse_json(content, plain(url))
    except InvalidDocument as error:
        raise NotReachable(str(error)) from None
    if not isinstance(value, dict):
        raise NotReachable(f"{plain(url)} is not the entry of a package")
    return value


def _of_json(content: bytes, url: str) -> list[dict[str, Any]]:
    files = _object(content, url).get("files")
    return [each for each in files if isinstance(each, dict)] if isinstance(files, list) else []


def _of_html(content: bytes) -> list[dict[str, Any]]:
    parser = _Links()
    parser.feed(content.decode("utf-8", "replace"))
    return [
        {"filename": text.strip(), "url": link, "hashes": dict(_DIGEST.findall(urlsplit(link).fragment))}
        for link, text in parser.links
    ]


class _Links(HTMLParser):
    """Collects the links of a page with their texts."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._open = dict(attrs).get("href") or ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.links.append((self._open, data))
            self._open = ""


def _python_archive(name: str, index: str, entry: Mapping[str, Any]) -> Archive | None:
    """Return an archive of an index; None for what is neither a wheel nor a source distribution of that package."""
    file, link = entry.get("filename"), entry.get("url")
    if not isinstance(file, str) or not isinstance(link, str):
        return None
    try:
        if file.endswith(".whl"):
            named, version, _, tags = parse_wheel_filename(file)
            is_pure = any(tag.platform == "any" for tag in tags)
        else:
            (named, version), is_pure = parse_sdist_filename(file), False
        url = urljoin(index, link).partition("#")[0]
        scheme = urlsplit(url).scheme
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion, ValueError):
        return None
    if named != canonicalize_name(name) or scheme not in ("http", "https"):
        return None
    hashes, size = entry.get("hashes"), entry.get("size")
    digest = f"sha256:{hashes['sha256']}" if isinstance(hashes, dict) and hashes.get("sha256") else ""
    return Archive(
        "pypi",
        name,
        str(version),
        url,
        digest,
        size if isinstance(size, int) else 0,
        is_pure,
        str(entry.get("upload-time") or ""),
        # Either the reason or only that it is so.
        is_yanked=bool(entry.get("yanked")),
    )


def _preference(archive: Archive) -> tuple[int, int, str]:
    kind = 0 if archive.is_pure else 2 if archive.file.endswith(".whl") else 1
    return kind, archive.size, archive.file


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _same(registry: str, left: str, right: str) -> bool:
    if left == right:
        return True
    known = _version(left)
    return registry == "pypi" and known is not None and known == _version(right)
