"""What is fuzzed: each target makes an input from seeds, runs it, and checks what must hold of any input."""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from conformance import profiles
from conformance.convert import dialects, parse_reply, prepare
from conformance.errors import InvalidDocument, Unusable
from conformance.files import Checker, File, Task
from conformance.formats import KINDS, read
from conformance.judge import check
from conformance.simulator import Simulator
from conformance.transport.http import HttpRequest
from conformance.wire import sse
from conformance.wire.assemble import assemble
from conformance.wire.plain import plain
from tests.fuzz import judged, mutation, own_files, seeds
from tests.fuzz.own_files import assert_judged, message
from tests.fuzz.seeds import Pool, exchange
from tests.hostile.test_simulator_fuzz import ENDPOINTS, METHODS, TYPES, VARIANTS, assert_sound

Input = Any
"""A JSON value, so that any input can be written to a file; bytes are strings of one character per byte."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something that takes input from outside.

    `pools`: the seeds, given a number and a folder of recordings or None. `make`: draws an input from them. `run`
    gets a folder for its files, returns what came of an input, which is always the same, and fails an assertion if
    something is wrong; any exception that it raises is a fault. `share`: its part of a thousand inputs.
    """

    name: str
    pools: Callable[[int, Path | None], Pool]
    make: Callable[[Random, Pool], Input]
    run: Callable[[Input, Path], Any]
    share: int


def _pick(rng: Random, pool: Pool) -> Any:
    return json.loads(rng.choice(pool))


def _mutated(rng: Random, pool: Pool) -> Any:
    return mutation.value(rng, _pick(rng, pool), _pick(rng, pool))


def _provider(rng: Random) -> str | None:
    return rng.choice(profiles.names()) if rng.random() < 0.6 else None


def _make_exchange(rng: Random, pool: Pool) -> Input:
    drawn = _mutated(rng, pool)
    records = drawn if isinstance(drawn, list) else [drawn]
    chosen = [_with_text(rng, rng.choice(records))] if records else []
    return {"provider": _provider(rng), "as_of": rng.choice(("", "", "2026-01-31", "x")), "exchanges": chosen}


def _make_conversation(rng: Random, pool: Pool) -> Input:
    records: list[Any] = []
    for _ in range(rng.randint(1, 3)):
        records += _pick(rng, pool)
    drawn = mutation.value(rng, records, _pick(rng, pool))
    exchanges = [_with_text(rng, each) for each in drawn] if isinstance(drawn, list) else [drawn]
    return {"provider": _provider(rng), "as_of": "", "exchanges": exchanges}


def _with_text(rng: Random, given: Any) -> Any:
    """Return a record; now and then one of its bodies becomes text, with a few characters changed."""
    if isinstance(given, dict) and rng.random() < 0.2:
        name = rng.choice(("request", "response"))
        body = seeds.stream_text(given.get(name))
        given[name] = mutation.text(rng, body if isinstance(body, str) else json.dumps(body))
    return given


def _check(given: Input, _folder: Path) -> Any:
    try:
        exchanges = [exchange(each) for each in given["exchanges"]]
        same = [exchange(each) for each in given["exchanges"]]
    except (TypeError, InvalidDocument) as error:
        return str(error)
    outcomes = check(exchanges, given["provider"], as_of=given["as_of"])
    assert same == exchanges, "check changed an exchange"
    assert_judged(outcomes)
    return outcomes


def _make_file(rng: Random, pool: Pool) -> Input:
    """Draw a file: its values are changed before it is written, its bytes after."""
    drawn, other = _pick(rng, pool), _pick(rng, pool)
    name = drawn["name"]
    if "value" in drawn:
        drawn_value = mutation.value(rng, drawn["value"], other) if rng.random() < 0.7 else drawn["value"]
        data = seeds.as_file(name, drawn_value)
    else:
        data = drawn["text"].encode("latin-1")
    donor = other["text"].encode("latin-1") if "text" in other else b""
    if "text" in drawn or rng.random() < 0.3:
        data = mutation.data(rng, data, donor)
    if rng.random() < 0.05:
        data = (
            mutation.data(rng, gzip.compress(data, mtime=0), b"")
            if rng.random() < 0.7
            else gzip.compress(data, mtime=0)
        )
    name = rng.choice((name, name, name, "x", "x.json", "x.jsonl", "x.yaml", "x.sse", "x.har.gz"))
    return {"name": name, "data": data.decode("latin-1")}


def _read_file(given: Input, _folder: Path) -> Any:
    name, found, end = given["name"], [], ""
    try:
        for each in read(given["data"].encode("latin-1"), name):
            assert each.kind in KINDS, each.kind
            assert each.problem is None or each.conversation == ()
            found.append((each._replace(problem=None), str(each.problem)))
    except InvalidDocument as error:
        end = message(error, name)
    return found, end


def _check_file(given: Input, folder: Path) -> Any:
    """Check a file as the command line does, and report it as JSON."""
    path = folder / given["name"]
    path.write_bytes(given["data"].encode("latin-1"))
    checker = _checker()
    reports = []
    for checked in checker.file(File(path)):
        assert not checked.counts["errored", ""], checked.report
        reports.append(json.dumps(checked.report))
    assert reports, "a file without a report"
    return reports


def _make_events(rng: Random, pool: Pool) -> Input:
    data = mutation.data(rng, _pick(rng, pool).encode("latin-1"), _pick(rng, pool).encode("latin-1"))
    cuts = sorted(rng.randint(0, len(data)) for _ in range(rng.randrange(8)))
    if rng.random() < 0.1:
        cuts = list(range(min(len(data), 3000)))
    return {"data": data.decode("latin-1"), "cuts": cuts}


def _read_events(given: Input, _folder: Path) -> Any:
    """Read a stream as a whole and in pieces: the events are the same, and add up to the same reply."""
    data, cuts = given["data"].encode("latin-1"), given["cuts"]
    whole = sse.read(data)
    decoder, events = sse.Decoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        events += decoder.feed(data[start:end])
    assert whole == decoder.close(), "a stream in pieces reads differently"
    assert whole.events == tuple(events), "the events in pieces differ"
    if not whole.invalid_utf8:
        decoded = data.decode("utf-8", "replace")
        # What ends inside a character was cut there: as text, it ends with U+FFFD.
        assert decoded.encode() != data or whole == sse.read(decoded), "text reads differently from its bytes"
    bounded = sse.read(data, sse.StreamBounds(length=200, events=3))
    assert len(bounded.data) <= 3
    return assemble(whole)


def _make_conversion(rng: Random, pool: Pool) -> Input:
    drawn, other = _pick(rng, pool), _pick(rng, pool)
    changed = mutation.value(rng, drawn["value"], other["value"]) if rng.random() < 0.95 else drawn["value"]
    source = drawn["source"] if rng.random() < 0.95 else other["source"]
    return {"source": source, "target": rng.choice(("canonical", *dialects.names())), "value": changed}


def _convert(given: Input, _folder: Path) -> Any:
    """Convert a conversation: what is valid in its dialect converts to any other without an error."""
    if not _is_plain(given["value"]):
        return None
    try:
        return dialects.convert(given["value"], given["source"], given["target"])
    except InvalidDocument as error:
        return message(error, dialects.INPUT)


def _make_prepared(rng: Random, pool: Pool) -> Input:
    return {"provider": _provider(rng), "value": _mutated(rng, pool)}


def _prepare(given: Input, _folder: Path) -> Any:
    if not _is_plain(given["value"]):
        return None
    try:
        return prepare(given["value"], given["provider"])
    except InvalidDocument as error:
        return message(error, dialects.INPUT)


def _parse_reply(given: Input, _folder: Path) -> Any:
    reply = seeds.stream_text(given["value"])
    if not _is_plain(reply):
        return None
    if not isinstance(reply, (dict, str)):
        reply = json.dumps(reply)
    try:
        return parse_reply(reply, given["provider"])
    except (InvalidDocument, Unusable) as error:
        return str(error)


def _is_plain(given: Any) -> bool:
    """Return whether JSON can hold a value; for any other, a TypeError is right."""
    try:
        plain(given, ("response",))
    except TypeError:
        return False
    return True


def _make_request(rng: Random, pool: Pool) -> Input:
    usual = rng.random() < 0.85
    path = rng.choice(VARIANTS) + (ENDPOINTS[0] if usual else rng.choice(ENDPOINTS))
    if rng.random() < 0.05:
        path = mutation.text(rng, path)
    body = json.dumps(_mutated(rng, pool)).encode()
    if rng.random() < 0.15:
        body = mutation.data(rng, body, b"")
    return {
        "provider": rng.choice(profiles.names()),
        "method": "POST" if usual else rng.choice(METHODS),
        "path": path,
        "type": TYPES[0] if usual else rng.choice(TYPES),
        "body": body.decode("latin-1"),
    }


def _answer(given: Input, _folder: Path) -> Any:
    headers = {"content-type": given["type"]} if given["type"] else {}
    request = HttpRequest(given["method"], given["path"], headers, given["body"].encode("latin-1"))
    reply = _simulator(given["provider"]).answer(request)
    assert_sound(given["provider"], request, reply)
    return reply


@cache
def _simulator(provider: str) -> Simulator:
    return Simulator(profiles.load(provider))


@cache
def _checker() -> Checker:
    return Checker(Task(provider="auto", lines=True))


TARGETS: Final = {
    each.name: each
    for each in (
        Target("check", seeds.conversations, _make_exchange, _check, 100),
        Target("check-conversation", seeds.conversations, _make_conversation, _check, 70),
        Target("wires", judged.pool, judged.make_claimed, judged.check_wires, 240),
        Target("twins", judged.pool, judged.make_twins, judged.check_twins, 60),
        Target("proxy", judged.pool, judged.make_conversation, judged.check_proxied, 50),
        Target("command", judged.pool, judged.make_command, judged.command, 20),
        Target("simulator-wires", judged.pool, judged.make_request, judged.simulate, 50),
        Target("to-canonical", judged.pool, judged.make_native, judged.canonical, 50),
        Target("from-canonical", judged.pool, judged.make_transcript, judged.native, 40),
        Target("prepare-wires", judged.pool, judged.make_transcript, judged.prepared, 40),
        Target("parse-reply", judged.pool, judged.make_reply, judged.replied, 20),
        Target("formats", seeds.files, _make_file, _read_file, 60),
        Target("files", seeds.files, _make_file, _check_file, 40),
        Target("logs", lambda seed, _: seeds.logs(seed), _make_file, _check_file, 50),
        Target("events", lambda seed, _: seeds.events(seed), _make_events, _read_events, 30),
        Target("dialects", lambda seed, _: seeds.dialects(seed), _make_conversion, _convert, 20),
        Target("prepare", lambda seed, _: seeds.messages(seed), _make_prepared, _prepare, 10),
        Target("replies", lambda seed, _: seeds.provider_replies(seed), _make_prepared, _parse_reply, 10),
        Target("simulator", lambda seed, _: seeds.bodies(seed), _make_request, _answer, 20),
        Target("cassettes", lambda seed, _: seeds.recordings(seed), own_files.make_cassette, own_files.replay, 10),
        Target("definitions", lambda seed, _: seeds.definitions(seed), own_files.make, own_files.read, 10),
    )
}
"""Every target by name."""
