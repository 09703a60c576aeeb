"""What a driver runs in: folders of its own, and a network in which only the simulator listens."""

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.adapters.driver import Driver, Surroundings, drive
from conformance.cli import main
from conformance.processes import Children, network
from tests.loops import every

PRINTED = "drivers can use the network, because this system permits no network of loopback only: "
LOOKS_AROUND = """
import json, os, tempfile
home, work, scratch = os.environ["HOME"], os.getcwd(), tempfile.gettempdir()
open(os.path.join(home, ".left-behind"), "w")
shown = {each: [] if each == home else os.listdir(each) for each in (home, work, scratch)}
print(json.dumps({"texts": [json.dumps(shown), json.dumps(os.listdir(home))]}))
"""
CONNECTS = """
import json, socket, sys
json.load(sys.stdin)
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).close()
except OSError:
    pass
sys.exit("as if it were broken")
"""


def test_a_driver_has_empty_folders_of_its_own_which_are_removed(tmp_path: Path) -> None:
    (tmp_path / "driver.py").write_text(LOOKS_AROUND)
    with Children() as children:
        result = drive(Driver((sys.executable, str(tmp_path / "driver.py"))), {}, Surroundings(children))
    assert result.answer is not None, result.failure
    folders, home = [json.loads(text or "") for text in result.answer.texts or ()]
    assert ([[], [], []], [".left-behind"]) == (list(folders.values()), home)
    assert {os.environ["HOME"], str(Path.cwd())}.isdisjoint(folders)
    assert [] == [folder for folder in folders if Path(folder).exists()]


def run(*arguments: object) -> int:
    return main(["adapter", "run", "--provider", "deepseek", "--scenario", "plain-answer", *map(str, arguments)])


@every(
    ("source", "more", "code"),
    [
        ("print(open('beside.txt').read())", (), 2),
        ("import pathlib; print(pathlib.Path(__file__).with_name('beside.txt').read_text())", (), 1),
        ("print(open('beside.txt').read())", ("--cwd", "."), 1),
    ],
)
def test_a_command_names_files_of_the_folder_that_it_is_given_in(
    source: str,
    more: tuple[str, ...],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("driver.py").write_text(source)
    # A driver that answers without a request is untested; one without an answer has failed.
    Path("beside.txt").write_text('{"texts": [], "error": {"type": "None", "message": "sent nothing"}}')
    found = run("--driver", f"{sys.executable} driver.py", "--variant", "plain", *more)
    assert (code, code == 2) == (found, "each driver ran with an empty HOME" in capsys.readouterr().err)


@contextmanager
def listening() -> Iterator[tuple[int, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server.getsockname()[1], server


def is_reached(server: socket.socket) -> bool:
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@every(("more", "is_permitted"), [((), True), (("--allow-network",), True), ((), False)])
def test_a_driver_reaches_only_the_simulator_or_it_is_said_that_it_reaches_more(
    more: tuple[str, ...],
    *,
    is_permitted: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "driver.py").write_text(CONNECTS)
    with listening() as (port, server), monkeypatch.context() as patched:
        if not is_permitted:
            patched.setattr(network, "_made", lambda: ([], "Operation not permitted"))
        assert 2 == run("--driver", f"{sys.executable} {tmp_path / 'driver.py'} {port}", *more)
        said = capsys.readouterr().err.count(PRINTED)
        assert bool(said or more) == is_reached(server)
        # One line for both cases, plain and streamed. A system that permits nothing says so without being patched.
        assert said <= 1
        assert is_permitted or said
