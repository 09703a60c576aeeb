"""Archives of packages: where they come from, that each comes once, and what hostile ones cannot do."""

import gzip
import hashlib
import io
import struct
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.evidence.packages import archives as bounds
from conformance.evidence.packages import settings
from conformance.evidence.packages.archives import UnreadableArchive, read
from conformance.evidence.packages.registries import NoRelease, NotReachable, plain
from tests.loops import every
from tests.registry import Registry, archives, registry, tarball, wheel


@pytest.fixture
def served() -> Iterator[Registry]:
    with registry() as held:
        yield held


def test_an_archive_is_downloaded_once(served: Registry, tmp_path: Path) -> None:
    served.publish_wheel("made-up", "1.2.0", wheel({"made_up/a.py": "x = 1\n"}))
    for _ in range(2):
        with archives(served, tmp_path) as held:
            path = held.get("pypi", "made-up", "1.2.0")
            assert {"made_up/a.py": "x = 1\n"} == read(path).texts
    assert 1 == served.asked.count("/files/made_up-1.2.0-py3-none-any.whl")


def test_paths_are_as_installed_whatever_the_archive_puts_around_them(served: Registry, tmp_path: Path) -> None:
    served.publish_source("made-up", "2.0", tarball({"src/made_up/a.py": "a", "README.md": "b"}, "made_up-2.0"))
    served.publish_npm("@made/up", {"1.0.0": tarball({"dist/a.js": "c"})})
    with archives(served, tmp_path) as held:
        assert {"made_up/a.py": "a", "README.md": "b"} == read(held.get("pypi", "made-up", "2.0")).texts
        assert {"dist/a.js": "c"} == read(held.get("npm", "@made/up", "1.0.0")).texts


def test_an_index_of_links_is_read_too(served: Registry, tmp_path: Path) -> None:
    content = wheel({"a.py": "1"})
    digest = hashlib.sha256(content).hexdigest()
    link = f'<a href="/w/made_up-1.0-py3-none-any.whl#sha256={digest}">made_up-1.0-py3-none-any.whl</a>'
    served.replies["/simple/made-up/"] = (200, "text/html", f"<html><body>{link}</body></html>".encode())
    served.replies["/w/made_up-1.0-py3-none-any.whl"] = (200, "application/zip", content)
    with archives(served, tmp_path) as held:
        assert {"a.py": "1"} == read(held.get("pypi", "made_up", "1.0")).texts


def test_the_newest_release_is_no_pre_release(served: Registry, tmp_path: Path) -> None:
    for version in ("1.9.0", "1.10.0", "2.0.0rc1"):
        served.publish_wheel("made-up", version, wheel({"a.py": version}))
    with archives(served, tmp_path) as held:
        assert "1.10.0" == held.newest("pypi", "made-up")


def test_who_has_no_such_release_says_so_and_who_does_not_answer_says_nothing(served: Registry, tmp_path: Path) -> None:
    served.publish_wheel("made-up", "1.0", wheel({"a.py": ""}))
    served.replies["/simple/busy/"] = (503, "text/plain", b"")
    with archives(served, tmp_path) as held:
        for name, version in (("made-up", "9.9"), ("other", "1.0")):
            with pytest.raises(NoRelease):
                held.get("pypi", name, version)
        with pytest.raises(NotReachable, match="HTTP 503"):
            held.get("pypi", "busy", "1.0")
    served.url = "http://127.0.0.1:9"
    with archives(served, tmp_path) as held, pytest.raises(NotReachable):
        held.get("pypi", "made-up", "2.0")


def test_another_content_than_the_registry_says_is_refused(served: Registry, tmp_path: Path) -> None:
    served.publish_wheel("made-up", "1.0", wheel({"a.py": ""}), digest="0" * 64)
    with archives(served, tmp_path) as held, pytest.raises(NotReachable, match="does not have the digest"):
        held.get("pypi", "made-up", "1.0")


def test_the_cache_keeps_within_its_bound(served: Registry, tmp_path: Path) -> None:
    for version in ("1.0", "2.0", "3.0"):
        served.publish_wheel("made-up", version, wheel({"a.py": version * 400}))
    size = len(wheel({"a.py": "1.0" * 400}))
    with archives(served, tmp_path, limit=2 * size) as held:
        for version in ("1.0", "2.0", "3.0"):
            held.get("pypi", "made-up", version)
    assert 2 == sum(1 for path in tmp_path.glob("*/*/*") if path.is_file())


def _header_of(size: int) -> bytes:
    """Return a tar file with an extended header that says it has so many bytes."""
    member = tarfile.TarInfo("x")
    member.type, member.size = tarfile.XHDTYPE, size
    made = io.BytesIO()
    with gzip.open(made, "wb") as stream:
        stream.write(member.tobuf(tarfile.GNU_FORMAT))
        stream.write(bytes(1024))
    return made.getvalue()


def _directory_of(size: int) -> bytes:
    return struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, size, 0, 0)


HOSTILE = [
    ("a.tgz", b"no archive", "cannot be read"),
    ("a.tgz", _header_of(1 << 34), "has a header of"),
    ("a.tgz", tarball({"a": "x"})[:-20], "cannot be read"),
    ("a.whl", b"no archive", "is not a zip file"),
    ("a.whl", _directory_of(1 << 30), "has a directory of more than"),
    ("a.whl", wheel({"a.py": "x" * 200})[:-30], "is not a zip file"),
    ("a.whl", wheel({"big.py": "x" * 2_000_000}), "has more than"),
    ("a.tgz", tarball({"big.py": "x" * 2_000_000}), "has more than"),
    ("a.tgz", tarball({f"{number}.py": "" for number in range(60)}), "has more than 50 files"),
]


@every(("name", "content", "words"), HOSTILE)
def test_a_hostile_archive_is_an_error_within_bounds(
    name: str, content: bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_FILE", 1_000_000)
    monkeypatch.setattr(bounds, "MAX_UNPACKED", 3_000_000)
    monkeypatch.setattr(bounds, "MAX_MEMBERS", 50)
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UnreadableArchive, match=words):
        read(path)


def test_a_file_that_unpacks_beyond_its_bound_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_UNPACKED", 3_000_000)
    path = tmp_path / "a.tgz"
    path.write_bytes(tarball({"zeros": "\0" * 4_000_000, "a.py": "x"}))
    with pytest.raises(UnreadableArchive, match="unpacks to more than 3,000,000 bytes"):
        read(path, ("a.py",))


def test_no_name_in_an_archive_becomes_a_path(served: Registry, tmp_path: Path) -> None:
    names = ["../../../outside.py", "/etc/outside.py"]
    served.publish_wheel("made-up", "1.0", wheel(dict.fromkeys(names, "x")))
    with archives(served, tmp_path / "cache") as held:
        assert set(names) >= set(read(held.get("pypi", "made-up", "1.0")).paths)
    assert ["cache"] == [path.name for path in tmp_path.iterdir()]


def test_an_archive_that_is_too_large_is_not_downloaded(
    served: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_ARCHIVE", 100)
    served.publish_wheel("made-up", "1.0", wheel({"a.py": "x" * 1000}))
    with archives(served, tmp_path) as held, pytest.raises(NotReachable, match="has more than 100 bytes"):
        held.get("pypi", "made-up", "1.0")
    assert ["/simple/made-up/"] == served.asked


def test_the_registries_are_those_that_pip_and_npm_are_told_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    settings.pypi.cache_clear()
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:secret@mirror.example/simple/")
    assert "https://user:secret@mirror.example/simple" == settings.pypi()
    settings.pypi.cache_clear()
    monkeypatch.delenv("PIP_INDEX_URL")
    monkeypatch.setattr(settings, "_printed", lambda *_: "global.index-url='https://pip.example/simple'\n")
    assert "https://pip.example/simple" == settings.pypi()
    settings.pypi.cache_clear()
    assert "https://mirror.example/simple/x" == plain("https://user:secret@mirror.example/simple/x")
