"""Peers that send too much: what is read is bounded, and memory stays flat whether a run records or not."""

import gzip
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance.transport import body as bodies
from conformance.transport.client import Client, Endpoint
from conformance.wire.exchange import CUT
from tests.hanging import ends
from tests.hostile.peer import COMPLETION, Answer, Asked, serving
from tests.sampling import some

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
MB = 1_000_000
DELTA = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'
LARGEST = bodies.MAX_REPLY - 1000
RECORDED = ("--record", "--cassettes=.")
MOST_MEMORY = 300
"""Megabytes that a run may use, whatever a peer sends; one against a well-behaved peer uses some 90."""


def packed(size: int) -> bytes:
    """Return zeros in gzip."""
    packer = zlib.compressobj(wbits=31)
    return b"".join([*(packer.compress(bytes(MB)) for _ in range(size // MB)), packer.flush()])


def content_of(text: str) -> bytes:
    """Return a good reply with this content."""
    choice: dict[str, Any] = {**COMPLETION["choices"][0], "message": {"role": "assistant", "content": text}}  # type: ignore[index]
    return orjson.dumps({**COMPLETION, "choices": [choice]})


def plain(body: bytes, *headers: str) -> Answer:
    return lambda asked: asked.reply(body, *headers)


def bomb(size: int) -> Answer:
    """Return an answer of so many zeros in gzip, packed when it is asked for."""
    return lambda asked: asked.reply(packed(size), "Content-Encoding: gzip")


def streamed(chunk: bytes, number: int | None = None) -> Answer:
    """Return a stream of so many equal chunks, or one without an end."""

    def answer(asked: Asked) -> None:
        asked.start_stream()
        sent = 0
        while number is None or sent < number:
            asked.chunk(chunk)
            sent += 1
        asked.send(b"0\r\n\r\n")

    return answer


FLOODS: dict[str, tuple[Answer, str]] = {
    "a stream without an end": (streamed(DELTA * 1000), "more than 8,388,608 bytes"),
    "a body over the limit": (plain(bytes(bodies.MAX_REPLY + 1)), "more than 8,388,608 bytes"),
    "a small gzip bomb": (bomb(5 * MB), "unpack to more than 200 times their size"),
    "a gzip bomb": (bomb(250 * MB), "more than 8,388,608 bytes after unpacking"),
    "packed text over the limit": (
        lambda asked: asked.reply(gzip.compress(os.urandom(50_000).hex().encode() * 100), "Content-Encoding: gzip"),
        "more than 8,388,608 bytes after unpacking",
    ),
    "a million empty lines": (streamed(b"\n" * 1000, 1000), "more than 80,000 lines"),
    "a million returns": (streamed(b"\r" * 1000, 1000), "more than 80,000 lines"),
    "a million values": (plain(b"[" + b"0," * MB + b"0]"), "more than 160,000 values"),
}


@pytest.mark.parametrize("name", some(FLOODS, 2))
def test_of_a_flood_only_the_head_is_kept(name: str) -> None:
    answer, words = FLOODS[name]
    with ends(), serving(answer) as peer, Client(Endpoint(peer.url)) as client:
        exchange = client.send(BODY)
    assert words in exchange.headers[CUT]
    assert len(str(exchange.response)) <= bodies.HEAD


LIMITS: dict[str, Answer] = {
    "bytes": plain(content_of("x" * LARGEST)),
    "lines": streamed(DELTA * 40, bodies.MAX_LINES // 80),
    "values": plain(b"{" + b",".join(b'"%d":0' % number for number in range(bodies.MAX_COMMAS)) + b"}"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_reply_within_the_limits_is_read_whole(name: str) -> None:
    with ends(), serving(LIMITS[name]) as peer, Client(Endpoint(peer.url)) as client:
        assert CUT not in client.send(BODY).headers


CODE = """
import pathlib, re, sys, pytest
pytest.main(sys.argv[1:])
# The peak that getrusage returns would include that of the process which started this one.
print("peak", int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) // 1024)
"""


def peak(url: str, folder: Path, *options: str) -> int:
    """Return the megabytes that a run of one scenario uses at most."""
    # A server that anyone can run: what answers on this machine can be recorded as its replies.
    provider = ["--provider=vllm", "--model=m", "--thinking=off", f"--base-url={url}", "-k", "plain-answer.plain"]
    done = subprocess.run(
        [sys.executable, "-c", CODE, "-p", "no:cacheprovider", *provider, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Traceback (most" not in done.stdout + done.stderr
    return int(done.stdout.rpartition("peak ")[2])


def worst_cases() -> Iterator[tuple[str, Answer]]:
    """Yield the floods that cost the most, and replies just within the limits."""
    yield "a stream without an end", FLOODS["a stream without an end"][0]
    yield "a gzip bomb", FLOODS["a gzip bomb"][0]
    for name, answer in LIMITS.items():
        yield f"as many {name} as are read", answer
    yield "characters of four bytes", plain(content_of("\U0001f600" + "x" * LARGEST))


@pytest.mark.exhaustive
@pytest.mark.parametrize("answer", [pytest.param(answer, id=name) for name, answer in worst_cases()])
@pytest.mark.parametrize("options", [(), RECORDED], ids=["", "recorded"])
def test_memory_is_flat_whatever_a_peer_sends(answer: Answer, options: tuple[str, ...], tmp_path: Path) -> None:
    with serving(answer) as peer:
        assert peak(peer.url, tmp_path, *options) < MOST_MEMORY
        assert 1 < peer.requests


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["a gzip bomb", "a stream without an end"])
def test_memory_is_flat_while_a_flood_is_recorded(name: str, tmp_path: Path) -> None:
    with serving(FLOODS[name][0]) as peer:
        assert peak(peer.url, tmp_path, *RECORDED) < MOST_MEMORY
        assert 1 < peer.requests
