"""Data folders: an archive in a wheel reads as the folder that it was packed from."""

import io
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from conformance import resources
from conformance.errors import Unusable
from conformance.results import Evidence
from conformance.transport.shelf import CassetteFolder

CASSETTES = resources.folder("cassettes")


def packed(folder: Path, target: Path) -> Path:
    """Pack a folder as the wheel holds it, and return the path that it would have without an archive."""
    with tarfile.open(target / f"{folder.name}.tar.xz", "w:xz") as archive:
        for path in folder.rglob("*.yaml"):
            archive.add(path, path.relative_to(folder).as_posix())
    return target / folder.name


@pytest.mark.parametrize("name", ["deepseek", "azure_openai.responses"])
def test_cassettes_in_an_archive_are_those_of_the_folder(tmp_path: Path, name: str) -> None:
    packed(CASSETTES / name, tmp_path)
    plain, archived = CassetteFolder(CASSETTES, name), CassetteFolder(tmp_path, name)
    assert name == archived.home.name
    assert plain.manifest() == archived.manifest()
    for model, entry in plain.manifest().items():
        assert Evidence.SIMULATED == entry.evidence
        assert plain.cases(model) == archived.cases(model)
        case = plain.cases(model)[0]
        assert plain.path(model, case).read_bytes() == archived.path(model, case).read_bytes()


def test_an_archive_is_unpacked_once_and_removed_when_the_process_ends(tmp_path: Path) -> None:
    path = packed(CASSETTES / "deepseek", tmp_path)
    code = "import sys; from pathlib import Path; from conformance.resources import unpacked; "
    code += "first, second = [unpacked(Path(sys.argv[1])) for _ in range(2)]; print(first == second, first)"
    command = [sys.executable, "-c", code, str(path)]
    same, _, folder = subprocess.run(command, capture_output=True, text=True, check=True).stdout.partition(" ")
    assert "True" == same
    assert "deepseek" == Path(folder.strip()).name
    assert not Path(folder.strip()).parent.exists()


def test_a_folder_without_an_archive_is_itself() -> None:
    assert CASSETTES / "deepseek" == resources.unpacked(CASSETTES / "deepseek")


def test_the_names_are_those_of_folders_and_archives(tmp_path: Path) -> None:
    packed(CASSETTES / "deepseek", tmp_path)
    (tmp_path / "other.responses").mkdir()
    (tmp_path / "file.yaml").write_text("")
    assert ("deepseek", "other.responses") == resources.names(tmp_path)


def test_a_broken_archive_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "broken.tar.xz").write_bytes(b"nothing")
    with pytest.raises(Unusable, match=r"broken\.tar\.xz cannot be unpacked: "):
        resources.unpacked(tmp_path / "broken")


def test_of_an_archive_that_several_folders_share_only_the_folder_asked_for_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "archives.json").write_text('{"a": "chat-0", "ab": "chat-0"}')
    with tarfile.open(tmp_path / "chat-0.tar.xz", "w:xz") as packed:
        for name in ("a/m/x.yaml", "ab/m/x.yaml"):
            member = tarfile.TarInfo(name)
            member.size = len(name)
            packed.addfile(member, io.BytesIO(name.encode()))
    assert ("a", "ab") == resources.names(tmp_path)
    home = resources.unpacked(tmp_path / "a")
    assert ("a/m/x.yaml", ["a"]) == ((home / "m/x.yaml").read_text(), [each.name for each in home.parent.iterdir()])
    assert tmp_path / "other" == resources.unpacked(tmp_path / "other")
