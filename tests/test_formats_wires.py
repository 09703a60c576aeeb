"""Every wire in every file format: recognised, whole, and judged, plain and as a stream."""

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import yaml

from conformance import wires
from conformance.files import Checker, Task
from conformance.formats import read
from conformance.resources import folder
from conformance.results import Level
from conformance.wire.native import CHAT
from conformance.wires import NATIVE
from tests.loops import every
from tests.wires import lines

WIRES = (CHAT, *NATIVE)
URLS = {
    CHAT: "https://api.example.com/v1/chat/completions",
    "messages": "https://api.example.com/v1/messages",
    "responses": "https://api.example.com/v1/responses",
    "gemini": "https://api.example.com/v1beta/models/example-model:generateContent",
}
Records = Sequence[dict[str, Any]]


def records(name: str) -> list[dict[str, Any]]:
    held: list[dict[str, Any]] = json.loads((folder("fixtures") / "wire" / f"{name}.json").read_text())
    return held


def session(wire: str) -> list[dict[str, Any]]:
    """Return a request whose reply calls tools, and one with their results."""
    held = records("thinking-session" if wire == CHAT else f"{wire}-session")[:2]
    return [{**each, "url": URLS[wire]} for each in held]


def broken(wire: str) -> list[dict[str, Any]]:
    """Return the session without the results."""
    first, second = json.loads(json.dumps(session(wire)))
    request = second["request"]
    match wire:
        case "messages":
            request["messages"][-1]["content"] = [{"type": "text", "text": "Go on."}]
        case "responses":
            request["input"] = [each for each in request["input"] if each.get("type") != "function_call_output"]
            request["input"].append({"role": "user", "content": "Go on."})
        case "gemini":
            request["contents"][-1]["parts"] = [{"text": "Go on."}]
        case _:
            request["messages"] = [each for each in request["messages"] if each["role"] != "tool"]
            request["messages"].append({"role": "user", "content": "Go on."})
    return [first, second]


def streamed(wire: str) -> list[dict[str, Any]]:
    """Return an exchange with a stream, as the text that came over the wire."""
    (first, *_) = records("stream-plain" if wire == CHAT else f"{wire}-stream")
    named = wire in ("messages", "responses")
    lines = [
        (f"event: {each['type']}\n" if named else "") + f"data: {json.dumps(each)}\n\n"
        for each in first["response"]
        if isinstance(each, dict)
    ]
    url = URLS[wire].replace("generateContent", "streamGenerateContent?alt=sse")
    return [{**first, "url": url, "response": "".join(lines) + ("data: [DONE]\n\n" if wire == CHAT else "")}]


def text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body)


def kind_of(body: Any) -> str:
    return "text/event-stream" if isinstance(body, str) else "application/json"


def written(value: Any) -> bytes:
    return json.dumps(value).encode()


def as_lines(values: Records) -> bytes:
    return b"".join(written(each) + b"\n" for each in values)


def har(held: Records) -> bytes:
    def entry(each: dict[str, Any]) -> dict[str, Any]:
        content = {"mimeType": kind_of(each["response"]), "text": text(each["response"])}
        return {
            "request": {"method": "POST", "url": each["url"], "postData": {"text": text(each["request"])}},
            "response": {"status": 200, "headers": [], "content": content},
        }

    return written({"log": {"version": "1.2", "entries": [entry(each) for each in held]}})


def vcrpy(held: Records) -> bytes:
    def item(each: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": [kind_of(each["response"])]}
        return {
            "request": {"method": "POST", "uri": each["url"], "body": text(each["request"])},
            "response": {"status": {"code": 200}, "headers": headers, "body": {"string": text(each["response"])}},
        }

    return yaml.safe_dump({"version": 1, "interactions": [item(each) for each in held]}).encode()


def ruby_vcr(held: Records) -> bytes:
    def item(each: dict[str, Any]) -> dict[str, Any]:
        packed = base64.b64encode(text(each["response"]).encode()).decode()
        return {
            "request": {"method": "post", "uri": each["url"], "body": {"string": text(each["request"])}},
            "response": {"status": {"code": 200}, "body": {"encoding": "ASCII-8BIT", "base64_string": packed}},
        }

    return yaml.safe_dump({"http_interactions": [item(each) for each in held]}).encode()


def httprr(held: Records) -> bytes:
    made = b"httprr trace v1\n"
    for each in held:
        body = text(each["request"]).encode()
        sent = f"POST {each['url']} HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        got = f"HTTP/1.1 200 OK\r\nContent-Type: {kind_of(each['response'])}\r\n\r\n{text(each['response'])}".encode()
        made += b"%d %d\n%s%s" % (len(sent), len(got), sent, got)
    return made


def nock(held: Records) -> bytes:
    def item(each: dict[str, Any]) -> dict[str, Any]:
        host, _, path = each["url"].removeprefix("https://").partition("/")
        found = {"scope": f"https://{host}:443", "method": "POST", "path": f"/{path}", "status": 200}
        return {**found, "body": each["request"], "response": each["response"]}

    return written([item(each) for each in held])


def seinfeld(held: Records) -> bytes:
    def entry(each: dict[str, Any]) -> dict[str, Any]:
        body = each["response"]
        got = {"kind": "sse", "chunks": body.splitlines(keepends=True)} if isinstance(body, str) else {"kind": "json"}
        request = {"method": "POST", "url": each["url"], "body": {"kind": "json", "value": each["request"]}}
        reply = got if "chunks" in got else {**got, "value": body}
        return {"request": request, "response": {"status": 200, "headers": {}, "body": reply}}

    return written({"meta": {}, "entries": [entry(each) for each in held]})


def wiremock(held: Records) -> bytes:
    def item(each: dict[str, Any]) -> dict[str, Any]:
        request = {"method": "POST", "absoluteUrl": each["url"], "body": text(each["request"])}
        return {"request": request, "response": {"status": 200, "body": text(each["response"])}}

    return written({"requests": [item(each) for each in held]})


def helicone(held: Records) -> bytes:
    given = {"response_status": 200, "request_id": "q"}
    return as_lines([{**given, "request_body": each["request"], "response_body": each["response"]} for each in held])


def litellm(held: Records) -> bytes:
    """Write the records as LiteLLM logs them; the system prompt of Messages stands among the messages."""

    def item(each: dict[str, Any]) -> dict[str, Any]:
        call = {"messages": "anthropic_messages", "responses": "aresponses"}
        request = dict(each["request"])
        wire = each["url"].rpartition("/")[2]
        messages = request.pop("input" if wire == "responses" else "messages")
        if wire == "messages":
            messages = [{"role": "system", "content": request.pop("system")}, *messages]
        found = {"call_type": call.get(wire, "acompletion"), "model": request.pop("model"), "messages": messages}
        return {**found, "model_parameters": request, "response": each["response"], "api_base": each["url"]}

    return as_lines([item(each) for each in held])


def langfuse(held: Records) -> bytes:
    def item(each: dict[str, Any]) -> dict[str, Any]:
        found = {"type": "GENERATION", "traceId": "t", "model": "example-model"}
        return {**found, "input": each["request"], "output": each["response"]}

    return written({"data": [item(each) for each in held]})


def batch(held: Records) -> bytes:
    named = {"custom_id": "a", "method": "POST"}
    return as_lines([{**named, "url": each["url"].split(".com")[1], "body": each["request"]} for each in held])


FORMATS: dict[str, Callable[[Records], bytes]] = {
    "json": written,
    "jsonl": as_lines,
    "har": har,
    "vcrpy": vcrpy,
    "ruby_vcr": ruby_vcr,
    "httprr": httprr,
    "nock": nock,
    "seinfeld": seinfeld,
    "wiremock": wiremock,
    "helicone": helicone,
    "litellm": litellm,
    "langfuse": langfuse,
    "batch": batch,
}
NOT_WRITTEN = {("litellm", "gemini")}
"""Calls on Gemini's own wire, of which the form of LiteLLM's log is not known."""
NO_STREAMS = ("helicone", "litellm", "langfuse", "batch")
"""Formats that hold streams as one reply, or no replies."""
CELLS = [(name, wire) for name in FORMATS for wire in WIRES if (name, wire) not in NOT_WRITTEN]


def wires_in(data: bytes) -> list[str]:
    found = [wires.of(exchange) for given in read(data, "file") for exchange in given.conversation]
    return [CHAT if each is None else each.name for each in found]


def musts(data: bytes) -> set[str]:
    reports = [Checker(Task(level=Level.MUST)).input(given).report for given in read(data, "file")]
    return {outcome["rule"] for report in reports for outcome in report["outcomes"]}


@every(("name", "wire"), CELLS)
def test_every_exchange_of_a_file_is_on_its_wire(name: str, wire: str) -> None:
    data = FORMATS[name](session(wire))
    assert [wire, wire] == wires_in(data)
    assert set() == musts(data)


@every(("name", "wire"), CELLS)
def test_a_fault_is_found_on_every_wire_of_a_file(name: str, wire: str) -> None:
    assert "transcript/calls-answered" in musts(FORMATS[name](broken(wire)))


@every(("name", "wire"), [cell for cell in CELLS if cell[0] not in NO_STREAMS])
def test_a_stream_is_read_on_every_wire_of_a_file(name: str, wire: str) -> None:
    held = streamed(wire)
    data = FORMATS[name](held)
    (exchange,) = [each for given in read(data, "file") for each in given.conversation]
    assert exchange.streamed
    assert [wire] == wires_in(data)
    assert held[0]["response"] == exchange.response


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("made", [session, streamed])
def test_the_output_of_curl_is_read_on_every_wire(made: Callable[[str], Records], wire: str) -> None:
    body = made(wire)[0]["response"]
    data = f"HTTP/1.1 200 OK\r\nContent-Type: {kind_of(body)}\r\n\r\n{text(body)}".encode()
    assert [wire] == wires_in(data)
    assert not {rule for rule in musts(data) if not rule.startswith("http/")}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("key", ["request", "response"])
def test_a_body_alone_is_read_on_every_wire(key: str, wire: str) -> None:
    assert [wire] == wires_in(written(session(wire)[1][key]))


@pytest.mark.parametrize("wire", WIRES)
def test_the_text_of_a_stream_alone_is_read_on_every_wire(wire: str) -> None:
    assert [wire] == wires_in(streamed(wire)[0]["response"].encode())


CREATED = {"type": "response.created", "sequence_number": 0, "response": {"object": "response", "status": "queued"}}
ADDED = {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "content": []}}
COMPLETED = {"type": "response.completed", "response": {"object": "response", "status": "completed", "output": []}}
START = {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
STOP = {"type": "message_stop"}


@every(
    "events",
    [[CREATED, ADDED, COMPLETED], [START, BLOCK, {"type": "ping"}, STOP], [COMPLETED], [BLOCK]],
)
def test_payloads_of_events_alone_are_one_stream(events: list[dict[str, Any]]) -> None:
    text = "".join([f"event: {each['type']}\ndata: {json.dumps(each, separators=(',', ':'))}\n\n" for each in events])
    note = "only the payloads of events were recorded; their names are assumed to be their types"
    for data in (lines(*events), json.dumps(events).encode()):
        (found,) = read(data, "a.chunks.txt")
        assert ("chunks", (note,), text) == (found.kind, found.notes, found.conversation[0].response)


def test_each_first_event_begins_a_stream() -> None:
    found = [*read(lines(START, STOP, START, BLOCK, STOP, CREATED, COMPLETED), "a.jsonl")]
    assert [(1, 2), (3, 4, 5), (6, 7)] == [each.lines for each in found]


def test_an_event_of_the_realtime_api_is_none_of_a_stream() -> None:
    found = [*read(lines({**CREATED, "event_id": "event_1"}), "a.jsonl")]
    assert ["exchange"] == [each.kind for each in found]
