"""`conformance serve` on other addresses than the default one, and how it ends."""

import asyncio
import signal
import subprocess
import sys
from types import SimpleNamespace
from typing import NoReturn

import httpx
import pytest

from conformance.errors import Unusable
from conformance.transport import server
from conformance.transport.http import HttpReply
from tests.checking import ENVIRONMENT


def served(host: str, reached_at: str) -> tuple[str, str, int]:
    """Run the command, send two requests and interrupt it; return its URL, its standard error and its exit code."""
    command = [sys.executable, "-m", "conformance", "serve", "--provider", "openai", "--port", "0", "--host", host]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        models = f"http://{reached_at}:{url.rpartition(':')[2]}/v1/models"
        assert 200 == httpx.get(models).status_code
        assert 421 == httpx.get(models, headers={"host": "evil.example"}).status_code
        process.send_signal(signal.SIGINT)
        return url, process.communicate(timeout=60)[1], process.returncode


@pytest.mark.parametrize(
    ("host", "reached_at", "shown", "warns"),
    [
        pytest.param("127.0.0.1", "127.0.0.1", "http://127.0.0.1:", False, marks=pytest.mark.slow),
        pytest.param("localhost", "127.0.0.1", "http://127.0.0.1:", False, marks=pytest.mark.slow),
        pytest.param("::1", "[::1]", "http://[::1]:", False, marks=pytest.mark.slow),
        ("0.0.0.0", "127.0.0.1", "http://0.0.0.0:", True),  # noqa: S104 — what a user may ask for
        pytest.param("::", "[::1]", "http://[::]:", True, marks=pytest.mark.slow),
    ],
)
def test_listening_beyond_loopback_prints_a_warning_and_foreign_hosts_are_refused(
    host: str, reached_at: str, shown: str, *, warns: bool
) -> None:
    url, error, code = served(host, reached_at)
    assert url.startswith(shown)
    assert 130 == code
    assert "answered 421" in error
    assert warns == (f"warning: anyone who can reach {host} can send requests" in error)
    assert "Traceback" not in error


@pytest.mark.parametrize("host", ["no-such-host.invalid", "999.1.1.1", "x" * 300, "\x00"])
def test_an_address_that_cannot_be_bound_is_an_error_in_one_line(host: str) -> None:
    with (
        pytest.raises(Unusable, match="cannot bind"),
        server.serving(lambda _: HttpReply(200, b""), host),
    ):
        pass


def test_the_background_says_why_it_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> NoReturn:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(asyncio, "new_event_loop", fail)
    monkeypatch.setattr(asyncio.events, "new_event_loop", fail)
    with pytest.raises(Unusable, match="Too many open files"), server.serving(lambda _: HttpReply(200, b"")):
        pass


def test_the_foreground_uses_uvloop_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = SimpleNamespace(new_event_loop=object())
    monkeypatch.setitem(sys.modules, "uvloop", loops)
    assert loops.new_event_loop is server.loop_factory()
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert None is server.loop_factory()
