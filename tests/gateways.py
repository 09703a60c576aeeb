"""A gateway for tests: it passes bytes on, or translates by the reference converter, and loses what a test wants."""

import asyncio
import itertools
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
import orjson

from conformance.gateways import direct
from conformance.transport.client import WireRequest, _exchange
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.interaction import RawInteraction
from conformance.transport.server import serving
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.index import Index
from conformance.wire.native import CHAT
from conformance.wire.values import as_object
from conformance.wires import by_name

Quirk = Callable[[HttpReply], HttpReply]
DATA = re.compile(rb"^data: (\{.*\})$", re.MULTILINE)


def whole_body(reply: HttpReply) -> bytes:
    return reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)


def is_stream(reply: HttpReply) -> bool:
    return not isinstance(reply.body, bytes)


def on_streams(change: Callable[[bytes], list[bytes]]) -> Quirk:
    def changed(reply: HttpReply) -> HttpReply:
        return replace(reply, body=tuple(change(whole_body(reply)))) if is_stream(reply) else reply

    return changed


def on_values(change: Callable[[Any], Any], option: int = 0) -> Quirk:
    """Change each JSON value of a reply, plain or streamed."""

    def changed(reply: HttpReply) -> HttpReply:
        if not is_stream(reply):
            return replace(reply, body=orjson.dumps(change(orjson.loads(whole_body(reply))), option=option))
        text = DATA.sub(
            lambda m: b"data: " + orjson.dumps(change(orjson.loads(m[1])), option=option), whole_body(reply)
        )
        return replace(reply, body=(text,))

    return changed


Change = Callable[[dict[str, Any]], dict[str, Any]]
_PASSED = ("content-type", "authorization", "x-api-key", "x-goog-api-key", "anthropic-version")


_ID = {"chat": "chatcmpl-", "messages": "msg_", "responses": "resp_", "gemini": "g"}
_NUMBERS = itertools.count(10_000_000)


def _same(body: dict[str, Any]) -> dict[str, Any]:
    return body


@dataclass(frozen=True)
class MadeGateway:
    """What a gateway does: `request` and `reply` change the bodies of chat completions, `quirk` the HTTP reply."""

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
    quirk: Callable[[HttpReply], HttpReply] = lambda reply: reply

    def answer(self, asked: HttpRequest) -> HttpReply:
        """Return the reply to a request of a client."""
        return self.quirk(self._answer(asked))

    def _answer(self, asked: HttpRequest) -> HttpReply:
        if self.front == self.back and not self.translates:
            return self._passed(asked)
        wire, back = by_name(self.front), by_name(self.back)
        body = orjson.loads(asked.body)
        exchange = wire.translate_one(Exchange.of_plain(body, url=asked.path, model=model_of(body)))
        wanted = dict(as_object(exchange.request)) | _kept(body, as_object(exchange.request))
        messages = _one_instruction([self._asked(each) for each in wanted["messages"]], self.back)
        wanted = self.request(wanted | {"messages": messages})
        native = back.write(wanted) if self.back != CHAT else _chat_request(wanted)
        sent = WireRequest(
            _with_settings(native, body, self.front, self.back, wanted), self.upstream + back.path(wanted), ""
        )
        for _ in range(self.tries):
            found = httpx.post(sent.url, json=sent.body, timeout=20, trust_env=False)
        kept = RawInteraction(
            sent.url,
            (),
            b"",
            found.status_code,
            "",
            tuple([(name, str(value)) for name, value in found.headers.items()]),
            found.content,
        )
        return self._returned(exchange, back.translate_one(_exchange(sent, kept, exchange.model)))

    def _asked(self, message: Mapping[str, Any]) -> dict[str, Any]:
        made = _failing_in_words(_reasoned(message, self.back), self.back)
        if made.get("role") != "assistant":
            return made
        made = _resigned(made, self.back, self.front)
        signed = any([each.get("signature") for each in made.get("reasoning_details") or ()])
        # Anthropic refuses thinking that it has not signed.
        left = ("reasoning_details", "reasoning_content") if self.back == "messages" and not signed else ()
        return {key: value for key, value in made.items() if key not in left}

    def _returned(self, asked: Exchange, got: Exchange) -> HttpReply:
        wire, status = by_name(self.front), got.status or 500
        is_error = type(got.response) is dict and "error" in got.response
        found = Index((got,)).replies
        if status >= 400 or (is_error and not direct.streams(asked)):
            error = _chat_error(got.response) if self.front == CHAT else wire.writing.reply(got.response, {})
            return HttpReply(self.status(status), orjson.dumps(self.error(error)), {"content-type": "application/json"})
        made = self.broken(got)
        if made is None and (not found or not found[0].complete or found[0].finish_reason is None):
            return self._broken(asked, got)
        message: dict[str, Any] = dict(found[0].message) if found else {"role": "assistant", "content": ""}
        calls = [{k: v for k, v in call.items() if k != "index"} for call in message.get("tool_calls") or ()]
        message |= {"tool_calls": calls} if calls else {}
        usages = Index((got,)).usages
        message = _resigned(_reasoned(message, self.front), self.front, self.back)
        reply = direct.body(message, found[0].finish_reason if found else "stop", usages[-1].value if usages else {})
        reply["id"] = f"{_ID[self.front]}{next(_NUMBERS):08d}"
        reply = self.reply(reply) if made is None else made
        sent = direct.whole(asked, reply)
        details = (reply.get("usage") or {}).get("completion_tokens_details")
        if self.front == "messages" and details:
            # The converter writes no numbers of thinking tokens on this wire.
            text = f',"output_tokens_details":{{"thinking_tokens":{details["reasoning_tokens"]}}}'.encode()
            pattern = re.compile(rb'("output_tokens":\d+)(?=\})')
            if isinstance(sent.body, bytes):
                return replace(sent, body=pattern.sub(rb"\1" + text, sent.body))
            return replace(sent, body=tuple([pattern.sub(rb"\1" + text, each) for each in sent.body]))
        return sent

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
            refused = HttpReply(got.status_code, got.read(), kind)
            client.close()
            return refused

        async def paced() -> AsyncGenerator[bytes, None]:
            parts = got.iter_raw()
            try:
                while (part := await asyncio.to_thread(next, parts, None)) is not None:
                    yield part
            finally:
                got.close()
                client.close()

        return HttpReply(200, (), kind, paced)


def _chat_error(body: Any) -> dict[str, Any]:
    error = dict(body["error"])
    return {"error": error | {"code": None if error.get("code") is None else str(error["code"])}}


def _failing_in_words(message: Mapping[str, Any], wire: str) -> dict[str, Any]:
    """Return a result that says in its text that the tool failed, for a wire that has no flag for it."""
    made = dict(message)
    if made.get("is_error") and wire in ("responses", "gemini"):
        del made["is_error"]
        made["content"] = f"Error: {made['content']}"
    return made


_SIGNED = "anthropic-claude-v1"


def _resigned(message: Mapping[str, Any], wire: str, source: str) -> dict[str, Any]:
    """Return an assistant message whose signatures are where a wire has them; those of another are packed into them."""
    made, details = dict(message), message.get("reasoning_details") or ()
    if not details or wire == source or "gemini" in (wire, source):
        return made
    texts = [str(each.get("text") or _summary(each.get("summary"))) for each in details]
    text = "".join(texts)
    seal = next((each[key] for each in details for key in ("signature", "data") if each.get(key)), None)
    if wire == "responses" and seal and not any([each.get("type") == "reasoning.encrypted" for each in details]):
        parts = [{"type": "reasoning.summary", "summary": text, "id": "rs_1", "index": 0}]
        made["reasoning_details"] = [*parts, {"type": "reasoning.encrypted", "data": seal, "id": "rs_1", "index": 0}]
    elif wire == "messages" and seal and not any([each.get("signature") for each in details]):
        made["reasoning_details"] = [{"type": "reasoning.text", "text": text, "signature": seal, "format": _SIGNED}]
    return made


def _one_instruction(messages: list[dict[str, Any]], wire: str) -> list[dict[str, Any]]:
    """Return messages whose instructions are all in the first one, for a wire that has one place for them."""
    texts = [str(each["content"]) for each in messages if each.get("role") == "system" and wire == "gemini"]
    if len(texts) < 2:
        return messages
    others = [each for each in messages if each.get("role") != "system"]
    return [{"role": "system", "content": "\n\n".join(texts)}, *others]


def _reasoned(message: Mapping[str, Any], wire: str) -> dict[str, Any]:
    """Return an assistant message whose reasoning is where a wire has it."""
    made = dict(message)
    if made.get("role") != "assistant":
        return made
    details = [each for each in made.get("reasoning_details") or () if each.get("text") or each.get("summary")]
    said = "".join([str(each.get("text") or _summary(each.get("summary"))) for each in details])
    text = made.get("reasoning_content")
    if wire in ("chat", "gemini") and said and not text:
        made["reasoning_content"] = said
    elif wire in ("messages", "responses") and text and not said:
        made["reasoning_details"] = [{"type": "reasoning.text", "text": text}, *(made.get("reasoning_details") or ())]
    return made


def _summary(value: Any) -> str:
    return "".join([each.get("text", "") for each in value]) if isinstance(value, list) else str(value or "")


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
        path = _BUDGETS.get(back, target[0]) if name == "effort" else target[0]
        if name == "effort":
            value = efforts[back]
        if name == "reply format":
            value = _FORMS[back]
        if (name, back) == ("effort", "messages"):
            made["thinking"] = {"type": "enabled"}
        if all([_value(made, each) is None for each in target]) or name == "effort":
            _put(made, path, value)
        if (name, back) == ("reply format", "gemini"):
            _put(made, ("generationConfig", "responseMimeType"), "application/json")
    return {key: value for key, value in made.items() if not key.startswith("lost ")}


_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
_BUDGETS = {
    "messages": ("thinking", "budget_tokens"),
    "gemini": ("generationConfig", "thinkingConfig", "thinkingBudget"),
}
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
