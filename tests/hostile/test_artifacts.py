"""A file is replaced whole or not at all, and one process at a time writes to a folder."""

import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import artifacts
from conformance.errors import InvalidDocument, Unusable

PACKAGE = Path(artifacts.__file__).parent

WRITES_ONLY_FOR_ITSELF = {
    "artifacts.py", "resources.py", "engines/serving.py", "gateways/serving.py", "adapters/agent_driver.py",
    "simulator/drive/folder.py", "processes/namespace.py",
}  # fmt: skip
"""The module itself, what an installed package unpacks, what engines, gateways and agents read in their scratch
folders, and what the kernel reads."""


def run(code: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_every_module_writes_through_this_one() -> None:
    writers = re.compile(r"\.write_(?:text|bytes)\(|open\([^)\n]*[\"'](?:[wxa]b?|r?b?\+)[\"']")
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "sdks" not in path.parts and writers.search(path.read_text("utf-8"))
    }
    assert set() == found - WRITES_ONLY_FOR_ITSELF


@pytest.mark.parametrize("data", ["text\nté", b"\x00bytes", ""])
def test_what_is_written_is_read(tmp_path: Path, data: str | bytes) -> None:
    path = tmp_path / "new" / "file"
    artifacts.write(path, data)
    assert (data.encode() if isinstance(data, str) else data) == path.read_bytes()
    assert ["file"] == [each.name for each in path.parent.iterdir()]


@pytest.mark.parametrize(("private", "mode"), [(True, 0o600), (False, 0o644)])
def test_a_private_file_is_its_owners(tmp_path: Path, private: object, mode: int) -> None:
    code = "import os, sys; os.umask(0o022); from conformance import artifacts; from pathlib import Path\n"
    code += f"artifacts.write(Path(sys.argv[1]), 'x', private={private})"
    (tmp_path / "file").write_text("before")
    run(code, tmp_path / "file").check_returncode()
    assert mode == stat.S_IMODE((tmp_path / "file").stat().st_mode)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")
    (tmp_path / "link").symlink_to("file")
    artifacts.write(tmp_path / "link", "after")
    assert (True, "after") == ((tmp_path / "link").is_symlink(), (tmp_path / "file").read_text())


FULL_DISK = """
import resource, sys
from pathlib import Path
from conformance import artifacts
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
artifacts.write(Path(sys.argv[1]), "x" * 2000)
"""


def test_a_full_disk_leaves_the_former_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    ended = run(FULL_DISK, path)
    assert "Unusable: cannot write" in ended.stderr
    assert "File too large; it is unchanged" in ended.stderr
    assert {"file": "before"} == {each.name: each.read_text() for each in tmp_path.iterdir()}


KILLED = """
import os, sys
from pathlib import Path
from conformance import artifacts
os.fsync = lambda _: os.kill(os.getpid(), 9)
with artifacts.locked(Path(sys.argv[1])):
    artifacts.write(Path(sys.argv[1]) / "file", "after")
"""


def test_a_killed_writer_leaves_the_former_file_and_no_lock(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")
    assert -signal.SIGKILL == run(KILLED, tmp_path).returncode
    assert "before" == (tmp_path / "file").read_text()
    with artifacts.locked(tmp_path):
        assert {artifacts.LOCK, "file"} == {each.name for each in tmp_path.iterdir()}


HOLDER = """
import sys
from pathlib import Path
from conformance import artifacts
with artifacts.locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_with_the_name_of_the_folder(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert "held\n" == holder.stdout.readline()
        with pytest.raises(Unusable, match=f"another process writes to {re.escape(str(tmp_path))}; wait"):
            artifacts.locked(tmp_path).__enter__()
        holder.communicate()
    with artifacts.locked(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unusable, match="cannot create the folder"), artifacts.locked(tmp_path / "file" / "below"):
        pass
    with pytest.raises(Unusable, match="cannot create the folder"):
        artifacts.write(tmp_path / "file" / "below", "x")


def test_a_journal_says_what_an_interrupted_command_has_done(tmp_path: Path) -> None:
    path = tmp_path / "journal.json"
    artifacts.Journal(path, resume=True).add("one")
    assert {"one"} == artifacts.Journal(path, resume=True).done
    assert set() == artifacts.Journal(path, resume=False).done
    artifacts.Journal(path, resume=True).clear()
    assert not path.exists()
    path.write_text('{"one": ')
    with pytest.raises(InvalidDocument, match="expected a list of names; remove the file, or omit --resume"):
        artifacts.Journal(path, resume=True)
