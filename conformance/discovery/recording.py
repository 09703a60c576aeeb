"""The exchanges of a discovery as a file, and a file of them as an endpoint that answers the same."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from conformance import artifacts, wires
from conformance.discovery.wires import bodies
from conformance.errors import Unusable
from conformance.files import files_of
from conformance.formats import read_path
from conformance.secrets import Scrubber
from conformance.transport.client import SIMULATOR, Inconclusive
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.native import CHAT

_SUFFIXES = (".jsonl", ".gz", ".yaml", ".har", ".json")
_HEADERS = ("content-type", "retry-after", "server")


class Recorded(NamedTuple):
    """Recorded exchanges by request, the day on which they were recorded (empty: unknown), and their wire."""

    exchanges: Mapping[str, Exchange]
    day: str
    wire: str = CHAT

    def send(self, body: Mapping[str, Any]) -> Exchange:
        """Return the recorded exchange of a request, translated; raises Inconclusive if it was not recorded."""
        wire = wires.by_name(self.wire)
        found = self.exchanges.get(_key(wire.write(body)))
        if found is None:
            message = "this request was not recorded"
            raise Inconclusive(message)
        return wire.translate_one(found)


def write_exchanges(path: Path, exchanges: Iterable[Exchange], day: str, secrets: Scrubber | None = None) -> None:
    """Write exchanges to a file of JSON Lines, which only its owner can read."""
    lines = [orjson.dumps({"date": day, **_record(exchange)}).decode() for exchange in exchanges]
    text = "".join([f"{line}\n" for line in lines])
    artifacts.write(path, (secrets or Scrubber()).text(text), private=True)


def _record(exchange: Exchange) -> dict[str, Any]:
    request, response = bodies(exchange)
    # A short request of another wire may look like one of chat completions; its address tells it.
    address = {} if exchange.native is None else {"url": exchange.url}
    return {
        **address,
        "request": request,
        "response": response,
        "status": exchange.status,
        "stream": exchange.streamed,
        "headers": {name: value for name, value in exchange.headers.items() if name in _HEADERS},
    }


def read_exchanges(path: Path, wire: str = CHAT) -> Recorded:
    """Return the exchanges of a wire in a file, or in the files of a folder.

    Raises InvalidDocument if one cannot be read, and Unusable if there is none.
    """
    found: dict[str, Exchange] = {}
    days: list[str] = []
    files = [path] if not path.is_dir() else [each for each in sorted(path.rglob("*")) if each.suffix in _SUFFIXES]
    for given in (given for file in files for given in read_path(file)):
        if given.problem is not None:
            raise given.problem
        for exchange in given.conversation:
            if isinstance(exchange.request, dict) and _wire(exchange) == wire:
                found[_key(exchange.request)] = exchange
                days += [exchange.date] if exchange.date else []
    if not found:
        raise Unusable(f"{path} holds no exchanges of the wire {wire}")
    return Recorded(found, max(days, default=""), wire)


def _wire(exchange: Exchange) -> str:
    return wires.of(exchange).name


def read_traffic(path: Path) -> tuple[Conversation, ...]:
    """Return the conversations in a file, or in the files of a folder, such as the cassettes of the proxy.

    Raises InvalidDocument if one cannot be read, and Unusable if there is none, or one of the simulator.
    """
    found = []
    for given in (given for file in files_of(str(path)) for given in read_path(file.path)):
        if given.problem is not None:
            raise given.problem
        if any(exchange.headers.get("server", "").startswith(SIMULATOR) for exchange in given.conversation):
            raise Unusable(f"{given.path} holds replies of this project's simulator, which show nothing of a provider")
        found += [given.conversation] if given.conversation else []
    if not found:
        raise Unusable(f"{path} holds no exchanges")
    return tuple(found)


def _key(body: Mapping[str, Any]) -> str:
    return json.dumps(body, sort_keys=True)
