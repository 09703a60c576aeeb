"""Odd servers over HTTP: what `provider discover` says of each, and how it ends."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance import load_profile
from conformance.cli import main
from conformance.simulator import Simulator
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving

Answer = Callable[[HttpRequest], HttpReply]
JSON = {"content-type": "application/json"}
REAL: Answer = Simulator(load_profile("vllm")).answer


def refusal(status: int, words: str, **headers: str) -> HttpReply:
    error = {"error": {"message": words, "type": "invalid_request_error"}}
    return HttpReply(status, orjson.dumps(error), {**JSON, **headers})


def streams(request: HttpRequest) -> bool:
    value: Any = orjson.loads(request.body or b"{}")
    return value.get("stream") is True


def page(_request: HttpRequest) -> HttpReply:
    return HttpReply(200, b"<!doctype html><title>Sign in</title>", {"content-type": "text/html"})


def marked(request: HttpRequest) -> HttpReply:
    reply = REAL(request)
    return replace(reply, body=b"\xef\xbb\xbf" + reply.body) if isinstance(reply.body, bytes) else reply


def elsewhere(request: HttpRequest) -> HttpReply:
    return HttpReply(404, b'{"detail": "Not Found"}', JSON)


def only_streams(request: HttpRequest) -> HttpReply:
    return REAL(request) if streams(request) else refusal(400, "stream must be true")


def moved(request: HttpRequest) -> HttpReply:
    return HttpReply(307, b"", {"location": f"/real{request.path}", "content-type": "text/plain"})


def remote_calls(_request: HttpRequest) -> HttpReply:
    return HttpReply(200, b"grpc-status: 12", {"content-type": "application/grpc"})


def limited() -> Answer:
    count = iter(range(10**6))

    def answer(request: HttpRequest) -> HttpReply:
        busy = refusal(429, "too many requests", **{"retry-after": "3600"})
        return REAL(request) if request.method == "GET" or next(count) < 3 else busy

    return answer


def pages(request: HttpRequest) -> HttpReply:
    return (
        HttpReply(200, b'{"data": [{"id": "a"}], "has_more": true}', JSON) if request.method == "GET" else REAL(request)
    )


def array(request: HttpRequest) -> HttpReply:
    return HttpReply(200, b'["only-model"]', JSON) if request.method == "GET" else REAL(request)


def never_refused(request: HttpRequest) -> HttpReply:
    return replace(REAL(request), status=200)


ENDS = {
    "a page at every path": (page, "has no path of an API: /chat/completions (HTTP 200, an HTML page)"),
    "no such path": (elsewhere, "has no path of an API: /chat/completions (HTTP 404)"),
    "redirects": (moved, "(HTTP 307, a redirect to /real/chat/completions)"),
    "gRPC": (remote_calls, "has no path of an API: /chat/completions (HTTP 200, application/grpc)"),
    "busy for long": (limited(), "HTTP 429 3 times in a row, with Retry-After: 3600 seconds, so nothing more is sent"),
}


def discovered(answer: Answer, folder: Path, *more: str) -> int:
    with serving(answer) as url:
        return main(["provider", "discover", url, "--out", str(folder / "odd.yaml"), "--yes", *more])


@pytest.mark.parametrize("name", ENDS)
def test_what_cannot_be_discovered_is_said(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer, words = ENDS[name]
    assert discovered(answer, tmp_path, "--model", "m") == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_list_with_further_pages_has_not_one_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert discovered(pages, tmp_path) == 2
    assert "it lists a, further ones on other pages" in capsys.readouterr().err


@pytest.mark.slow
def test_a_list_may_be_a_plain_array(tmp_path: Path) -> None:
    assert discovered(array, tmp_path) == 0
    assert load_profile(tmp_path / "odd.yaml").model == "only-model"


@pytest.mark.slow
def test_an_error_with_status_200_is_not_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert discovered(never_refused, tmp_path, "--model", "m") == 0
    assert "an error with status 200, which no claim about a deviation can say" in capsys.readouterr().out
    claims = load_profile(tmp_path / "odd.yaml").at("m", "")
    assert claims["error.in-200"] is True
    assert claims.get("tools.empty-list", "unknown") == "unknown"
    assert claims.get("request.unknown-model", "unknown") == "unknown"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (marked, 1, "breaks a rule: replies begin with a byte order mark, which JSON must not"),
        (only_streams, 0, "could not be determined:"),
    ],
)
def test_what_is_odd_is_said_and_the_rest_is_profiled(
    answer: Answer, code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code == discovered(answer, tmp_path, "--model", "m")
    assert words in capsys.readouterr().out
