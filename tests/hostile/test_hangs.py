"""Peers that never finish: every request and every run has a deadline, and what was done by then is kept.

The deadlines are small, so that the tests are fast; no test measures how long anything took.
"""

import os
import pty
import signal
import threading
from functools import partial
from pathlib import Path

import pytest

from conformance.results.files import read
from conformance.results.runs import Case
from conformance.transport.client import Client, Endpoint, Inconclusive, OutOfTime
from tests.hanging import ends
from tests.hostile.peer import Answer, Asked, completion, conforming, ended, serving, start
from tests.sampling import some

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def silent(asked: Asked) -> str | None:
    asked.wait()
    return None


def slow_headers(asked: Asked) -> None:
    asked.send(b"HTTP/1.1 200 OK\r\n")
    while not asked.stopped.is_set():
        asked.send(b"X-A: b\r\n")
        asked.wait(0.02)


def dripping_body(asked: Asked) -> None:
    asked.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not asked.stopped.is_set():
        asked.send(b" ")
        asked.wait(0.02)


def endless_comments(asked: Asked) -> None:
    asked.start_stream()
    while not asked.stopped.is_set():
        asked.chunk(b": keep-alive\n\n")
        asked.wait(0.02)


def endless_continues(asked: Asked) -> None:
    while not asked.stopped.is_set():
        asked.send(b"HTTP/1.1 100 Continue\r\n\r\n")


def unfinished_gzip(asked: Asked) -> None:
    asked.start_stream("Content-Encoding: gzip")
    asked.chunk(b"\x1f\x8b\x08")
    asked.wait()


NEVER_FINISHED = (silent, slow_headers, dripping_body, endless_comments, endless_continues, unfinished_gzip)


@pytest.mark.parametrize("answer", some(NEVER_FINISHED, 3, lambda answer: answer.__name__))
def test_a_request_ends_at_its_deadline_whatever_the_peer_sends(answer: Answer) -> None:
    with ends(), serving(answer) as peer, Client(Endpoint(peer.url, seconds=0.3)) as client:
        with pytest.raises(Inconclusive, match=r"did not finish its reply within 0.3 seconds") as stopped:
            client.send(BODY)
        assert not isinstance(stopped.value, OutOfTime)
        assert 1 == peer.requests


def test_a_request_after_one_that_hung_is_answered() -> None:
    def first_hangs(asked: Asked) -> None:
        asked.wait() if asked.number == 1 else asked.reply(completion())

    with ends(), serving(first_hangs) as peer, Client(Endpoint(peer.url, seconds=1)) as client:
        with pytest.raises(Inconclusive):
            client.send(BODY)
        assert 200 == client.send(BODY).status


def cases(folder: Path) -> dict[str, Case]:
    """Return the cases in the results of a run, by name."""
    (path,) = (folder / "out").iterdir()
    return {case.name: case for case in read(path).cases}


def silent_after(number: int) -> Answer:
    """Return an answer that conforms for some requests, and then never comes."""
    conform = conforming("openai")
    return lambda asked: conform(asked) if asked.number <= number else silent(asked)


@pytest.mark.slow
def test_a_run_whose_time_is_over_keeps_its_results_and_fails(tmp_path: Path) -> None:
    with ends(), serving(silent_after(60)) as peer:
        code, text = ended(start(peer, tmp_path, "--max-time=20"))
    assert 1 == code
    assert "the time of the run (--max-time) is over; what was not asked is untested." in text
    assert "Core facts that were not tested" in text
    played = cases(tmp_path).values()
    assert any(case.outcomes and not case.note for case in played)
    stopped = [case for case in played if "--max-time" in case.note]
    assert stopped
    assert all(case.is_inconclusive for case in stopped)


@pytest.mark.slow
@pytest.mark.parametrize("number", some([signal.SIGINT, signal.SIGTERM], mark=pytest.mark.exhaustive))
def test_an_interrupted_run_keeps_what_it_has_done(number: signal.Signals, tmp_path: Path) -> None:
    reached = threading.Event()
    answer = silent_after(60)

    def note(asked: Asked) -> str | None:
        if asked.number > 60:
            reached.set()
        return answer(asked)

    with ends(), serving(note) as peer:
        process = start(peer, tmp_path)
        assert reached.wait(100)
        process.send_signal(number)
        code, text = ended(process)
    assert 2 == code
    assert "KeyboardInterrupt" in text
    assert any(case.outcomes and not case.note for case in cases(tmp_path).values())


@pytest.mark.slow
def test_a_probe_that_hangs_costs_only_itself(tmp_path: Path) -> None:
    conform = conforming("openai")

    def third_hangs(asked: Asked) -> str | None:
        return silent(asked) if asked.number == 3 else conform(asked)

    with ends(), serving(third_hangs) as peer:
        code, text = ended(start(peer, tmp_path, "--request-timeout=2", "-k", "plain-answer", "-rs"))
    assert 0 == code
    assert "did not finish its reply within 2 seconds" in text
    assert "left in the run" not in text
    probes = cases(tmp_path)["plain-answer.plain"].probes
    assert 1 == sum("did not finish" in probe.observed for probe in probes)


@pytest.mark.parametrize("option", ["--request-timeout=0", "--max-time=-1", "--max-time=nan"])
def test_a_time_that_is_none_is_an_error(option: str, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--provider=openai", option)
    assert 4 == result.ret
    assert "expected a number of seconds above 0" in result.stderr.str()


@pytest.mark.slow
def test_a_live_run_shows_on_a_terminal_how_many_requests_are_left(tmp_path: Path) -> None:
    with serving(conforming("openai")) as peer:
        leader, follower = pty.openpty()
        process = start(peer, tmp_path, "-k", "plain-answer.plain", "--color=no", output=follower)
        os.close(follower)
        shown = b"".join(iter(partial(read_terminal, leader), b"")).decode()
        process.wait()
        os.close(leader)
    assert "requests, 13 left in the run" in shown


def read_terminal(leader: int) -> bytes:
    """Return what was written to a terminal, nothing once it is closed."""
    try:
        return os.read(leader, 65536)
    except OSError:
        return b""


@pytest.mark.parametrize("url", ["http://[::1/v1", "nonsense", "ftp://127.0.0.1/v1", "http://127.0.0.1:99999999/v1"])
def test_a_base_url_that_is_none_is_an_error(url: str, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--provider=openai", f"--base-url={url}")
    assert 4 == result.ret
    assert "--base-url: expected a URL such as" in result.stderr.str()
