"""Conversations on every wire, plain and streamed: examples of rules, recordings, and bodies drawn from schemas.

A conversation is plain JSON: `wire` and `exchanges`. An exchange has `request`; its reply, either as `response` or as
the `events` of a stream, each a pair of a name and a value; and what else `Exchange` takes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance import rules, wires
from conformance.errors import InvalidDocument
from conformance.formats import read_path
from conformance.resources import folder
from conformance.rules import Example
from conformance.strategies import requests
from conformance.wire import sse
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT
from tests.fuzz import schema_values, seeds
from tests.fuzz.seeds import Pool

HOST: Final = "https://api.example.test/v1"
_MORE: Final = ("status", "headers", "model", "date")
_LARGEST: Final = 20_000
_OF_A_SCHEMA: Final = 60
_OF_A_FILE: Final = 25
_DONE: Final = "data: [DONE]\n\n"
UNWRITABLE: Final = (TypeError, AttributeError, KeyError, ValueError, IndexError)
"""What the writers raise for bodies that are not of their wire; only the simulator uses them, for its own replies."""


@cache
def pool(seed: int, corpus: Path | None) -> Pool:
    """Return conversations of all wires, as many of each."""
    by_wire: dict[str, list[str]] = {name: [] for name in wires.NAMES}
    for each in (*_examples(), *_recorded(corpus), *_of_schemas(seed)):
        by_wire[each["wire"]].append(json.dumps(each))
    # Chat completions have most examples; without this, the other wires would hardly be drawn.
    most = max(map(len, by_wire.values()))
    return tuple([own[number % len(own)] for own in by_wire.values() for number in range(most)])


def exchanges(given: Any) -> list[Exchange]:
    """Return the exchanges of a conversation, as they come from the wire; raises as `Exchange` does."""
    return [_exchange(given["wire"], each) for each in given["exchanges"]]


def _exchange(wire: str, record: Any) -> Exchange:
    known = {name: record[name] for name in _MORE if name in record}
    streams = "events" in record
    response = stream_text(record["events"]) if streams else record.get("response")
    request = record.get("request")
    url = record.get("url") or url_of(wire, request, streams=streams)
    return Exchange(**{**known, "request": request, "response": response, "streamed": streams, "url": url})


def url_of(wire: str, request: Any, *, streams: bool) -> str:
    """Return the URL of a request on a wire, whatever the request is."""
    body = request if isinstance(request, Mapping) else {}
    return HOST + wires.by_name(wire).path({"model": str(body.get("model", "m")), "stream": streams})


def stream_text(events: Any) -> str:
    """Return the text of a stream: pairs of names and values are its events, and texts stand for themselves."""
    parts = []
    for each in events if isinstance(events, list) else [events]:
        if isinstance(each, str):
            parts.append(each)
        elif isinstance(each, list) and len(each) == 2 and isinstance(each[0], str):
            name = each[0].replace("\n", " ").replace("\r", " ")
            parts.append((f"event: {name}\n" if name else "") + f"data: {json.dumps(each[1])}\n\n")
        else:
            parts.append(f"data: {json.dumps(each)}\n\n")
    return "".join(parts)


def streamed(wire: str, reply: Any) -> list[Any]:
    """Return the events that add up to a plain reply; those of some wires are as the simulator writes them."""
    if wire == "gemini":
        return [["", each] for each in _of_candidates(reply)]
    if wire != CHAT:
        return [[each.name, each.value] for each in wires.by_name(wire).writing.events(reply)]
    frame = {key: each for key, each in reply.items() if key not in ("choices", "usage", "object")}
    frame["object"] = "chat.completion.chunk"
    chunks = [{**frame, "choices": [part]} for choice in reply["choices"] for part in _parts(choice)]
    if reply.get("usage") is not None:
        chunks.append({**frame, "choices": [], "usage": reply["usage"]})
    return [*[["", chunk] for chunk in chunks], _DONE]


def _of_candidates(reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a reply of Gemini: an event for each part, and the last one with all else."""
    candidates = reply["candidates"]
    for at, each in enumerate(candidates):
        parts = each["content"]["parts"]
        for part in parts[:-1]:
            yield {"candidates": [{"index": at, **_started(each), "content": {**each["content"], "parts": [part]}}]}
        last = {**each, "content": {**each["content"], "parts": parts[-1:]}}
        ending = (
            {key: value for key, value in reply.items() if key != "candidates"} if at == len(candidates) - 1 else {}
        )
        yield {"candidates": [last], **ending}


def _started(candidate: Mapping[str, Any]) -> dict[str, Any]:
    return {"index": candidate["index"]} if "index" in candidate else {}


def _parts(choice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parts of a choice: texts in halves, then each call in two fragments, then why it ended."""
    message = choice["message"]
    rest = {key: each for key, each in choice.items() if key not in ("message", "finish_reason")}
    for number, delta in enumerate(_deltas(message)):
        role = {"role": message["role"]} if not number and "role" in message else {}
        yield {**rest, "delta": {**role, **delta}, "finish_reason": None}
    yield {**rest, "delta": {}, "finish_reason": choice.get("finish_reason")}


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key in sorted(message, key=lambda name: (not name.startswith("reasoning"), name == "tool_calls")):
        text = message[key]
        if key == "role":
            continue
        if key == "tool_calls" and isinstance(text, list):
            for position, call in enumerate(text):
                arguments = call["function"]["arguments"]
                half = len(arguments) // 2
                head = {**call, "index": position, "function": {**call["function"], "arguments": arguments[:half]}}
                yield {key: [head]}
                yield {key: [{"index": position, "function": {"arguments": arguments[half:]}}]}
        elif isinstance(text, str) and len(text) > 1:
            yield {key: text[: len(text) // 2]}
            yield {key: text[len(text) // 2 :]}
        else:
            yield {key: text}


def rendered(given: Iterable[Exchange], wire: str, *, streams: bool) -> list[dict[str, Any]]:
    """Return exchanges of chat completions as another wire renders them; raises what its writer raises."""
    own = wires.by_name(wire)
    found = []
    for each in given:
        body = {**each.request, "stream": streams} if isinstance(each.request, dict) else {}
        asked = body if wire == CHAT else own.writing.request(body)
        record = {"request": asked, **{name: value for name in _MORE if (value := getattr(each, name))}}
        if isinstance(each.response, dict) and "choices" in each.response:
            reply = each.response if wire == CHAT else own.writing.reply(each.response, asked)
            record |= {"events": streamed(wire, reply)} if streams else {"response": reply}
        elif isinstance(each.response, dict):
            record["response"] = each.response
        found.append(record)
    return found


def _examples() -> Iterator[dict[str, Any]]:
    """Yield the bad examples of all rules and their bases, on their own wire and rendered on the others."""
    every = [each for rule in rules.load() for each in rule.bad]
    bases = [Example(base) for base in dict.fromkeys(each.base for each in every)]
    for example in (*bases, *every):
        conversation = example.conversation()
        wire = wires.of(conversation[0]).name
        yield {"wire": wire, "exchanges": [_record(each) for each in conversation]}
        for other in wires.NAMES if wire == CHAT else ():
            for streams in (False, True):
                try:
                    found = rendered(conversation, other, streams=streams)
                except UNWRITABLE:
                    continue
                yield {"wire": other, "exchanges": found}


def _recorded(corpus: Path | None) -> Iterator[dict[str, Any]]:
    """Yield committed cassettes, and some recordings of a folder."""
    paths = [path for path in sorted(folder("cassettes").glob("*/*/*.yaml")) if path.stat().st_size <= _LARGEST]
    step = max(1, len(paths) // 200)
    for path in (*paths[::step], *(sorted(corpus.glob("**/*")) if corpus else ())):
        yield from _of_file(path)


def _of_file(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    try:
        found = [each.conversation for each in read_path(path) if each.conversation]
    except InvalidDocument:
        return
    for conversation in found[:: max(1, len(found) // _OF_A_FILE)]:
        value = {"wire": wires.of(conversation[0]).name, "exchanges": [_record(each) for each in conversation[-3:]]}
        if len(json.dumps(value)) <= _LARGEST:
            yield value


def _record(exchange: Exchange) -> dict[str, Any]:
    record = {name: each for name in (*_MORE, "request", "url") if (each := getattr(exchange, name))}
    if exchange.streamed:
        events = sse.read(exchange.response).events
        return {
            **record,
            "events": [_event("" if each.event == "message" else each.event, each.data) for each in events],
        }
    return record if exchange.response is None else {**record, "response": exchange.response}


def _event(name: str, data: str) -> Any:
    try:
        return ["" if name == "message" else name, json.loads(data)]
    except ValueError:
        return f"data: {data}\n\n"


def _of_schemas(seed: int) -> Iterator[dict[str, Any]]:
    """Yield exchanges whose bodies are drawn from the schemas of their wire."""
    for wire in wires.NAMES:
        for number in range(_OF_A_SCHEMA):
            rng = seeds.random("schema", seed, wire, number)
            yield {"wire": wire, "exchanges": [_of_schema(rng, wire)]}
    for body in seeds.drawn(requests(), seed):
        for wire in wires.NATIVE:
            yield {"wire": wire, "exchanges": rendered([Exchange(body)], wire, streams=False)}


def _of_schema(rng: Any, wire: str) -> dict[str, Any]:
    place, reply, event = ("canonical", "response", "chunk") if wire == CHAT else (f"wires/{wire}", "reply", "event")
    record: dict[str, Any] = {"request": schema_values.drawn(rng, f"{place}/request.json")}
    if rng.random() < 0.5:
        return record | {"response": schema_values.drawn(rng, f"{place}/{reply}.json")}
    drawn = [schema_values.drawn(rng, f"{place}/{event}.json") for _ in range(rng.randint(1, 5))]
    return record | {"events": [[_event_name(wire, each), each] for each in drawn]}


def _event_name(wire: str, event: Any) -> str:
    """Return the name that an event has on the wires whose events have one."""
    return str(event.get("type", "")) if wire in ("messages", "responses") else ""


def records_of(given: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield what of a list are records of exchanges."""
    for each in given:
        if isinstance(each, dict):
            yield each
