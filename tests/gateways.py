"""A gateway for tests: it passes bytes on, or translates by the reference converter, and loses what a test wants lost."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from conformance.gateways import direct
from conformance.transport.client import _exchange, _Sent  # noqa: PLC2701 — replies are read as the client reads them
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.interaction import RawInteraction
from conformance.transport.server import serving
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wires import by_name

Change = Callable[[dict[str, Any]], dict[str, Any]]
_PASSED = ("content-type", "authorization", "x-api-key", "x-goog-api-key", "anthropic-version")


def _same(body: dict[str, Any]) -> dict[str, Any]:
    return body


@dataclass(frozen=True)
class MadeGateway:
    """What a gateway does: `request` and `reply` change the bodies of chat completions, `answer` the HTTP reply."""

    front: str
    back: str
    upstream: str
    request: Change = _same
    reply: Change = _same
    status: Callable[[int], int] = lambda status: status
    error: Callable[[Any], Any] = lambda body: body
    broken: Callable[[Exchange], dict[str, Any] | None] = lambda _exchange: None
    tries: int = 1
    translates: bool = False

    def answer(self, asked: HttpRequest) -> HttpReply:
        """Return the reply to a request of a client."""
        if self.front == self.back and not self.translates:
            return self._passed(asked)
        wire, back = by_name(self.front), by_name(self.back)
        body = orjson.loads(asked.body)
        exchange = wire.translate_one(Exchange.of_plain(body, url=asked.path, model=model_of(body)))
        wanted = self.request(dict(exchange.request) | _kept(body, exchange.request))
        native = back.write(wanted) if self.back != CHAT else _chat_request(wanted)
        sent = _Sent(_with_settings(native, body, self.front, self.back, wanted), self.upstream + back.path(wanted), "")
        for _ in range(self.tries):
            found = httpx.post(sent.url, json=sent.body, timeout=20, trust_env=False)
        kept = RawInteraction(sent.url, (), b"", found.status_code, "", tuple(found.headers.items()), found.content)
        return self._returned(exchange, back.translate_one(_exchange(sent, kept, exchange.model)), asked.path)

    def _returned(self, asked: Exchange, got: Exchange, path: str) -> HttpReply:
        wire, status = by_name(self.front), got.status or 500
        is_error = type(got.response) is dict and "error" in got.response
        found = Index((got,)).replies
        if status >= 400 or (is_error and not direct.streams(asked)):
            error = got.response if self.front == CHAT else wire.writing.reply(got.response, {})
            return HttpReply(self.status(status), orjson.dumps(self.error(error)), {"content-type": "application/json"})
        made = self.broken(got)
        if made is None and (not found or not found[0].complete or found[0].finish_reason is None):
            return self._broken(asked, got)
        message = dict(found[0].message) if found else {"role": "assistant", "content": ""}
        calls = [{k: v for k, v in call.items() if k != "index"} for call in message.get("tool_calls") or ()]
        message |= {"tool_calls": calls} if calls else {}
        usages = Index((got,)).usages
        reply = direct.body(message, found[0].finish_reason if found else "stop", usages[-1].value if usages else {})
        reply = self.reply(reply) if made is None else made
        if direct.streams(asked):
            return direct.whole(asked, reply)
        named = {**reply, "model": asked.model}
        body = named if self.front == CHAT else wire.writing.reply(named, asked.as_received.request)
        return HttpReply(200, orjson.dumps(body), {"content-type": "application/json"})

    def _broken(self, asked: Exchange, got: Exchange) -> HttpReply:
        """Return a stream that ends as the one behind: with an error, or in the middle."""
        failed = direct.body({"content": "It breaks off in the middle of a text."}, "stop")
        if any([stream.errors for stream in Index((got,)).all_streams]) or "error" in (got.response or {}):
            return direct.failing(asked, failed, "overloaded")
        return direct.cut(asked, failed)

    def _passed(self, asked: HttpRequest) -> HttpReply:
        """Pass bytes on as they come."""
        headers = {name: value for name, value in asked.headers.items() if name.lower() in _PASSED}
        url = self.upstream + asked.path.removeprefix("/v1")
        body = orjson.loads(asked.body)
        if body.get("stream") is not True and ":stream" not in asked.path:
            got = httpx.post(url, content=asked.body, headers=headers, timeout=20, trust_env=False)
            return HttpReply(got.status_code, got.content, {"content-type": got.headers["content-type"]})
        # What a stream begins with decides the status, so its head is read first.
        client = httpx.Client(timeout=20, trust_env=False)
        got = client.send(client.build_request("POST", url, content=asked.body, headers=headers), stream=True)
        kind = {"content-type": got.headers["content-type"]}
        if got.status_code >= 400:
            return HttpReply(got.status_code, got.read(), kind)

        async def paced() -> AsyncGenerator[bytes, None]:
            parts = got.iter_raw()
            try:
                while (part := await asyncio.to_thread(next, parts, None)) is not None:
                    yield part
            finally:
                got.close()
                client.close()

        return HttpReply(200, (), kind, paced)


def _kept(body: Mapping[str, Any], read: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key.startswith("x_conformance") and key not in read}


def _chat_request(body: dict[str, Any]) -> dict[str, Any]:
    made = {key: value for key, value in body.items() if key not in ("thinking", "reasoning", "generationConfig")}
    return made | ({"stream_options": {"include_usage": True}} if made.get("stream") else {})


def _with_settings(
    native: dict[str, Any], given: Mapping[str, Any], front: str, back: str, wanted: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a request with the settings of the client's that the converter has no words for."""
    made = orjson.loads(orjson.dumps(native))
    made |= {key: value for key, value in wanted.items() if key.startswith("x_conformance")}
    efforts: dict[str, Any] = {"chat": "high", "responses": "high", "messages": 2048, "gemini": 2048}
    for name in ("token limit", "temperature", "top_p", "stop texts", "reply format", "effort"):
        paths, target = by_name(front).settings(name), by_name(back).settings(name)
        value = next((each for path in paths if (each := _value(given, path)) is not None), None)
        if value is None or not target or wanted.get(f"lost {name}"):
            continue
        path = ("thinking", "budget_tokens") if (name, back) == ("effort", "messages") else target[0]
        if name == "effort":
            value = efforts[back]
        if name == "reply format":
            value = _FORMS[back]
        if (name, back) == ("effort", "messages"):
            made["thinking"] = {"type": "enabled"}
        if all([_value(made, each) is None for each in target]) or name == "effort":
            _put(made, path, value)
    return {key: value for key, value in made.items() if not key.startswith("lost ")}


_SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
_FORMS: Mapping[str, Any] = {
    "chat": {"type": "json_schema", "json_schema": {"name": "reply", "schema": _SCHEMA}},
    "responses": {"type": "json_schema", "name": "reply", "schema": _SCHEMA},
    "messages": {"type": "json_schema", "schema": _SCHEMA},
    "gemini": _SCHEMA,
}


def _value(body: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        body = body.get(key) if isinstance(body, dict) else None
    return body


def _put(body: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *holders, key = path
    for holder in holders:
        body = body.setdefault(holder, {})
    body[key] = value


@contextmanager
def made_gateway(gateway: MadeGateway) -> Iterator[str]:
    """Serve a gateway on loopback and yield the base URL for its clients."""
    with serving(gateway.answer) as url:
        yield f"{url}/v1"
