"""What serving the simulator costs: CPU of its process for a request, against a bare aiohttp server.

    python -m tests.benchmarks.serve [--requests N] [--rounds N]

The bare server reads the body and sends the same chunks, and nothing else. Both run as processes of their own, and
each round asks one after the other, over 20 kept connections; the figures are the least CPU times over the rounds.
`repeated` requests have the same bytes, as those of a load test; of `distinct` ones each is new, so each is checked and
its reply derived. Exit code 1 if repeated requests cost more than 1.5 times the bare server.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psutil
from tabulate import tabulate

from conformance import profiles
from conformance.simulator import Simulator
from conformance.transport.http import HttpRequest
from tests.checking import ENVIRONMENT

MAX_RATIO = 1.5
CONNECTIONS = 20
PATH = "/v1/chat/completions"
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}
BARE = """
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
BODIES: dict[str, dict[str, Any]] = {
    "plain": {"messages": [{"role": "user", "content": "Hello"}]},
    "stream": {"messages": [{"role": "user", "content": "Hello"}], "stream": True},
    "stream of a call": {"messages": [{"role": "user", "content": "Weather?"}], "tools": [TOOL], "stream": True},
}


@contextmanager
def server(*command: str) -> Iterator[tuple[int, psutil.Process]]:
    """Run a server and yield its port, the last number of its first line, and its process."""
    with subprocess.Popen([sys.executable, *command], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        yield int(started.stdout.readline().rpartition(":")[2]), psutil.Process(started.pid)
        started.terminate()


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def request(body: dict[str, Any], user: str) -> bytes:
    content = json.dumps({"model": "m", "user": user, **body}).encode()
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
    )
    return head.encode() + b"\r\n\r\n" + content


async def ask(port: int, requests: list[bytes], end: bytes) -> None:
    """Send the requests over some connections and read each reply up to its last bytes."""

    async def one(share: list[bytes]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for sent in share:
            writer.write(sent)
            await reader.readuntil(end)
        writer.close()

    await asyncio.gather(*[one(requests[number::CONNECTIONS]) for number in range(CONNECTIONS)])


def chunks_of(body: dict[str, Any]) -> list[bytes]:
    sent = request(body, "").partition(b"\r\n\r\n")[2]
    asked = HttpRequest("POST", PATH, {"content-type": "application/json"}, sent)
    reply = Simulator(profiles.load("deepseek")).answer(asked)
    return [reply.body] if isinstance(reply.body, bytes) else list(reply.body)


def measure(body: dict[str, Any], count: int, rounds: int) -> dict[str, float]:
    """Return the least CPU seconds for a request: of the bare server, and of ours for both kinds of requests."""
    chunks = chunks_of(body)
    end = chunks[0][-12:] if len(chunks) == 1 else b"\r\n0\r\n\r\n"
    serial = iter(range(10**9))
    repeated = [request(body, "")] * count

    def distinct() -> list[bytes]:
        return [request(body, str(next(serial))) for _ in range(count)]

    with (
        server("-c", BARE, json.dumps([chunk.decode("latin-1") for chunk in chunks])) as bare,
        server("-m", "conformance", "serve", "--provider", "deepseek", "--port", "0") as ours,
    ):
        subjects: dict[str, tuple[tuple[int, psutil.Process], Callable[[], list[bytes]]]] = {
            "bare": (bare, lambda: repeated),
            "repeated": (ours, lambda: repeated),
            "distinct": (ours, distinct),
        }
        seconds: dict[str, list[float]] = {name: [] for name in subjects}
        for _ in range(rounds + 1):
            for name, ((port, process), requests) in subjects.items():
                before = cpu_seconds(process)
                asyncio.run(ask(port, requests(), end))
                seconds[name].append(cpu_seconds(process) - before)
    # The first round pays for imports and caches.
    return {name: min(taken[1:]) / count for name, taken in seconds.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=4000, help="requests of a round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    found = {name: measure(body, options.requests, options.rounds) for name, body in BODIES.items()}
    rows = [
        [name, *[f"{1e6 * taken[each]:.0f} µs" for each in taken]]
        + [f"{taken[each] / taken['bare']:.2f}" for each in ("repeated", "distinct")]
        for name, taken in found.items()
    ]
    print(tabulate(rows, headers=["CPU per request", "bare", "repeated", "distinct", "x bare", "x bare, distinct"]))
    return int(any(taken["repeated"] > MAX_RATIO * taken["bare"] for taken in found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
