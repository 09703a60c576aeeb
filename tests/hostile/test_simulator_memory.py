"""What `conformance serve` takes of memory, as the operating system counts it, however many requests it has seen.

A plain run of CI plays a sample; the nightly run plays 100,000 small requests and 500 large ones.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.checking import ENVIRONMENT

MAX_MEMORY = 150_000
"""Kilobytes that the process may ever have held."""

LARGE = 2_000_000
CONNECTIONS = 4

Request = tuple[str, dict[str, Any]]


def distinct(size: int) -> Iterator[Request]:
    """Yield requests without end, no two alike, on each wire, plain and streamed; each has a text of so many bytes."""
    for number in count():
        text = f"Hello {number} " + f"{number:09d} words of a prompt " * (size // 27)
        user = {"role": "user", "content": text}
        schema = {"type": "object", "properties": {f"city{number}": {"type": "string", "pattern": f"^a{number}"}}}
        tool = {"type": "function", "function": {"name": f"get_{number}", "parameters": schema}}
        for stream in (False, True):
            yield "/v1/chat/completions", {"model": "m", "messages": [user], "tools": [tool], "stream": stream}
            yield "/v1/messages", {"model": "m", "max_tokens": 500, "messages": [user], "stream": stream}
            yield "/v1/responses", {"model": "m", "input": text, "stream": stream}
            method = "streamGenerateContent?alt=sse" if stream else "generateContent"
            yield f"/v1beta/models/m:{method}", {"contents": [{"role": "user", "parts": [{"text": text}]}]}


def refused(size: int) -> Iterator[Request]:
    """Yield requests with long names, keys and ids, which are refused or quoted in errors."""
    for number in count():
        long = f"{number}" + "n" * size
        call = {"id": long, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "tool_calls": [call]}]
        yield "/v1/chat/completions", {"model": "m", "messages": messages}
        yield "/v1/chat/completions", {"model": long, "messages": messages[:1], long: 1}
        yield "/v1/messages", {"model": long, "max_tokens": 50, "messages": messages[:1]}
        yield "/v1/responses", {"model": long, "input": [{"type": "function_call_output", "call_id": long}]}
        yield "/v1beta/models/m:generateContent", {"contents": [{"parts": [{"text": "Hi", long: 1}]}], long: 1}


def growing(size: int) -> Iterator[Request]:
    """Yield the requests of agents without end, on each wire: each session sends its history again, with more behind.

    They begin with so many bytes, in messages of a few words or in many parts.
    """
    for number in count():
        texts = [f"{number} {at} words" for at in range(size // 64)]
        parts = [{"type": "text", "text": "a"}] * 50
        for more in range(4):
            said = [*texts, *[f"more {number} {at}" for at in range(2 * more + 1 - len(texts) % 2)]]
            roles = [("user", "assistant")[at % 2] for at in range(len(said))]
            messages: list[Any] = [{"role": role, "content": each} for role, each in zip(roles, said, strict=True)]
            contents = [{"role": each["role"].replace("assistant", "model"), "parts": [{"text": each["content"]}]}
                        for each in messages]  # fmt: skip
            yield "/v1/chat/completions", {"model": "m", "messages": messages}
            yield "/v1/messages", {"model": "m", "max_tokens": 500, "messages": messages}
            yield "/v1/responses", {"model": "m", "input": messages}
            yield "/v1beta/models/m:generateContent", {"contents": contents}
            many = [{"role": "user", "content": parts}] * (size // 2048 + more)
            yield "/v1/chat/completions", {"model": "m", "messages": many, "user": f"{number}"}


async def status(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: Any) -> int:
    """Send a request, read the reply to its end, and return the status."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
    reply = (await reader.readuntil(b"\r\n\r\n")).lower()
    if b"content-length:" in reply:
        await reader.readexactly(int(reply.split(b"content-length:")[1].split()[0]))
    else:
        await reader.readuntil(b"\r\n0\r\n\r\n")
    return int(reply.split()[1])


async def play(port: int, requests: Iterator[Request]) -> set[int]:
    """Send requests over some connections, and return the statuses."""

    async def some() -> set[int]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
        found = {await status(reader, writer, path, body) for path, body in requests}
        writer.close()
        return found

    return set().union(*await asyncio.gather(*[some() for _ in range(CONNECTIONS)]))


class Held(NamedTuple):
    """What a server answered, the kilobytes that it held at most, and those before the first request."""

    statuses: set[int]
    most: int
    first: int


def held(kind: Callable[[int], Iterator[Request]], size: int, number: int) -> Held:
    """Send requests to a server in a process of its own."""
    command = [sys.executable, "-m", "conformance", "serve", "--provider", "openai", "--port", "0"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            port = int(served.stdout.readline().rpartition(":")[2])
            first = _most(served.pid)
            statuses = asyncio.run(play(port, islice(kind(size), number)))
            return Held(statuses, _most(served.pid), first)
        finally:
            served.terminate()


def _most(pid: int) -> int:
    counted = Path(f"/proc/{pid}/status").read_text()
    return int(counted.partition("VmHWM:")[2].split()[0])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the most that a process has held in /proc")
@pytest.mark.parametrize(
    ("kind", "size", "number"),
    [
        (distinct, LARGE, 48),
        (refused, 400_000, 140),
        (growing, 200_000, 160),
        (growing, 1_000_000, 40),
        pytest.param(distinct, LARGE, 500, marks=pytest.mark.exhaustive),
        pytest.param(distinct, 200, 100_000, marks=pytest.mark.exhaustive),
        pytest.param(refused, 400_000, 1000, marks=pytest.mark.exhaustive),
        pytest.param(growing, 200_000, 2000, marks=pytest.mark.exhaustive),
    ],
)
def test_a_server_keeps_within_its_memory(kind: Callable[[int], Iterator[Request]], size: int, number: int) -> None:
    found = held(kind, size, number)
    assert found.statuses <= {200, 400, 404}
    assert found.most < MAX_MEMORY
