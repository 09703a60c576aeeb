"""Whatever ends a recording, the old cassettes stay as they were or the new ones are complete, and can be replayed."""

import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from conformance import profiles
from conformance.errors import InvalidDocument, Unusable
from conformance.results import Evidence
from conformance.simulator import Simulator
from conformance.suite.options import Options
from conformance.suite.run import Run
from conformance.transport.cassette import replaying
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from conformance.transport.shelf import STAGING, CassetteFolder, ManifestEntry
from tests.hostile.broken_cassettes import BROKEN
from tests.hostile.parrot import MODEL, environment, provider, suites
from tests.sampling import some

THINKS: Final = {"thinking.mode": "default-on"}
CASES: Final = ("one-tool-call.plain", "plain-answer.plain")


def good() -> Callable[[HttpRequest], HttpReply]:
    """Return a provider that answers as vLLM does, and does not call itself a simulator."""
    simulator = Simulator(profiles.load("vllm").with_claims(THINKS))

    def answer(request: HttpRequest) -> HttpReply:
        reply = simulator.answer(request)
        return HttpReply(reply.status, reply.body, {**reply.headers, "server": "vLLM"})

    return answer


def options(folder: Path, url: str, **more: Any) -> Options:
    given = Options("vllm", folder, "2026-11-22", model=MODEL, live=True, base_url=url, thinking="on", record=True)
    return replace(given, **more)


def play(given: Options, cases: tuple[str, ...] = CASES, *, is_done: bool = True) -> Run:
    """Run some cases, as pytest does with -k."""
    run = Run(given)
    done = False
    try:
        for scenario, variant in run.cases():
            if f"{scenario.name}.{variant}" in cases:
                run.case(scenario, variant)
        done = is_done
    finally:
        run.close(is_done=done)
    return run


def files(folder: Path) -> dict[str, bytes]:
    """Return the cassettes and the manifest."""
    found = [path for path in folder.rglob("*.yaml") if STAGING not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def manifest(folder: Path) -> ManifestEntry:
    return CassetteFolder(folder, "vllm").manifest()[MODEL]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a recording of two cases."""
    folder = tmp_path_factory.mktemp("cassettes")
    with provider(good()) as url:
        play(options(folder, url))
    assert 3 == len(files(folder))
    return folder


@pytest.fixture
def old(recorded: Path, tmp_path: Path) -> Path:
    """Return a copy of that recording."""
    return Path(shutil.copytree(recorded, tmp_path / "cassettes"))


def after(number: int, fault: Callable[[HttpReply], HttpReply]) -> Callable[[HttpRequest], HttpReply]:
    """Return a good provider whose replies are changed from one on."""
    answer, count = good(), iter(range(1000))

    def changed(request: HttpRequest) -> HttpReply:
        reply = answer(request)
        return reply if next(count) < number else fault(reply)

    return changed


def test_a_recording_names_the_host_that_replied_and_marks_the_cases_it_played(old: Path) -> None:
    entry = manifest(old)
    assert (Evidence.RECORDED, "localhost", "on") == (entry.evidence, entry.host, entry.thinking)
    with provider(good()) as url:
        play(options(old, url, today="2026-12-24"), ("plain-answer.plain",))
    entry = manifest(old)
    dates = {case: entry.of(case).date for case in CASES}
    assert {"one-tool-call.plain": "2026-11-22", "plain-answer.plain": "2026-12-24"} == dates
    assert 1 == len(entry.cases)


@pytest.mark.slow
def test_one_real_case_does_not_make_the_simulated_ones_real(tmp_path: Path) -> None:
    simulated = Options("vllm", tmp_path, "2026-11-01", model=MODEL, record=True, thinking="on")
    most = (*CASES, "reasoning-without-tools.plain")
    play(simulated, most)
    with provider(good()) as url:
        play(options(tmp_path, url), CASES[:1])
    entry = manifest(tmp_path)
    assert [Evidence.RECORDED, Evidence.SIMULATED] == [entry.of(case).evidence for case in CASES]
    replayed = play(Options("vllm", tmp_path, "2026-11-23", model=MODEL))
    assert {case.name: case.evidence for case in replayed.results().cases} == {
        case: entry.of(case).evidence for case in CASES
    }
    before = files(tmp_path)
    play(simulated, most)
    name = f"vllm/{MODEL}/{CASES[0]}.yaml"
    assert before[name] == files(tmp_path)[name]


def test_replies_of_a_foreign_host_are_never_recorded_as_the_provider(tmp_path: Path) -> None:
    given = Options("deepseek", tmp_path, "2026-11-22", base_url="https://gateway.example/v1", record=True)
    with pytest.raises(Unusable, match=r"gateway.example is not a host of DeepSeek \(api.deepseek.com\)"):
        Run(given)
    assert {} == files(tmp_path)


def test_nobody_listening_changes_nothing(old: Path) -> None:
    before = files(old)
    with pytest.raises(Unusable, match="cannot connect to"):
        play(options(old, "http://127.0.0.1:9/v1"))
    assert before == files(old)


def cut(reply: HttpReply) -> HttpReply:
    whole = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
    return HttpReply(200, whole[: len(whole) // 2], {**reply.headers, "content-length": str(len(whole))})


FAULTS: Final[Mapping[str, Callable[[HttpReply], HttpReply]]] = {
    "401": lambda reply: HttpReply(401, b"{}", reply.headers),
    "500": lambda reply: HttpReply(500, b"{}", reply.headers),
    "a page": lambda _: HttpReply(200, b"<html>busy</html>", {"content-type": "text/html"}),
}


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "number"), [("401", 0), ("500", 3), ("a page", 3)])
def test_a_provider_that_fails_in_the_middle_loses_no_case(old: Path, fault: str, number: int) -> None:
    before = files(old)
    with provider(after(number, FAULTS[fault])) as url:
        try:
            run = play(options(old, url, today="2026-12-24"))
        except Unusable:
            assert before == files(old)
            return
    now = files(old)
    for case in CASES:
        name = f"vllm/{MODEL}/{case}.yaml"
        assert (before[name] == now[name]) is (case in run.left_out)
    assert run.left_out
    assert {case.name for case in play(Options("vllm", old, "2026-12-25", model=MODEL)).results().cases} == set(CASES)


@contextmanager
def resetting(number: int) -> Iterator[str]:
    """Serve a provider whose connections are reset in the middle of each reply from one on."""
    import socket
    import struct

    with serving(good()) as url:
        host, port = url.removeprefix("http://").split(":")
        listener = socket.create_server(("127.0.0.1", 0))
        count = iter(range(1000))

        def pass_on(client: socket.socket) -> None:
            with client, socket.create_connection((host, int(port))) as server:
                while data := client.recv(1 << 16):
                    server.sendall(data)
                    server.settimeout(0.2)
                    reply = b""
                    try:
                        while more := server.recv(1 << 16):
                            reply += more
                    except TimeoutError:
                        pass
                    if next(count) >= number:
                        client.sendall(reply[: len(reply) // 2])
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        return
                    client.sendall(reply)

        def accept() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=pass_on, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            listener.close()


@pytest.mark.slow
def test_a_reset_in_the_middle_of_a_reply_loses_no_case(old: Path) -> None:
    before = files(old)
    with resetting(2) as url:
        run = play(options(old, url, today="2026-12-24"))
    assert run.left_out
    for case in run.left_out:
        assert before[f"vllm/{MODEL}/{case}.yaml"] == files(old)[f"vllm/{MODEL}/{case}.yaml"]


FULL_DISK = """
import resource, sys
from pathlib import Path
from tests.hostile.test_losses import good, options, play, provider
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
with provider(good()) as url:
    play(options(Path(sys.argv[1]), url, today="2026-12-24"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 20_000])
def test_a_full_disk_changes_nothing(old: Path, size: int) -> None:
    before = files(old)
    ended = run_code(FULL_DISK, old, size)
    assert 1 == ended.returncode
    assert "Unusable: cannot write" in ended.stderr, ended.stderr
    assert before == files(old)
    assert set(CASES) == {case.name for case in play(Options("vllm", old, "2026-12-25", model=MODEL)).results().cases}


def run_code(code: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=root, env=environment(PYTHONPATH=str(root)), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


KILLED = """
import os, shutil, sys
from pathlib import Path
from tests.hostile import test_losses as losses
from conformance import artifacts

moment, number, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
met = iter(range(1, 1000))


def killing(call):
    def killed(*given, **named):
        if next(met) == number:
            os.kill(os.getpid(), 9)
        return call(*given, **named)
    return killed


if moment == "request":
    answer = killing(losses.good())
else:
    answer = losses.good()
    if moment == "fsync":
        os.fsync = killing(os.fsync)
    elif moment == "rename":
        os.replace = killing(os.replace)
    else:
        shutil.rmtree = killing(shutil.rmtree)
with losses.provider(answer) as url:
    losses.play(losses.options(folder, url, today="2026-12-24"))
"""

MOMENTS: Final = (
    ("request", 5),
    ("fsync", 3),
    ("fsync", 4),
    ("fsync", 5),
    ("rename", 4),
    ("rename", 5),
    ("rename", 6),
    ("rename", 7),
    ("rmtree", 2),
)
"""When the process is killed: in the n-th request, before the n-th file is on disk, before it is renamed, …

Files 1 to 3 are the settings and the two cases; 4 says that the recording is whole; then the cases are renamed to their
places, and file 5 is the manifest.
"""


@pytest.mark.slow
@pytest.mark.parametrize(("moment", "number"), some(MOMENTS, 3, mark=pytest.mark.exhaustive))
def test_a_killed_run_leaves_the_old_recording_or_the_new_one(old: Path, moment: str, number: int) -> None:
    before = files(old)
    ended = run_code(KILLED, moment, number, old)
    assert -signal.SIGKILL == ended.returncode, ended.stderr
    dates = {manifest(old).of(case).date for case in CASES}
    now = files(old)
    if dates == {"2026-11-22"}:
        assert before == now
    else:
        assert {"2026-12-24"} == dates
        assert not (old / "vllm" / STAGING / MODEL).exists()
    replayed = play(Options("vllm", old, "2026-12-25", model=MODEL))
    assert dict.fromkeys(CASES, False) == {case.name: case.is_unreadable for case in replayed.results().cases}


@pytest.mark.slow
def test_what_was_recorded_before_an_interruption_is_not_sent_again(old: Path) -> None:
    asked: list[HttpRequest] = []
    answer = good()

    def counting(request: HttpRequest) -> HttpReply:
        asked.append(request)
        return answer(request)

    with provider(counting) as url:
        first = play(options(old, url, today="2026-12-24"), CASES[:1], is_done=False)
        assert "2026-11-22" == manifest(old).date
        count = len(asked)
        assert count
        with pytest.raises(Unusable, match="was begun with other options"):
            play(options(old, url, thinking="off", resume=True))
        second = play(options(old, url, today="2026-12-24", resume=True))
        assert CASES[1] == second.results().cases[-1].name
        once = {request.body for request in asked[:count]}
        assert not once & {request.body for request in asked[count:]}
    assert {"2026-12-24"} == {manifest(old).of(case).date for case in CASES}
    assert first.results().cases[0].outcomes == second.results().cases[0].outcomes


def test_two_runs_cannot_record_the_same_model(old: Path) -> None:
    with provider(good()) as url:
        run = Run(options(old, url))
        try:
            with pytest.raises(Unusable, match=f"another process writes to {old}/vllm/{MODEL}; wait"):
                Run(options(old, url))
        finally:
            run.close(is_done=False)


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_cassette_costs_its_case(old: Path, broken: str) -> None:
    path = CassetteFolder(old, "vllm").path(MODEL, CASES[0])
    path.write_bytes(BROKEN[broken])
    with pytest.raises(InvalidDocument, match="cannot be read as a cassette"), replaying(path):
        pass
    one, two = sorted(play(Options("vllm", old, "2026-12-25", model=MODEL)).results().cases, key=lambda each: each.name)
    assert (True, "", False) == (one.is_unreadable, two.note, one.outcomes != ())
    assert f"{path}" in one.note


def test_a_case_whose_staged_recording_is_damaged_is_recorded_again(old: Path) -> None:
    with provider(good()) as url:
        play(options(old, url), CASES[1:], is_done=False)
        (old / "vllm" / STAGING / MODEL / f"{CASES[1]}.yaml").write_text("interactions: []")
        play(options(old, url, today="2026-12-24", resume=True), CASES[1:])
    assert "2026-12-24" == manifest(old).of(CASES[1]).date
    assert not any(case.is_unreadable for case in play(Options("vllm", old, "2026-12-25", model=MODEL)).results().cases)


@pytest.mark.slow
def test_a_broken_cassette_fails_one_item(old: Path, tmp_path: Path) -> None:
    CassetteFolder(old, "vllm").path(MODEL, CASES[1]).write_bytes(b"")
    ended = suites(f"--cassettes={old}", "-k", " or ".join(CASES), folder=tmp_path)
    assert "1 failed" in ended.stdout, ended.stdout
    assert f"unreadable cassette: {old}" in ended.stdout
    assert "error" not in ended.stdout.splitlines()[-1]


def test_a_missing_cassette_costs_its_case(old: Path) -> None:
    CassetteFolder(old, "vllm").path(MODEL, CASES[0]).unlink()
    cases = {case.name: case for case in play(Options("vllm", old, "2026-12-25", model=MODEL)).results().cases}
    assert "there is no such cassette" in cases[CASES[0]].note
    assert cases[CASES[1]].outcomes


def test_a_cassette_is_written_as_yaml_that_vcrpy_reads(old: Path) -> None:
    value = yaml.safe_load(CassetteFolder(old, "vllm").path(MODEL, CASES[0]).read_text())
    assert 1 == value["version"]
    assert json.loads(value["interactions"][0]["request"]["body"])["model"] == MODEL
