"""A provider that gives replies by hand, on any wire: what no simulator says, because it is wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import orjson

from conformance import scenarios
from conformance.profiles import load_profile
from conformance.results import Evidence
from conformance.results.runs import Case
from conformance.suite.play import play
from conformance.suite.turns import Progress, Subject, converse
from conformance.transport.client import Client, Endpoint
from conformance.wires import by_name

PROVIDERS = {"chat": "openai", "messages": "anthropic", "responses": "openai", "gemini": "gemini"}
"""Whose claims hold on each wire."""


class Peer(httpx.AsyncBaseTransport):
    """Answers each request with the next reply, the last one again and again, and keeps the requests.

    A reply is a body, the text of a stream, or a status and a body.
    """

    def __init__(self, replies: Sequence[Any]) -> None:
        self.replies = list(replies)
        self.requests: list[Any] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(orjson.loads(request.content))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        status, body = reply if isinstance(reply, tuple) else (200, reply)
        is_stream = isinstance(body, str)
        content = body.encode() if is_stream else orjson.dumps(body)
        kind = "text/event-stream" if is_stream else "application/json"
        return httpx.Response(status, headers={"content-type": kind}, stream=httpx.ByteStream(content))


def subject_of(wire: str, client: Client, provider: str = "") -> Subject:
    profile = load_profile(provider or PROVIDERS[wire])
    played = profile if wire == "chat" else profile.on(wire)
    return Subject(played, played.model or "model", client.send, Evidence.LIVE)


def conversed(
    wire: str, replies: Sequence[Any], scenario: str, variant: str, provider: str = ""
) -> tuple[Progress, Peer]:
    """Return a scenario as it was played with these replies, without its probes, and the peer with the requests."""
    peer = Peer(replies)
    with Client(Endpoint("http://provider.test/v1", wire=wire), peer) as client:
        return converse(scenarios.load(scenario), variant, subject_of(wire, client, provider)), peer


def played(wire: str, replies: Sequence[Any], scenario: str, variant: str, provider: str = "") -> tuple[Case, Peer]:
    """Return the case of a scenario that was played with these replies, and the peer with the requests."""
    peer = Peer(replies)
    with Client(Endpoint("http://provider.test/v1", wire=wire), peer) as client:
        return play(scenarios.load(scenario), variant, subject_of(wire, client, provider)), peer


def streamed(wire: str, reply: Mapping[str, Any]) -> str:
    """Return a native reply as the text of a stream; on chat completions, of one chunk for each member."""
    if wire == "chat":
        return "".join([f"data: {orjson.dumps(each).decode()}\n\n" for each in _chunks(reply)]) + "data: [DONE]\n\n"
    events = by_name(wire).writing.events(reply)
    return "".join(
        [
            (f"event: {event.name}\n" if event.name else "") + f"data: {orjson.dumps(event.value).decode()}\n\n"
            for event in events
        ]
    )


def _chunks(reply: Mapping[str, Any]) -> list[Any]:
    about = {key: value for key, value in reply.items() if key not in ("choices", "usage")}
    about["object"] = "chat.completion.chunk"
    choice = reply["choices"][0]
    message = dict(choice["message"])
    if isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = [{"index": at, **call} for at, call in enumerate(message["tool_calls"])]
    deltas = [({key: value}, None) for key, value in message.items()] + [({}, choice["finish_reason"])]
    return [
        {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]} for delta, reason in deltas
    ] + [{**about, "choices": [], "usage": reply.get("usage")}]


def chat(finish: Any = "stop", **message: Any) -> dict[str, Any]:
    given = {"role": "assistant", "content": None, **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5",
        "choices": [{"index": 0, "message": given, "finish_reason": finish}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
    }


def messages(content: Sequence[Any], stop: Any = "end_turn") -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }


def responses(output: Sequence[Any], status: str = "completed", **members: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": "gpt-5",
        "output": list(output),
        "usage": {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18},
        **members,
    }


def gemini(parts: Any, finish: Any = "STOP", **members: Any) -> dict[str, Any]:
    content = {} if parts is None else {"content": {"role": "model", "parts": parts}}
    return {
        "candidates": [{**content, "finishReason": finish, "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18},
        "modelVersion": "gemini-3",
        "responseId": "r1",
        **members,
    }
