"""What takes long to find in the files of the package is found once, and kept until one of them changes."""

from pathlib import Path

import pytest

from conformance import profiles
from conformance.derived import contents, derived
from conformance.error_texts.sayings import found_in_profiles, of_profiles
from conformance.profiles import files

ROWS = [["model: {model}", ["https://example.com"], None]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose rows were kept."""
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))
    given = tmp_path / "given"
    given.mkdir()
    (given / "one.yaml").write_text("text: one\n", "utf-8")
    assert ROWS == derived("texts", "rows", contents([given]), lambda: ROWS)
    return given


def _again(folder: Path) -> object:
    return derived("texts", "rows", contents([folder]), lambda: [["found again"]])


def test_rows_are_those_of_an_earlier_run_until_a_file_changes(folder: Path) -> None:
    assert ROWS == _again(folder)
    (folder / "one.yaml").write_text("text: two\n", "utf-8")
    assert [["found again"]] == _again(folder)
    (folder / "two.py").write_text("", "utf-8")
    assert ROWS == derived("texts", "rows", contents([folder]), lambda: ROWS)


@pytest.mark.parametrize("damage", [b"", b"[]", b"not JSON\n[]"])
def test_a_damaged_file_is_written_again(folder: Path, damage: bytes) -> None:
    (file,) = (folder.parent / "cache" / "texts").iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage or whole[:-1])
    assert [["found again"]] == _again(folder)
    assert file.read_bytes().endswith(b'\n[["found again"]]')


def test_without_a_cache_rows_are_found_each_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(folder / "one.yaml"))
    assert [["found again"]] == _again(folder)
    assert ROWS == derived("texts", "rows", contents([folder]), lambda: ROWS)


def test_kept_texts_are_those_that_the_profiles_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path))
    found = found_in_profiles()
    for _ in ("found", "kept"):
        of_profiles.cache_clear()
        assert repr(found) == repr(of_profiles())


@pytest.mark.slow
def test_each_shipped_profile_is_valid_without_the_cache() -> None:
    # A kept profile is not read again, so nothing else would tell what a new check of profiles says of it.
    found = {name: profiles.errors(Path(profiles.__path__[0], f"{name}.yaml")) for name in profiles.names()}
    assert dict.fromkeys(profiles.names(), ()) == found


def test_a_kept_profile_is_the_one_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path))
    path = Path(profiles.__path__[0], "deepseek.yaml")
    first = files.read(path)
    (file,) = (tmp_path / "profiles").iterdir()
    assert "deepseek.json" == file.name
    assert repr(first) == repr(files.read(path))
    assert b"DeepSeek" in file.read_bytes()


def test_a_file_of_ones_own_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))
    own = tmp_path / "own.yaml"
    own.write_bytes(Path(profiles.__path__[0], "deepseek.yaml").read_bytes())
    assert "DeepSeek" == files.read(own).title
    assert not (tmp_path / "cache").exists()
