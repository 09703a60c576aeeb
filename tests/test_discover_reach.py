"""Where `conformance provider discover` finds an API, and what it says where there is none."""

import io
import json
from pathlib import Path

import pytest

from conformance import load_profile
from conformance.cli import main
from conformance.discovery.reaching import Reached, bases, names_model, reach
from conformance.simulator import Simulator
from conformance.transport.client import Client, Endpoint
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from tests.loops import every

JSON = {"content-type": "application/json"}
MISSING = HttpReply(404, b'{"detail": "Not Found"}', JSON)


@pytest.mark.parametrize("prefix", ["/v1", "/openai/v1", "/v1beta/openai", "/api/v1"])
def test_the_usual_prefixes_are_tried(prefix: str) -> None:
    simulator = Simulator(load_profile("openai"))

    def answer(request: HttpRequest) -> HttpReply:
        if request.path != f"{prefix}/chat/completions":
            return MISSING
        exchange = simulator.send(json.loads(request.body))
        return HttpReply(exchange.status or 0, json.dumps(exchange.response).encode(), JSON)

    with serving(answer) as url:
        for given in (url, f"{url}/", f"{url}/v1", f"{url}{prefix}/chat/completions"):
            assert Reached(f"{url}{prefix}", "chat") == reach(Client, Endpoint(given.rstrip("/")), "gpt-5.4-mini")


REPLIES = {
    "messages": (
        "/anthropic/v1/messages",
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": "hello"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    ),
    "responses": (
        "/v1/responses",
        {
            "id": "resp_1",
            "object": "response",
            "status": "completed",
            "model": "m",
            "output": [
                {
                    "id": "msg_1",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "hello", "annotations": []}],
                }
            ],
        },
    ),
    "gemini": (
        "/v1beta/models/m:generateContent",
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "hello"}]}, "finishReason": "STOP"}]},
    ),
}


BASES = {"messages": "/anthropic/v1", "responses": "/v1", "gemini": "/v1beta"}


@pytest.mark.parametrize("wire", list(REPLIES))
def test_the_wire_is_found(wire: str) -> None:
    path, body = REPLIES[wire]
    found = HttpReply(200, json.dumps(body).encode(), JSON)
    with serving(lambda request: found if request.path == path else MISSING) as url:
        place = reach(Client, Endpoint(url), "m")
    assert Reached(f"{url}{BASES[wire]}", wire) == place


SAID = [
    (
        "no path",
        HttpReply(404, b"{}", JSON),
        "has no path of an API: /chat/completions (HTTP 404), /v1/chat",
    ),
    ("a page", HttpReply(200, b"<html>hi</html>", {"content-type": "text/html"}), "HTTP 200, an HTML page"),
    ("a redirect", HttpReply(302, b"", {"location": "https://elsewhere.example/"}), "a redirect to https://elsewhere"),
    (
        "no key",
        HttpReply(401, b'{"error": {"message": "who?"}}', JSON),
        "needs a key, and none was sent (HTTP 401",
    ),
    ("no model", HttpReply(404, b'{"error": {"message": "model m not found"}}', JSON), "serves no model m"),
    ("busy", HttpReply(500, b"{}", JSON), "rejects a plain question to m: HTTP 500"),
]


@pytest.mark.parametrize(("reply", "words"), [each[1:] for each in SAID], ids=[each[0] for each in SAID])
def test_a_failure_is_said_as_what_it_is(
    reply: HttpReply, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    with serving(lambda _: reply) as url:
        assert 2 == main(["provider", "discover", url, "--model", "m", "--yes"])
    assert words in capsys.readouterr().err


def test_tls_that_fails_is_not_a_closed_port(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(lambda _: MISSING) as url:
        assert 2 == main(["provider", "discover", url.replace("http:", "https:"), "--model", "m", "--yes"])
    assert "TLS fails: the port does not speak TLS; write http:// instead of https://" in capsys.readouterr().err
    assert 2 == main(["provider", "discover", "http://127.0.0.1:9", "--model", "m", "--yes"])
    assert "nothing listens on that port" in capsys.readouterr().err


def test_a_list_of_models_is_found_below_a_prefix(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: HttpRequest) -> HttpReply:
        listed = b'{"object": "list", "data": [{"id": "a"}, {"id": "b"}]}'
        return HttpReply(200, listed, JSON) if request.path == "/openai/v1/models" else MISSING

    monkeypatch.setattr("sys.stdin", io.StringIO())
    with serving(answer) as url:
        assert 2 == main(["provider", "discover", url])
    assert "does not list exactly one model; it lists a, b" in capsys.readouterr().err


def test_a_url_of_a_request_is_one_of_its_base() -> None:
    assert "http://h/x/v1" == bases("http://h/x/v1/chat/completions")[0]
    assert "http://h/v1beta" == bases("http://h/v1beta/models/gemini-x:generateContent")[0]
    assert ("http://h/gw", "http://h/gw/v1", "http://h") == tuple(bases("http://h/gw")[at] for at in (0, 1, -1))


@every(
    ("text", "is_model"),
    [
        ("The model `m` does not exist", True),
        ("m is not served here", True),
        ("Cannot POST /v1/models/m:generateContent", False),
        ("Not Found", False),
        ("missing", False),
    ],
)
def test_an_error_about_the_model_is_told_from_one_about_the_path(text: str, *, is_model: bool) -> None:
    assert is_model is names_model(text, "http://h/v1/models/m:generateContent", "m")


@pytest.mark.slow
def test_one_cause_is_printed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulator = Simulator(load_profile("vllm"))

    def answer(request: HttpRequest) -> HttpReply:
        body = json.loads(request.body)
        if any(each["role"] == "tool" for each in body.get("messages", ())):
            return HttpReply(400, b'{"error": {"message": "no history of tools here", "type": "x"}}', JSON)
        exchange = simulator.send(body)
        if exchange.streamed:
            return HttpReply(200, exchange.response.encode(), {"content-type": "text/event-stream"})
        return HttpReply(exchange.status or 0, json.dumps(exchange.response).encode(), JSON)

    with serving(answer) as url:
        main(["provider", "discover", f"{url}/v1", "--model", "m", "--yes", "--out", str(tmp_path / "mine.yaml")])
    said = capsys.readouterr().out
    assert (1, True) == (said.count("no history of tools here"), "two-tool-turns.plain" in said)
    assert "unknown" == load_profile(tmp_path / "mine.yaml").at("m")["results.reversed"]
