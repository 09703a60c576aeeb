"""Providers that send back what they should not, for runs of the suites in this process and in others."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final

from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from tests import forks
from tests.hostile.planted import arguments, chunk, content, event, reasoning

MODEL: Final = "my-finetune"
JSON_TYPE: Final = {"content-type": "application/json"}
STREAM_TYPE: Final = {"content-type": "text/event-stream"}

Texts = Callable[[], Sequence[str]]


def parrot(texts: Texts, headers: Mapping[str, str] | None = None) -> Callable[[HttpRequest], HttpReply]:
    """Return a provider that puts texts into everything that it answers, streams them, and rejects a third."""
    numbers = count()

    def answer(request: HttpRequest) -> HttpReply:
        body = json.loads(request.body)
        said = " ".join(texts())
        number = next(numbers)
        if number % 3 == 2:
            error = {"error": {"message": f"Incorrect API key provided: {said}", "type": "invalid_request_error"}}
            text = json.dumps(error, ensure_ascii=number % 2 == 0)
            return HttpReply(400, text.encode(), JSON_TYPE | dict(headers or {}))
        calls = bool(body.get("tools")) and body["messages"][-1]["role"] == "user"
        if body.get("stream"):
            return HttpReply(200, (_stream(said, calls=calls).encode(),), STREAM_TYPE | dict(headers or {}))
        return HttpReply(200, json.dumps(_plain(said, calls=calls)).encode(), JSON_TYPE | dict(headers or {}))

    return answer


def _plain(said: str, *, calls: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said, "reasoning_content": said, "reasoning": said}
    if calls:
        function = {"name": "get_weather", "arguments": json.dumps({"city": said})}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {"id": "c-1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice]}


def _stream(said: str, *, calls: bool) -> str:
    def pieces(text: str) -> list[str]:
        return [text[at : at + 7] for at in range(0, len(text), 7)]

    events = [chunk({"role": "assistant", "content": ""})]
    for make in (content, reasoning):
        events += [chunk(make(piece)) for piece in pieces(said)]
    if calls:
        function = {"name": "get_weather", "arguments": ""}
        events.append(chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}))
        events += [chunk(arguments(piece)) for piece in pieces(json.dumps({"city": said}))]
    events.append(chunk({}, "tool_calls" if calls else "stop"))
    return "".join([event(each) for each in events]) + "data: [DONE]\n\n"


@contextmanager
def provider(answer: Callable[[HttpRequest], HttpReply]) -> Iterator[str]:
    """Serve a provider on loopback and yield its base URL."""
    with serving(answer) as url:
        yield f"{url}/v1"


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a process: no key of the caller, and this tree's package."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH", "LANG") if name in os.environ}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **more}


def conformance(*arguments: object, folder: Path, **more: str) -> CompletedProcess[str]:
    """Run the command in a fork."""
    return forks.command(*map(str, arguments), folder=folder, environment=environment(**more))


def suites(*arguments: object, folder: Path, **more: str) -> CompletedProcess[str]:
    """Run pytest with the suites of a self-hosted server in a fork."""
    words = ("--provider=vllm", f"--model={MODEL}", *map(str, arguments))
    return forks.suites(*words, folder=folder, environment=environment(**more))
