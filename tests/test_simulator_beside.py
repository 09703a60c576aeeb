"""What agents ask a host for beside replies: models in each wire's own shape, counts of tokens, and websockets."""

from typing import Any

import orjson

from conformance import profiles, scenarios
from conformance.simulator import Simulator
from conformance.simulator.sessions import SessionServer
from conformance.transport.http import HttpReply, HttpRequest
from tests.loops import every

ANTHROPIC = {"anthropic-version": "2023-06-01"}
GOOGLE = {"x-goog-api-key": "none"}


def asked(provider: str, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b"") -> HttpReply:
    return Simulator(profiles.load(provider)).answer(HttpRequest(method, path, headers or {}, body))


def value(reply: HttpReply) -> Any:
    assert isinstance(reply.body, bytes)
    return orjson.loads(reply.body)


def test_models_come_in_the_shape_of_the_wire_that_asks() -> None:
    assert {"object", "data"} == value(asked("anthropic", "GET", "/v1/models")).keys()
    messages = value(asked("anthropic", "GET", "/v1/models?limit=1000", {"Anthropic-Version": "2023-06-01"}))
    assert {"data", "has_more", "first_id", "last_id"} == messages.keys()
    assert {"type": "model"}.items() <= messages["data"][0].items()
    assert messages["data"][-1]["id"] == messages["last_id"]
    for path, headers in (("/v1beta/models?pageSize=50", {}), ("/v1/models", GOOGLE)):
        google = value(asked("gemini", "GET", path, headers))
        assert ["models"] == [*google]
        assert all(each["name"].startswith("models/") for each in google["models"])


def test_one_model_comes_in_the_same_shape_and_an_unknown_one_is_refused() -> None:
    name = profiles.load("anthropic").model
    assert name == value(asked("anthropic", "GET", f"/v1/models/{name}", ANTHROPIC))["id"]
    refused = asked("anthropic", "GET", "/v1/models/no-such", ANTHROPIC)
    assert (404, "error") == (refused.status, value(refused)["type"])
    google = profiles.load("gemini").model
    assert f"models/{google}" == value(asked("gemini", "GET", f"/v1beta/models/{google}"))["name"]


COUNTS = [
    ("anthropic", "/v1/messages/count_tokens?beta=true", "input_tokens"),
    ("gemini", "/v1beta/models/gemini-2.5-pro:countTokens", "totalTokens"),
    ("openai", "/v1/responses/input_tokens", "input_tokens"),
]


@every(("provider", "path", "key"), COUNTS)
def test_tokens_are_counted(provider: str, path: str, key: str) -> None:
    few = value(asked(provider, "POST", path, body=b'{"messages":[]}'))[key]
    many = value(asked(provider, "POST", path, body=b'{"messages":["' + b"a" * 4000 + b'"]}'))[key]
    assert (1000, 1010) < (many, 2000)
    assert few < 10
    assert 405 == asked(provider, "GET", path).status
    for body in (b"{", b"[]"):
        assert 400 == asked(provider, "POST", path, body=body).status


@every("provider", ["openai", "anthropic", "gemini"])
def test_websockets_are_refused_so_that_a_client_goes_on_over_http(provider: str) -> None:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    for path in ("/v1/responses", "/s/plain-answer/v1/responses", "/v1/realtime"):
        reply = asked(provider, "GET", path, {name.lower(): text for name, text in headers.items()})
        assert 426 == reply.status
        assert "POST" in value(reply)["error"]["message"]


def test_a_session_answers_the_same_on_its_wire() -> None:
    server = SessionServer()
    profile = profiles.load("anthropic")
    session = server.open(scenarios.load("agent-session"), profile.on("messages"))
    listed = session.answer(HttpRequest("GET", "/models", {}, b""), "/v1/models")
    assert {"data", "has_more", "first_id", "last_id"} == value(listed).keys()
    counted = session.answer(HttpRequest("POST", "", {}, b"{}"), "/v1/messages/count_tokens?beta=true")
    assert {"input_tokens": 1} == value(counted)
    assert () == session.exchanges
