"""Replies of the provider that no script has: of a request that tests one thing, on time, late, refused or cut."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any, Final

from conformance.faults import event_bytes
from conformance.simulator import chunks
from conformance.simulator.http import STREAM_TYPE, as_json, headers
from conformance.simulator.reply_context import ReplyContext
from conformance.transport.http import HttpReply
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT, NativeEvent
from conformance.wire.reasoning import TEXT_KEYS
from conformance.wires import Wire, by_name

CREATED: Final = 1_790_000_000
USAGE: Final[Mapping[str, Any]] = {"prompt_tokens": 4321, "completion_tokens": 765, "total_tokens": 5086}
_STEP: Final = 0.03
_DONE: Final = b"data: [DONE]\n\n"
_PLAIN: Final = ReplyContext({}, {}, thinks=False)
"""A provider that streams as most do: it claims nothing."""

_STREAMED: Final = ("role", "content", "tool_calls", *TEXT_KEYS)
"""The members of a message that come in fragments; others are sent whole."""

COMMENT: Final = b": keep-alive\n\n"


def body(message: Mapping[str, Any], finish: str, usage: Mapping[str, Any] = USAGE) -> dict[str, Any]:
    """Return a reply of chat completions."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    made = {"id": "chatcmpl-conformance0001", "object": "chat.completion", "created": CREATED}
    return {**made, "model": "scripted", "choices": [choice], "usage": dict(usage)}


def parts(wire: Wire, reply: Mapping[str, Any], asked: Exchange) -> list[bytes]:
    """Return a reply as the events of a stream."""
    if wire.name != CHAT:
        native = wire.writing.reply({**reply, "model": asked.model}, asked.as_received.request or {})
        return [event_bytes(each) for each in wire.writing.events(native)]
    return [*[event_bytes(NativeEvent("", each)) for each in _chunks({**reply, "model": asked.model})], _DONE]


def _chunks(reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    frame = {"id": reply["id"], "object": "chat.completion.chunk", "created": CREATED, "model": reply["model"]}
    choice = reply["choices"][0]

    def chunk(delta: Mapping[str, Any], finish: Any = None) -> dict[str, Any]:
        return {**frame, "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}]}

    message = choice["message"]
    own = [{key: message[key]} for key in message if key not in _STREAMED]
    opening, *others = chunks.deltas(_PLAIN, {key: message[key] for key in message if key in _STREAMED})
    for delta in ({"role": "assistant"} | opening, *own, *others):
        yield chunk(delta)
    yield chunk({}, choice["finish_reason"])
    if reply.get("usage"):
        yield {**frame, "choices": [], "usage": reply["usage"]}


def whole(asked: Exchange, reply: Mapping[str, Any]) -> HttpReply:
    """Return a reply, as a stream if the request asks for one."""
    wire = by_name(asked.protocol)
    if not streams(asked):
        named = {**reply, "model": asked.model}
        return as_json(200, named if wire.name == CHAT else wire.writing.reply(named, asked.as_received.request or {}))
    made = parts(wire, reply, asked)
    if wire.is_array(asked.url):
        events = wire.writing.events(wire.writing.reply(dict(reply), asked.as_received.request or {}))
        return as_json(200, [each.value for each in events])
    return HttpReply(200, tuple(made), headers(STREAM_TYPE))


def streams(asked: Exchange) -> bool:
    """Return whether a request asks for a stream."""
    return (asked.request or {}).get("stream") is True


def refused(asked: Exchange, status: int, message: str) -> HttpReply:
    """Return a refusal in the shape of the wire."""
    kind = "invalid_request_error" if status < 429 else "rate_limit_error" if status == 429 else "server_error"
    error = {"error": {"message": message, "type": kind, "param": None, "code": None}}
    wire = by_name(asked.protocol)
    return as_json(status, error if wire.name == CHAT else wire.writing.reply(error, {}))


def failing(asked: Exchange, reply: Mapping[str, Any], message: str) -> HttpReply:
    """Return a stream with an error in the middle."""
    wire = by_name(asked.protocol)
    made = parts(wire, reply, asked)
    event = event_bytes(wire.failure(message))
    return HttpReply(200, (*made[: len(made) // 2], event), headers(STREAM_TYPE))


def cut(asked: Exchange, reply: Mapping[str, Any]) -> HttpReply:
    """Return the first half of a stream."""
    made = parts(by_name(asked.protocol), reply, asked)
    return HttpReply(200, tuple(made[: (len(made) + 1) // 2]), headers(STREAM_TYPE))


def commented(asked: Exchange, reply: Mapping[str, Any]) -> HttpReply:
    """Return a stream with a comment before each event."""
    made = parts(by_name(asked.protocol), reply, asked)
    return HttpReply(200, tuple([each for part in made for each in (COMMENT, part)]), headers(STREAM_TYPE))


class PacedStream:
    """A stream that waits in the middle: until the client has seen its beginning, or for a client that has gone."""

    def __init__(self, seconds: float) -> None:
        """Wait so many seconds at most."""
        self.seen = threading.Event()
        self.in_time = False
        self.let_go = threading.Event()
        self._seconds = seconds

    def waiting(self, asked: Exchange, reply: Mapping[str, Any]) -> HttpReply:
        """Return a stream that goes on once the client has seen its first half."""
        made = parts(by_name(asked.protocol), reply, asked)
        half = max(len(made) // 2, 4)

        async def paced() -> AsyncGenerator[bytes, None]:
            for part in made[:half]:
                yield part
            for _ in range(int(self._seconds / _STEP)):
                if self.seen.is_set():
                    break
                await asyncio.sleep(_STEP)
            self.in_time = self.seen.is_set()
            for part in made[half:]:
                yield part

        return HttpReply(200, tuple(made), headers(STREAM_TYPE), paced)

    def endless(self, asked: Exchange, reply: Mapping[str, Any]) -> HttpReply:
        """Return a stream that repeats comments and texts after its first half until nobody reads it any more."""
        made = parts(by_name(asked.protocol), reply, asked)
        half = max(len(made) // 2, 4)

        async def paced() -> AsyncGenerator[bytes, None]:
            try:
                for part in made[:half]:
                    yield part
                for _ in range(int(self._seconds / _STEP)):
                    yield COMMENT
                    await asyncio.sleep(_STEP)
            except GeneratorExit:
                self.let_go.set()
                raise

        return HttpReply(200, tuple(made[:half]), headers(STREAM_TYPE), paced)
