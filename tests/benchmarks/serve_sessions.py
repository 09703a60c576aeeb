"""What a long session of an agent costs the simulator: milliseconds a request, at its beginning and at its end.

    python -m tests.benchmarks.serve_sessions [--exchanges N] [--bytes N] [--wire NAME…]

An agent asks `conformance serve` over one kept connection and sends its whole history each time: what the model said
as it came, and a result of so many bytes after each call. The CPU time of the server's process counts. Exit code 1 if
a request at the end, which repeats hundreds of messages, costs more than 4 times one at the beginning.
"""

import argparse
import http.client
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tabulate import tabulate

from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT, OWN
from conformance.wires import Wire, by_name
from tests.benchmarks.serve import MODELS, PROVIDERS, cpu_seconds, on_wire, server

MAX_GROWTH: Final = 4.0
_SHOWN: Final = 20
"""So many requests at the beginning and at the end count; fewer take less than the clock of the kernel shows."""
_INSTRUCTIONS: Final = "You are an agent that looks after a repository. " * 80
_WORDS: Final = "The file was read, line by line, and nothing in it looks wrong so far. "
_TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name} in the repository, as the user asks",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string", "description": "the path of a file"}},
                "required": ["path"],
            },
        },
    }
    for name in ("read_file", "write_file", "list_files", "search", "run")
]


class Asked(NamedTuple):
    """A request of the session: how large it was, and the CPU seconds of the server that it took."""

    size: int
    seconds: float


def played(wire: str, exchanges: int, size: int, *, streams: bool = False) -> Iterator[Asked]:
    """Play a session on a wire, and yield what each request took."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": _INSTRUCTIONS},
        {"role": "user", "content": "Look through the repository."},
    ]
    native = by_name(wire)
    with server("-m", "conformance", "serve", "--provider", PROVIDERS[wire], "--port", "0") as (port, process):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for number in range(exchanges):
            asked = {"tools": _TOOLS, "messages": messages, "max_tokens": 8000, **({"stream": True} if streams else {})}
            path, body = _path_and_body(wire, asked)
            sent = json.dumps(body).encode()
            before = cpu_seconds(process)
            connection.request("POST", path, sent, {"content-type": "application/json"})
            response = connection.getresponse()
            content = response.read()
            yield Asked(len(sent), cpu_seconds(process) - before)
            assert response.status == 200, content
            messages.append(_said(native, path, body, content.decode()))
            messages += _answers(messages[-1], number, size)
        connection.close()


def _path_and_body(wire: str, asked: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the path and the body of a request, with its own messages instead of those of the other benchmark."""
    return on_wire(wire, {"model": MODELS[wire], **asked}, "")


def _said(wire: Wire, path: str, body: Any, content: str) -> dict[str, Any]:
    """Return what the model said, as a client sends it back."""
    exchange = Exchange(body, content, 200, url=path)
    translated = exchange if wire.name == CHAT else wire.translate_one(exchange)
    if translated.streamed:
        from conformance.wire.index import Index

        message = dict(Index((translated,)).replies[0].message)
    else:
        message = dict(translated.response["choices"][0]["message"])
    return message if translated.native is None else {**message, OWN: wire.writing.own(translated.native)}


def _answers(message: Mapping[str, Any], number: int, size: int) -> list[dict[str, Any]]:
    """Return what comes after what the model said: the results of its calls, or the next words of the user."""
    words = f"{number}: " + _WORDS * (size // len(_WORDS))
    calls = message.get("tool_calls") or ()
    results = [{"role": "tool", "tool_call_id": call["id"], "content": words} for call in calls]
    return results or [{"role": "user", "content": f"Go on with part {number}."}]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exchanges", type=int, default=200, help="exchanges of the session (default: %(default)s)")
    parser.add_argument("--bytes", type=int, default=4000, help="bytes of each result (default: %(default)s)")
    parser.add_argument("--wire", choices=list(PROVIDERS), action="append", help="only this one; repeatable")
    parser.add_argument("--stream", action="store_true", help="ask for streams")
    options = parser.parse_args()
    rows, worst = [], 0.0
    for wire in options.wire or PROVIDERS:
        found = list(played(wire, options.exchanges, options.bytes, streams=options.stream))
        # The first ones pay for imports.
        early, late = found[_SHOWN : 2 * _SHOWN], found[-_SHOWN:]
        costs = [1000 * sum([each.seconds for each in part]) / len(part) for part in (early, late)]
        worst = max(worst, costs[1] / costs[0])
        sizes = [f"{sum([each.size for each in part]) / len(part) / 1000:.0f} kB" for part in (early, late)]
        row = [wire, *itertools.chain(*zip(sizes, [f"{each:.2f} ms" for each in costs], strict=True))]
        rows.append(row)
        print(*row, sep=" | ", flush=True)
    titles = ["wire", "size at first", "a request", "size at last", "a request"]
    print(tabulate(rows, headers=titles, disable_numparse=True))
    return int(worst > MAX_GROWTH)


if __name__ == "__main__":
    raise SystemExit(main())
