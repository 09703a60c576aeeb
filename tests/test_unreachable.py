"""Plain HTTP sent to a port for TLS, and TLS to one for HTTP, are said as what they are, with what to write instead."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.transport.unreachable import needs_tls
from tests.forks import WITHOUT
from tests.loops import every

ALERT = b"\x15\x03\x03\x00\x02\x02\x28"
GO = (
    b"HTTP/1.0 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n"
    b"Client sent an HTTP request to an HTTPS server.\n"
)
NGINX = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n"
    b"<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>"
)
ANSWERS = {"an alert": ALERT, "nothing": b"", "the words of Go": GO, "the words of nginx": NGINX}
EMPTY = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
WORDS = "write https:// instead of http://"


@contextmanager
def tls_port(answer: bytes) -> Iterator[str]:
    """Serve a port that answers the beginning of TLS with an alert, and anything else with some bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                with suppress(TimeoutError, OSError):
                    connection, _ = server.accept()
                    with connection:
                        connection.settimeout(2)
                        asked = connection.recv(65536)
                        connection.sendall(ALERT if asked[:1] == b"\x16" else answer)
                        connection.shutdown(socket.SHUT_WR)
                        connection.recv(65536)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        over.set()
        thread.join()


def calls(port: str) -> dict[str, list[str]]:
    return {
        "discover": ["provider", "discover", f"http://{port}/v1", "--model", "m", "--yes"],
        "discover without a model": ["provider", "discover", f"http://{port}/v1", "--yes"],
        "gateway": [
            *("gateway", "run", "--base-url", f"http://{port}/v1", "--front", "chat", "--back", "deepseek"),
            *("--upstream-port", "9"),
        ],
        "watch": ["provider", "watch", "--provider", "deepseek", "--base-url", f"http://{port}/v1"],
    }


def test_a_tls_alert_to_plain_http_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with tls_port(ALERT) as port:
        assert main(calls(port)["discover"]) == 2
    assert WORDS in capsys.readouterr().err


@pytest.mark.slow
@every(("name", "answer"), list(ANSWERS.items()), ids=str)
def test_plain_http_to_a_port_for_tls_is_said(name: str, answer: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    with tls_port(answer) as port:
        for verb, words in calls(port).items():
            assert (name, verb, 2) == (name, verb, main(words))
            assert WORDS in capsys.readouterr().err, (name, verb)


@pytest.mark.slow
def test_tls_to_a_port_for_http_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with plain_port() as port:
        for verb, words in calls(port).items():
            given = [each.replace("http://", "https://") for each in words]
            assert (verb, 2) == (verb, main(given))
            assert "does not speak TLS; write http:// instead of https://" in capsys.readouterr().err, verb


@contextmanager
def plain_port() -> Iterator[str]:
    """Serve a port that answers anything with an error in HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                with suppress(TimeoutError, OSError):
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(EMPTY)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        over.set()
        thread.join()


def test_a_server_that_breaks_off_and_speaks_no_tls_gets_no_such_hint() -> None:
    with plain_port() as port:
        assert needs_tls(f"http://{port}/v1", error=OSError("broken")) == ""
        assert needs_tls(f"http://{port}/v1", b'{"error": "no"}') == ""
        assert needs_tls(f"https://{port}/v1", GO) == ""


@pytest.mark.slow
def test_a_live_run_says_it(pytester: pytest.Pytester, tmp_path: Path) -> None:
    with tls_port(ALERT) as port:
        run = pytester.runpytest_subprocess(
            *WITHOUT, "--provider=deepseek", "--live", "--base-url", f"http://{port}/v1"
        )
    assert WORDS in run.stdout.str() + run.stderr.str()
