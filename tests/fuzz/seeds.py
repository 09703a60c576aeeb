"""What the fuzzer mutates: committed fixtures and cassettes, bad examples of rules, and what the strategies draw.

Every seed is the JSON text of an input, so that each mutation begins with a fresh copy.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance import rules
from conformance.documents import read_json, read_yaml
from conformance.errors import InvalidDocument
from conformance.formats import read_path
from conformance.resources import folder
from conformance.strategies import faults, replies, requests, streams, transcripts
from conformance.wire.exchange import Conversation, Exchange

Pool: TypeAlias = Sequence[str]
"""The JSON texts of seeds."""

FIELDS: Final = ("request", "response", "status", "streamed", "headers", "url", "model", "date")
_PACKAGE: Final = Path(rules.__file__).parents[1]
_DRAWN: Final = 40
_DRAWN_BYTES: Final = 4000
_LARGEST: Final = 20_000
_CASSETTES: Final = 40
_URL: Final = "https://api.example.test/v1/chat/completions"


def random(*parts: object) -> Random:
    """Return a source of randomness that depends on nothing but its parts."""
    return Random("/".join(map(str, parts)))  # noqa: S311 — it has to be repeatable


def drawn(strategy: st.SearchStrategy[Any], seed: object, count: int = _DRAWN) -> list[Any]:
    """Return values of a strategy; those of a seed are always the same, whatever else is imported."""
    values: list[Any] = []

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(each: Any) -> None:
        values.append(each)

    rng = random("drawn", seed)
    for _ in range(count):
        collect.hypothesis.fuzz_one_input(rng.randbytes(_DRAWN_BYTES))  # type: ignore[attr-defined]
    return values


def record(exchange: Exchange) -> dict[str, Any]:
    """Return the fields of an exchange that are not empty."""
    return {name: each for name in FIELDS if (each := getattr(exchange, name)) not in (None, "", {}, False)}


def exchange(record: Any) -> Exchange:
    """Return the exchange of a record; raises as `Exchange` does."""
    if not isinstance(record, Mapping):
        return Exchange(response=stream_text(record))
    known = {name: record[name] for name in FIELDS if name in record}
    return Exchange(**{**known, "response": stream_text(known.get("response"))})


@cache
def conversations(seed: int, corpus: Path | None) -> Pool:
    """Return conversations as lists of records; a stream is a list of its chunks where the fixture has it so."""
    found: list[Any] = [_as_list(read_json(path)) for path in _files(folder("fixtures") / "wire", "*.json")]
    found += [[{"response": path.read_bytes().decode("utf-8", "replace")}] for path in _streams()]
    found += [_records(bad.conversation()) for rule in rules.load() for bad in rule.bad]
    found += [[{"request": each}] for each in drawn(requests(), seed)]
    found += [[{"response": data.decode()}] for data, _ in drawn(streams(), seed)]
    found += [_records(each.conversation) for each in drawn(faults(), seed)]
    found += [_records(each) for path in cassettes() for each in _recorded(path)]
    found += [_records(each) for path in _of_corpus(corpus) for each in _recorded(path)]
    return _texts(found)


@cache
def files(seed: int, corpus: Path | None) -> Pool:
    """Return files as `{name, value}` or, if they are not JSON, `{name, text}` with one character per byte."""
    found: list[Any] = []
    for exchanges in map(json.loads, conversations(seed, None)[::9]):
        found += [{"name": "x.json", "value": each} for each in (exchanges, exchanges[0], {"exchanges": exchanges})]
        found += [{"name": f"x.{suffix}", "value": exchanges} for suffix in ("jsonl", "har", "yaml", "httprr")]
        found += [{"name": "x.json", "value": each} for item in exchanges for each in item.values()]
    found += [{"name": "x.sse", "text": path.read_bytes().decode("latin-1")} for path in _streams()]
    found += [{"name": path.name, "text": _latin(path)} for path in _files(folder("fixtures") / "bytes", "*.*")]
    found += [{"name": path.name, "text": _latin(path)} for path in cassettes()]
    found += [{"name": path.name, "text": _latin(path)} for path in _of_corpus(corpus) if path.suffix != ".gz"]
    return _texts(found)


@cache
def logs(_seed: int) -> Pool:
    """Return files of other tools, whole and line by line, as `files` does."""
    found: list[Any] = []
    for path in _files(folder("fixtures") / "formats", "*.*"):
        found.append({"name": path.name, "text": _latin(path)})
        if path.suffix in (".json", ".har"):
            found.append({"name": path.name, "value": read_json(path)})
        elif path.suffix == ".jsonl":
            values = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            found += [{"name": path.name, "value": values}, *[{"name": path.name, "value": [each]} for each in values]]
    return _texts(each for each in found if each["name"] != "README.md")


@cache
def events(seed: int) -> Pool:
    """Return the bytes of event streams, one character per byte."""
    return _texts(
        [_latin(path) for path in _streams()] + [data.decode("latin-1") for data, _ in drawn(streams(), seed)]
    )


@cache
def messages(seed: int) -> Pool:
    """Return canonical transcripts: those of the dialects' fixtures, and drawn ones."""
    return _texts([vector["canonical"] for _, vector in _vectors()] + drawn(transcripts(), seed))


@cache
def dialects(seed: int) -> Pool:
    """Return conversations of the dialects, each as `{source, value}`."""
    found = [{"source": name, "value": vector["native"]} for name, vector in _vectors()]
    return _texts(found + [{"source": "canonical", "value": each} for each in map(json.loads, messages(seed))])


@cache
def bodies(seed: int) -> Pool:
    """Return request bodies: drawn ones, and those of the conversations."""
    sent = [
        item["request"] for each in map(json.loads, conversations(seed, None)) for item in each if "request" in item
    ]
    return _texts([*drawn(requests(), seed), *sent])


@cache
def provider_replies(seed: int) -> Pool:
    """Return the bodies and streams of replies, and messages."""
    sent = [
        item["response"] for each in map(json.loads, conversations(seed, None)) for item in each if "response" in item
    ]
    return _texts([*drawn(replies(), seed), *sent])


@cache
def definitions(_seed: int) -> Pool:
    """Return this project's own YAML files, each as `{kind, text}` or `{kind, value}`."""
    places = {
        "profile": _files(_PACKAGE / "profiles", "*.yaml"),
        "scenario": _files(_PACKAGE / "scenarios", "[!_]*.yaml"),
        "engine": _files(_PACKAGE / "engines", "*.yaml"),
        "adapter": _files(_PACKAGE / "adapters" / "sdks", "*/adapter.yaml"),
        "manifest": _files(folder("cassettes"), "*/manifest.yaml")[:8],
    }
    found: list[Any] = []
    for kind, paths in places.items():
        for path in paths:
            if path.stat().st_size <= _LARGEST:
                found += [{"kind": kind, "text": _latin(path)}, {"kind": kind, "value": read_yaml(path).value}]
    for path in _files(_PACKAGE.parent / "reports" / "results", "*.json"):
        if path.stat().st_size <= _LARGEST:
            found.append({"kind": "results", "value": read_json(path)})
    entry = {"match": "*/a/stream/*", "reason": "It is so.", "link": "https://example.test", "until": "2027-01-01"}
    found.append({"kind": "baseline", "value": [entry, {"match": "b/*", "reason": "Known.", "flaky": True}]})
    return _texts(found)


@cache
def recordings(_seed: int) -> Pool:
    """Return cassettes, each as `{value, sent}`: what it holds, and the body of its first request."""
    values = [read_yaml(path).value for path in cassettes()]
    return _texts([{"value": each, "sent": each["interactions"][0]["request"]["body"]} for each in values])


@cache
def cassettes() -> tuple[Path, ...]:
    """Return some of the committed cassettes, spread over the providers; large ones are left out."""
    small = [path for path in _files(folder("cassettes"), "*/*/*.yaml") if path.stat().st_size <= _LARGEST]
    return tuple(small[:: max(1, len(small) // _CASSETTES)])


def as_file(name: str, value: Any) -> bytes:
    """Return the content of a file in the format of its name; YAML is written as the JSON that it may be."""
    suffix = name.rpartition(".")[2]
    if suffix == "jsonl":
        return b"\n".join(json.dumps(each).encode() for each in _as_list(value))
    if suffix in ("har", "yaml", "httprr") and isinstance(value, list):
        pairs = [each if isinstance(each, dict) else {"response": each} for each in value]
        return _RECORDINGS[suffix](pairs)
    return json.dumps(value).encode()


def stream_text(response: Any) -> Any:
    """Return a reply; the list of the chunks of a stream becomes its text."""
    if not isinstance(response, list):
        return response
    return "".join([each if isinstance(each, str) else f"data: {json.dumps(each)}\n\n" for each in response])


def _har(pairs: Iterable[Mapping[str, Any]]) -> bytes:
    entries = [
        {
            "startedDateTime": each.get("date", "2026-11-22T00:00:00Z"),
            "request": {"method": "POST", "url": each.get("url", _URL), "postData": {"text": _body(each, "request")}},
            "response": {
                "status": each.get("status", 200),
                "headers": [{"name": "Content-Type", "value": "application/json"}],
                "content": {"text": _body(each, "response")},
            },
        }
        for each in pairs
    ]
    return json.dumps({"log": {"entries": entries}}).encode()


def _cassette(pairs: Iterable[Mapping[str, Any]]) -> bytes:
    items = [
        {
            "request": {"method": "POST", "uri": each.get("url", _URL), "body": _body(each, "request")},
            "response": {
                "status": {"code": each.get("status", 200)},
                "headers": each.get("headers", {"Content-Type": ["application/json"]}),
                "body": {"string": _body(each, "response")},
            },
            "recorded_at": each.get("date", "2026-11-22"),
        }
        for each in pairs
    ]
    return json.dumps({"interactions": items}).encode()


def _trace(pairs: Iterable[Mapping[str, Any]]) -> bytes:
    data = b"httprr trace v1\n"
    for each in pairs:
        request = f"POST {each.get('url', _URL)} HTTP/1.1\r\n\r\n{_body(each, 'request')}".encode("utf-8", "replace")
        head = f"HTTP/1.1 {each.get('status', 200)} OK\r\nContent-Type: application/json\r\n\r\n"
        reply = f"{head}{_body(each, 'response')}".encode("utf-8", "replace")
        data += f"{len(request)} {len(reply)}\n".encode() + request + reply
    return data


_RECORDINGS: Final = {"har": _har, "yaml": _cassette, "httprr": _trace}


def _body(holder: Mapping[str, Any], name: str) -> str:
    body = stream_text(holder.get(name))
    return body if isinstance(body, str) else json.dumps(body)


def _vectors() -> Iterator[tuple[str, Any]]:
    for path in _files(folder("fixtures") / "dialects", "*/*.json"):
        yield path.parent.name, read_json(path)


def _of_corpus(corpus: Path | None) -> Sequence[Path]:
    return [] if corpus is None else [path for path in _files(corpus, "**/*") if path.is_file()]


def _recorded(path: Path) -> Iterator[Conversation]:
    """Yield the conversations in a file that are not large."""
    try:
        found = [each.conversation for each in read_path(path)]
    except InvalidDocument:
        return
    for conversation in found:
        if conversation and len(str(conversation)) <= _LARGEST:
            yield conversation


def _records(conversation: Iterable[Exchange]) -> list[dict[str, Any]]:
    return [record(each) for each in conversation]


def _streams() -> Sequence[Path]:
    return _files(folder("fixtures") / "streams", "*.sse")


def _files(place: Path, pattern: str) -> Sequence[Path]:
    return sorted(place.glob(pattern))


def _latin(path: Path) -> str:
    return path.read_bytes().decode("latin-1")


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _texts(values: Iterable[Any]) -> Pool:
    return tuple(dict.fromkeys(json.dumps(each) for each in values))
