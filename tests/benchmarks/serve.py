"""What serving the simulator costs: its process for a request, against a bare aiohttp server.

    python -m tests.benchmarks.serve [--requests N] [--rounds N] [--wire NAME…] [--seconds]

The bare server reads the body and sends the same chunks, and nothing else. Both run as processes of their own, and are
asked over 20 kept connections. `repeated` requests have the same bytes, as those of a load test; of `distinct` ones
each has other words of the user, and of `unlike` ones other instructions, so that each is judged alone. Instructions
are counted by callgrind, after a round to warm up; without it, or with `--seconds`, the least CPU time over some rounds
counts. Exit code 1 if repeated requests cost more than 1.5 times the bare server, or distinct ones more than 4 times;
what unlike ones cost has no bound.
"""

import argparse
import asyncio
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil
from tabulate import tabulate

from conformance import profiles
from conformance.simulator import Simulator
from conformance.transport.http import HttpRequest
from conformance.wires import by_name
from tests.checking import ENVIRONMENT

MAX_RATIO: Final = {"repeated": 1.5, "distinct": 4.0}
CONNECTIONS: Final = 20
PATH: Final = "/v1/chat/completions"
PROVIDERS: Final = {"chat": "deepseek", "messages": "anthropic", "responses": "openai", "gemini": "gemini"}
MODELS: Final = {"chat": "m", "messages": "claude-sonnet-4-5", "responses": "gpt-5", "gemini": "gemini-2.5-flash"}
TOOL: Final = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}},
}
BARE: Final = """
import asyncio, json, sys
from aiohttp import web
chunks = [bytes(each, "latin-1") for each in json.loads(sys.argv[1])]
async def answer(request):
    await request.read()
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    for chunk in chunks:
        await response.write(chunk)
    await response.write_eof()
    return response
async def plain(request):
    await request.read()
    return web.Response(body=chunks[0], headers={"content-type": "application/json"})
async def main():
    handler = plain if len(chunks) == 1 else answer
    server = await asyncio.get_running_loop().create_server(web.Server(handler, access_log=None), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
BODIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "plain": {},
    "stream": {"stream": True},
    "stream of a call": {"tools": [TOOL], "stream": True},
}
_LENGTH: Final = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_TOTALS: Final = re.compile(r"^(?:totals|summary):\s+(\d+)", re.MULTILINE)


class Server(NamedTuple):
    """A server under measurement."""

    port: int
    process: psutil.Process


@contextmanager
def server(*command: str, counted: Path | None = None) -> Iterator[Server]:
    """Run a server, whose first line ends with its port; under callgrind if there is a folder for its files."""
    words = [sys.executable, *command]
    if counted is not None:
        words = [
            "valgrind",
            "-q",
            "--tool=callgrind",
            "--instr-atstart=no",
            f"--callgrind-out-file={counted}/out",
            *words,
        ]
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        yield Server(int(started.stdout.readline().rpartition(":")[2]), psutil.Process(started.pid))
        started.kill()


def cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU time of a process; where the scheduler counts nanoseconds, not in steps of 10 ms."""
    threads = [each.read_text("ascii").split()[0] for each in Path(f"/proc/{process.pid}/task").glob("*/schedstat")]
    if threads:
        return sum(map(int, threads)) / 1e9
    times = process.cpu_times()
    return float(times.user + times.system)


def request(body: Mapping[str, Any], user: str) -> bytes:
    """Return a request of chat completions as it is sent."""
    return sent(PATH, {"model": "m", "user": user, **body})


def sent(path: str, body: Any) -> bytes:
    """Return a request as it is sent."""
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
    )
    return head.encode() + b"\r\n\r\n" + content


def on_wire(wire: str, body: Mapping[str, Any], said: str) -> tuple[str, Any]:
    """Return the path and the body of a request with some words of the user."""
    asked = {"model": MODELS[wire], "messages": [{"role": "user", "content": said}], **body}
    if wire == "chat":
        return PATH, asked
    found = by_name(wire)
    version = "/v1beta" if wire == "gemini" else "/v1"
    return f"{version}{found.path(asked)}", found.writing.request(asked)


async def ask(port: int, requests: Sequence[bytes]) -> None:
    """Send the requests over some connections and read each reply to its end."""

    async def one(share: Sequence[bytes]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for each in share:
            writer.write(each)
            head = await reader.readuntil(b"\r\n\r\n")
            if length := _LENGTH.search(head):
                await reader.readexactly(int(length[1]))
            else:
                await reader.readuntil(b"\r\n0\r\n\r\n")
        writer.close()

    await asyncio.wait_for(asyncio.gather(*[one(requests[number::CONNECTIONS]) for number in range(CONNECTIONS)]), 300)


def chunks_of(body: Mapping[str, Any]) -> list[bytes]:
    """Return the chunks of the reply to a request of chat completions."""
    return chunks_at(PATH, {"model": "m", "user": "", **body}, "deepseek")


def chunks_at(path: str, body: Any, provider: str) -> list[bytes]:
    """Return the chunks of the reply to a request."""
    asked = HttpRequest("POST", path, {"content-type": "application/json"}, json.dumps(body).encode())
    reply = Simulator(profiles.load(provider)).answer(asked)
    assert reply.status == 200, reply.body
    return [reply.body] if isinstance(reply.body, bytes) else list(reply.body)


def seconds_of(process: psutil.Process) -> Callable[[Callable[[], None]], float]:
    """Return what measures the CPU seconds that a process takes while something is done."""

    def measured(done: Callable[[], None]) -> float:
        before = cpu_seconds(process)
        done()
        return cpu_seconds(process) - before

    return measured


def instructions_of(process: psutil.Process, dumps: Path) -> Callable[[Callable[[], None]], float]:
    """Return what counts the instructions that a process under callgrind takes while something is done."""

    # What is not counted runs several times as fast.
    control(process, "--instr=on")

    def counted(done: Callable[[], None]) -> float:
        control(process, "--zero")
        done()
        before = set(dumps.iterdir())
        control(process, "--dump")
        (made,) = {*dumps.iterdir()} - before
        found = _TOTALS.search(made.read_text("utf-8", "replace"))
        assert found is not None, made
        return float(found[1])

    return counted


def control(process: psutil.Process, *words: str) -> None:
    subprocess.run([str(shutil.which("callgrind_control")), *words, str(process.pid)], check=True, capture_output=True)


class Kind(NamedTuple):
    """A kind of request: its wire, its path, how a body is made of words of the user, and the chunks of a reply.

    `unlike`: how a body is made of instructions.
    """

    wire: str
    path: str
    body: Callable[[str], Any]
    unlike: Callable[[str], Any]
    chunks: list[bytes]

    def requests(self, words: Sequence[str], name: str = "") -> list[bytes]:
        made = self.unlike if name == "unlike" else self.body
        return [sent(self.path, made(each)) for each in words]


def kind_of(wire: str, body: Mapping[str, Any]) -> Kind:
    path, asked = on_wire(wire, body, "Hello")
    user = {"role": "user", "content": "Hello"}

    def instructed(said: str) -> Any:
        return on_wire(wire, {**body, "messages": [{"role": "system", "content": said}, user]}, "")[1]

    chunks = chunks_at(path, asked, PROVIDERS[wire])
    return Kind(wire, path, lambda said: on_wire(wire, body, said)[1], instructed, chunks)


def measure(kind: Kind, options: argparse.Namespace) -> dict[str, float]:
    """Return what a request costs: of the bare server, and of ours for repeated, distinct and unlike requests."""
    serial = itertools.count()
    repeated = kind.requests(["Hello"] * options.requests)
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch, name) for name in ("bare", "ours")]
        commands = (
            ("-c", BARE, json.dumps([chunk.decode("latin-1") for chunk in kind.chunks])),
            ("-m", "conformance", "serve", "--provider", PROVIDERS[kind.wire], "--port", "0"),
        )
        for folder, command, names in zip(
            folders, commands, (("bare",), ("repeated", "distinct", "unlike")), strict=True
        ):
            folder.mkdir()
            with server(*command, counted=None if options.seconds else folder) as (port, process):
                measuring = seconds_of(process) if options.seconds else instructions_of(process, folder)
                for name in names:
                    rounds = []
                    for _ in range(options.rounds + 1):
                        asked = repeated
                        if name in ("distinct", "unlike"):
                            words = [f"Hello {next(serial)}" for _ in range(options.requests)]
                            asked = kind.requests(words, name)
                        rounds.append(measuring(partial(_asked, port, asked)))
                    # The first round pays for imports and caches.
                    found[name] = min(rounds[1:]) / options.requests
    return found


def _asked(port: int, requests: Sequence[bytes]) -> None:
    asyncio.run(ask(port, requests))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=400, help="requests of a round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, help="default: 1, or 5 with --seconds")
    parser.add_argument("--wire", choices=list(PROVIDERS), action="append", help="only this one; repeatable")
    parser.add_argument("--seconds", action="store_true", help="measure CPU time instead of instructions")
    options = parser.parse_args()
    options.seconds |= shutil.which("callgrind_control") is None
    options.rounds = options.rounds or (5 if options.seconds else 1)
    rows, worst = [], dict.fromkeys(MAX_RATIO, 0.0)
    for wire in options.wire or PROVIDERS:
        for name, body in BODIES.items():
            taken = measure(kind_of(wire, body), options)
            ratios = {each: taken[each] / taken["bare"] for each in (*MAX_RATIO, "unlike")}
            worst = {each: max(worst[each], ratios[each]) for each in MAX_RATIO}
            rows.append(
                [wire, name, *[_shown(cost) for cost in taken.values()], *[f"{each:.2f}" for each in ratios.values()]]
            )
    unit = "CPU" if options.seconds else "instructions"
    names = ["bare", "repeated", "distinct", "unlike"]
    titles = ["wire", f"{unit} per request", *names, "x bare", "x bare, distinct", "x bare, unlike"]
    print(tabulate(rows, headers=titles, disable_numparse=True))
    return int(any(worst[each] > bound for each, bound in MAX_RATIO.items()))


def _shown(cost: float) -> str:
    return f"{1e6 * cost:.0f} µs" if cost < 1 else f"{cost / 1000:.0f} k"


if __name__ == "__main__":
    raise SystemExit(main())
