"""Error texts of all profiles are found once, and kept until a file of the package changes."""

from pathlib import Path

import pytest

from conformance.error_texts.kept import kept_rows
from conformance.error_texts.sayings import found_in_profiles, of_profiles

ROWS = [["model: {model}", ["https://example.com"], None]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose rows were kept."""
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))
    given = tmp_path / "given"
    given.mkdir()
    (given / "one.yaml").write_text("text: one\n", "utf-8")
    assert ROWS == kept_rows("rows", [given], lambda: ROWS)
    return given


def _again(folder: Path) -> list[list[object]]:
    return kept_rows("rows", [folder], lambda: [["found again"]])


def test_rows_are_those_of_an_earlier_run_until_a_file_changes(folder: Path) -> None:
    assert ROWS == _again(folder)
    (folder / "one.yaml").write_text("text: two\n", "utf-8")
    assert [["found again"]] == _again(folder)
    (folder / "two.py").write_text("", "utf-8")
    assert ROWS == kept_rows("rows", [folder], lambda: ROWS)


@pytest.mark.parametrize("damage", [b"", b"[]", b"not JSON\n[]"])
def test_a_damaged_file_is_written_again(folder: Path, damage: bytes) -> None:
    (kept,) = (folder.parent / "cache" / "texts").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage or whole[:-1])
    assert [["found again"]] == _again(folder)
    assert kept.read_bytes().endswith(b'\n[["found again"]]')


def test_without_a_cache_rows_are_found_each_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(folder / "one.yaml"))
    assert [["found again"]] == _again(folder)
    assert ROWS == kept_rows("rows", [folder], lambda: ROWS)


def test_kept_texts_are_those_that_the_profiles_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path))
    found = found_in_profiles()
    for _ in ("found", "kept"):
        of_profiles.cache_clear()
        assert repr(found) == repr(of_profiles())
