"""What the proxy costs: CPU of its process for a request, and the time that it adds, against a bare aiohttp proxy.

    python -m tests.benchmarks.proxy [--requests N] [--rounds N] [--streams N]

The bare proxy passes the same bytes by the same library, and does nothing else: no copy, no check, no bounds. Both run
as processes of their own before the same provider, and each round asks one after the other over 20 kept connections;
the figures are the least over the rounds. An agent session is one conversation of 60 requests, over one connection, on
each wire; its replies are those of chat completions, so `check` has findings in each of them on other wires.
`check` is the CPU of the process that checks the copies. The time added is
that between an event's departure from the provider and its arrival at the client, less that without a proxy, with so
many streams at once; the figure is the median over all events. Exit code 1 if the proxy's process costs more than 1.3
times the bare proxy, or adds more than 2 ms.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final, NamedTuple

import orjson
import psutil
from tabulate import tabulate

from conformance.wires import NAMES, by_name
from tests.benchmarks import corpus
from tests.benchmarks.serve import chunks_of, cpu_seconds, request
from tests.benchmarks.serve import sent as posted
from tests.checking import ENVIRONMENT

MAX_RATIO: Final = 1.3
MAX_SECONDS: Final = 0.002
CONNECTIONS: Final = 20
SESSION: Final = 60
REPEATS: Final = 5
EVENTS: Final = 20
PAUSE: Final = 0.1
END: Final = b"data: [DONE]\n\n"

PROVIDER: Final = """
import asyncio, json, sys, time
plain, stream, events, pause = json.loads(sys.argv[1])
plain, chunks = plain.encode(), [each.encode() for each in stream]
head = b"HTTP/1.1 200 OK\\r\\nContent-Type: %b\\r\\n%b\\r\\n\\r\\n"
whole = head % (b"application/json", b"Content-Length: %d" % len(plain)) + plain
framed = [b"%x\\r\\n%b\\r\\n" % (len(each), each) for each in chunks]
start = head % (b"text/event-stream", b"Transfer-Encoding: chunked")
async def answer(reader, writer):
    try:
        while True:
            asked = await reader.readuntil(b"\\r\\n\\r\\n")
            lines = asked.lower().split(b"\\r\\n")
            length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
            await reader.readexactly(length)
            if asked.startswith(b"POST /paced"):
                writer.write(start)
                for _ in range(events):
                    await asyncio.sleep(pause)
                    event = b"data: %d\\n\\n" % time.monotonic_ns()
                    writer.write(b"%x\\r\\n%b\\r\\n" % (len(event), event))
                writer.write(b"e\\r\\ndata: [DONE]\\n\\n\\r\\n0\\r\\n\\r\\n")
            elif asked.startswith(b"POST /stream"):
                writer.write(start)
                for each in framed:
                    writer.write(each)
                    await asyncio.sleep(0)
                writer.write(b"0\\r\\n\\r\\n")
            else:
                writer.write(whole)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""

BARE: Final = """
import asyncio, sys
from aiohttp import ClientSession, ClientTimeout, TCPConnector, web
from conformance.transport.server import loop_factory
async def main():
    origin = sys.argv[1]
    connector = TCPConnector(limit=0)
    async with ClientSession(connector=connector, auto_decompress=False, timeout=ClientTimeout(total=None)) as session:
        async def pass_on(asked):
            headers = asked.headers.copy()
            del headers["host"]
            body = await asked.read()
            async with session.request(asked.method, origin + asked.raw_path, headers=headers, data=body) as reply:
                headers = reply.headers.copy()
                headers.pop("transfer-encoding", None)
                response = web.StreamResponse(status=reply.status, headers=headers)
                await response.prepare(asked)
                async for data in reply.content.iter_any():
                    await response.write(data)
                await response.write_eof()
            return response
        server = web.Server(pass_on, access_log=None)
        bound = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0, backlog=2048)
        print(bound.sockets[0].getsockname()[1], flush=True)
        await bound.serve_forever()
with asyncio.Runner(loop_factory=loop_factory()) as runner:
    runner.run(main())
"""


class Subject(NamedTuple):
    """A server under measurement."""

    port: int
    process: psutil.Process


@contextmanager
def server(*command: str) -> Iterator[Subject]:
    """Run a server, whose first line ends with its port."""
    words = [sys.executable, *command]
    with subprocess.Popen(
        words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as started:
        assert started.stdout is not None
        line = started.stdout.readline().strip().removesuffix("/v1")
        yield Subject(int(line.rpartition(":")[2]), psutil.Process(started.pid))
        started.terminate()
        started.communicate()


async def ask(port: int, path: str, sent: Sequence[bytes], count: int, connections: int = CONNECTIONS) -> None:
    """Send requests, again and again in their order, over some connections, and read each reply to its end."""
    end = b"\r\n0\r\n\r\n" if path == "/stream" else b"}\n"
    requests = [each.replace(b"/v1/chat/completions", path.encode(), 1) for each in sent]

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
        for number in range(count // connections):
            writer.write(requests[number % len(requests)])
            await reader.readuntil(end)
        writer.close()

    await asyncio.gather(*[one() for _ in range(connections)])


async def delays(port: int, streams: int) -> list[float]:
    """Return how long each event of many streams at once was under way, in seconds."""
    found: list[float] = []

    async def one(number: int) -> None:
        # Streams are independent of each other: their events do not come all at the same moment.
        await asyncio.sleep(PAUSE * number / streams)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request({"stream": True}, "").replace(b"/v1/chat/completions", b"/paced", 1))
        while not (line := await reader.readline()).startswith(b"data: [DONE]"):
            if line.startswith(b"data: "):
                found.append((time.monotonic_ns() - int(line[6:])) / 1e9)
        writer.close()

    await asyncio.gather(*[one(number) for number in range(streams)])
    return found


def provider_arguments() -> str:
    """Return the replies of the provider: a plain one, and a stream of some 40 events; and its pace."""
    messages = [{"role": "user", "content": "Write a poem"}]
    (plain,) = chunks_of({"messages": messages})
    chunks = [each.decode() for each in chunks_of({"messages": messages, "stream": True})]
    text = next(
        number for number, each in enumerate(chunks) if '"delta":{"content":"' in each and "null" not in each[:9]
    )
    events = [*chunks[:text], *[chunks[text]] * max(1, 40 - len(chunks)), *chunks[text + 1 :]]
    return json.dumps([plain.decode() + "\n", events, EVENTS, PAUSE])


def settled(process: psutil.Process) -> float:
    """Return the CPU seconds of a process once it has nothing left to do."""
    seen = [cpu_seconds(process)]
    while len(seen) < 4 or seen[-4] < seen[-1]:
        time.sleep(0.5)
        seen.append(cpu_seconds(process))
    return seen[-1]


def sessions() -> Iterator[tuple[str, str, list[bytes], int]]:
    """Yield an agent session on each wire, plain and streamed: its name, where its replies come from, and requests."""
    for wire in NAMES:
        session = corpus.session(SESSION) if wire == "chat" else corpus.on_wire(corpus.session(SESSION), wire)
        for form in ("plain", "stream"):
            asked = [orjson.loads(each.request) for each in session]
            if form == "stream" and wire != "gemini":
                asked = [{**each, "stream": True} for each in asked]
            path = by_name(wire).path({"model": "example-model", "stream": form == "stream"})
            # `ask` replaces this path by where the replies come from.
            sent = [posted(f"/v1/chat/completions/v1{path}", each) for each in asked]
            yield f"session, {wire}, {form}", f"/{form}", sent, REPEATS * SESSION


def cpu_rows(options: argparse.Namespace, bare: Subject, ours: Subject) -> Iterator[tuple[list[str], float]]:
    """Yield a row for each kind of reply, with the ratio of both proxies."""
    _guard, checker = ours.process.children(recursive=True)
    body = {"messages": [{"role": "user", "content": "x" * 4000}]}
    for name, path, sent, count in (
        ("plain", "/plain", [request(body, "")], options.requests),
        ("stream", "/stream", [request(body | {"stream": True}, "")], options.requests),
        *sessions(),
    ):
        if options.only and name not in options.only:
            continue
        taken: dict[str, list[float]] = {"bare": [], "ours": []}
        connections = 1 if len(sent) > 1 else CONNECTIONS
        checked = settled(checker)
        for _ in range(options.rounds + 1):
            for which, subject in (("bare", bare), ("ours", ours)):
                before = cpu_seconds(subject.process)
                asyncio.run(ask(subject.port, path, sent, count, connections))
                taken[which].append(cpu_seconds(subject.process) - before)
        # The first round pays for imports and caches.
        least = {which: min(seconds[1:]) / count for which, seconds in taken.items()}
        least["check"] = (settled(checker) - checked) / (count * (options.rounds + 1))
        ratio = least["ours"] / least["bare"]
        yield [f"CPU, {name}", *[f"{1e6 * seconds:.0f} µs" for seconds in least.values()], f"{ratio:.2f}"], ratio


def added_seconds(options: argparse.Namespace, ports: Mapping[str, int]) -> dict[str, float]:
    """Return the time that each proxy adds to an event; `direct` is the port of the provider."""
    medians: dict[str, list[float]] = {name: [] for name in ports}
    for _ in range(options.rounds):
        for name, port in ports.items():
            medians[name].append(statistics.median(asyncio.run(delays(port, options.streams))))
    return {name: min(found) - min(medians["direct"]) for name, found in medians.items()}


def measure(options: argparse.Namespace) -> tuple[list[list[str]], bool]:
    """Return the rows of the table, and whether both bounds are kept."""
    with ExitStack() as stack:
        origin = stack.enter_context(server("-c", PROVIDER, provider_arguments()))
        url = f"http://127.0.0.1:{origin.port}"
        bare = stack.enter_context(server("-c", BARE, url))
        ours = stack.enter_context(server("-m", "conformance", "proxy", "--upstream", url, "--provider", "deepseek"))
        measured = list(cpu_rows(options, bare, ours))
        added = added_seconds(options, {"direct": origin.port, "bare": bare.port, "ours": ours.port})
    rows = [row for row, _ in measured]
    rows.append(["time added", *[f"{1e3 * added[name]:.2f} ms" for name in ("bare", "ours")], "", ""])
    return rows, all(ratio <= MAX_RATIO for _, ratio in measured) and added["ours"] <= MAX_SECONDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000, help="requests of a round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", help="only this kind of request; repeatable")
    parser.add_argument("--streams", type=int, default=100, help="concurrent streams (default: %(default)s)")
    rows, kept = measure(parser.parse_args())
    print(tabulate(rows, headers=["", "bare", "proxy", "check", "x bare"]))
    return int(not kept)


if __name__ == "__main__":
    raise SystemExit(main())
