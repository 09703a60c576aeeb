"""Recorded exchanges, drawn by a seed: of many hosts and wires, each a session of its own; none is kept here.

The floor of a corpus is `orjson.loads` of each body once, and of a stream of each payload of an event once.
"""

import gzip
import random
from collections.abc import Iterator
from typing import Any, Final

import orjson

from tests.benchmarks.corpus import SEED, Sample, Session
from tests.checking import ROOT

RECORDINGS: Final = ROOT.parent / "shared" / "recordings"
COUNT: Final = 150
_KEPT: Final = ("stream", "url", "model", "date", "recorded_at")
_SESSIONS: Final = "sessions"


def are_here() -> bool:
    """Return whether the recordings are beside the checkout."""
    return RECORDINGS.is_dir()


def drawn(count: int = COUNT, seed: int = SEED) -> list[Session]:
    """Return recorded exchanges, the same ones for the same seed."""
    source = random.Random(seed)  # noqa: S311 — repeatable, not secret
    return [[_sample(orjson.loads(line))] for line in source.sample(list(_lines()), count)]


def _lines() -> Iterator[bytes]:
    for path in sorted(RECORDINGS.glob("*.jsonl.gz")):
        if not path.name.startswith(_SESSIONS):
            with gzip.open(path) as file:
                yield from file


def _sample(record: dict[str, Any]) -> Sample:
    response = record.get("response")
    if type(response) is list:
        response = "".join([f"data: {orjson.dumps(chunk).decode()}\n\n" for chunk in response])
    is_text = type(response) is str
    request = orjson.dumps(record.get("request"))
    reply = response.encode() if type(response) is str else orjson.dumps(response)
    rest = {key: record[key] for key in _KEPT if record.get(key) is not None}
    return Sample(request, reply, _events(reply) if is_text else (), record.get("status") or 200, is_text, rest)


def _events(stream: bytes) -> tuple[bytes, ...]:
    """Return the payloads of the events in a stream that are JSON."""
    lines = [line.removeprefix(b"data:").strip() for line in stream.splitlines() if line.startswith(b"data:")]
    return tuple([line for line in lines if line.startswith((b"{", b"[")) and line != b"[DONE]"])
