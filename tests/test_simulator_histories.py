"""An agent's session at the simulator: each request is answered as if it came alone, and costs what is new in it."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import pytest

from conformance import profiles
from conformance.simulator import Simulator, histories
from conformance.transport.http import HttpReply, HttpRequest
from conformance.wire.exchange import Exchange
from conformance.wire.native import OWN
from conformance.wires import by_name
from tests.loops import every

PROVIDERS = {"chat": "deepseek", "messages": "anthropic", "responses": "openai", "gemini": "gemini"}
LISTS = {"chat": "messages", "messages": "messages", "responses": "input", "gemini": "contents"}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}},
}
WORDS = "The file was read, line by line. " * 30
Edit = Callable[[dict[str, Any], list[Any]], Any]


def alone(wire: str) -> Simulator:
    """Return a simulator that remembers nothing of requests."""
    return Simulator(profiles.load(PROVIDERS[wire]), memory=None, answers=None, histories=None)


def session(wire: str, count: int, about: str = "", *, by: Simulator | None = None) -> list[HttpRequest]:
    """Return the requests of an agent that sends its whole history each time, and has its replies by a simulator."""
    simulator, native = by or alone(wire), by_name(wire)
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": f"You are an agent. {about}" * 300},
        {"role": "user", "content": "Read."},
    ]
    made = []
    for number in range(count):
        asked = {"model": profiles.load(PROVIDERS[wire]).model, "max_tokens": 900, "tools": [TOOL]}
        asked["messages"] = messages
        body = asked if wire == "chat" else native.writing.request(asked)
        path = ("/v1beta" if wire == "gemini" else "/v1") + native.path(asked)
        made.append(HttpRequest("POST", path, {}, json.dumps(body).encode()))
        reply = simulator.answer(made[-1])
        assert reply.status == 200, reply.body
        exchange = Exchange(body, reply.body, 200, url=path)
        translated: Any = exchange if wire == "chat" else native.translate_one(exchange)
        said = translated.response["choices"][0]["message"]
        own = {} if translated.native is None else {OWN: native.writing.own(translated.native)}
        calls = said.get("tool_calls") or ()
        results = [{"role": "tool", "tool_call_id": each["id"], "content": f"{number} {WORDS}"} for each in calls]
        messages = [*messages, said | own, *(results or [{"role": "user", "content": f"Go on with {number}."}])]
    return made


def edited(wire: str, request: HttpRequest, edit: Edit) -> HttpRequest:
    body = json.loads(request.body)
    edit(body, body[LISTS[wire]])
    return HttpRequest("POST", request.path, {}, json.dumps(body).encode())


BLOBS = {"store": False, "include": ["reasoning.encrypted_content"]}
EDITS: dict[str, Edit] = {
    "a message is gone": lambda _, listed: listed.pop(3),
    "two messages are swapped": lambda _, listed: listed.insert(2, listed.pop(3)),
    "a message comes twice": lambda _, listed: listed.insert(3, listed[3]),
    "a message is none": lambda _, listed: listed.insert(3, 7),
    "the history is compacted": lambda _, listed: listed.__delitem__(slice(2, 6)),
    "another model": lambda body, _: body.update(model="another"),
    "no tools any more": lambda body, _: body.pop("tools"),
    "an unknown member": lambda _, listed: listed[2].update(surprise=1),
    "a changed member": lambda _, listed: listed[-2].update({next(iter(listed[-2])): "changed"}),
    "another notation of a message": lambda _, listed: listed.insert(2, dict(reversed(listed.pop(2).items()))),
    "an unknown response": lambda body, _: body.update(previous_response_id="resp_1"),
}


def answered(requests: Sequence[HttpRequest], simulator: Simulator) -> list[HttpReply]:
    return list(map(simulator.answer, requests))


@every("wire", PROVIDERS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_session_is_answered_as_if_nothing_were_known(wire: str, *, stream: bool) -> None:
    requests = []
    for number, request in enumerate(session(wire, 14)):
        requests.append(request)
        if number > 3:
            requests += [edited(wire, request, edit) for edit in list(EDITS.values())[number % 3 :: 3]]
    if stream:
        requests = [edited(wire, each, lambda body, _: body.update(stream=True)) for each in requests]
    simulator = Simulator(profiles.load(PROVIDERS[wire]))
    assert answered(requests, alone(wire)) == answered(requests, simulator)


SENT_BACK: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "as it was": dict,
    "without its id": lambda item: {key: value for key, value in item.items() if key != "id"},
    "without its status": lambda item: {key: value for key, value in item.items() if key != "status"},
    "without what was thought": lambda item: None if item["type"] == "reasoning" else item,
    "with half of the blob": lambda item: (
        item | ({"encrypted_content": item["encrypted_content"][:20]} if "encrypted_content" in item else {})
    ),
    "with other arguments": lambda item: item | ({"arguments": "{} "} if "arguments" in item else {}),
    "as a text": lambda item: {"role": "assistant", "content": "Text."} if item["type"] == "message" else item,
}


def of_items(form: Callable[[dict[str, Any]], dict[str, Any] | None], more: dict[str, Any]) -> Iterator[HttpRequest]:
    """Yield the requests of a client of Responses that sends items back in a form of its own."""
    simulator, items = alone("responses"), [{"role": "user", "content": "Read."}]
    tool = {"type": "function", **TOOL["function"], "strict": False}
    for number in range(40):
        asked = {"model": "gpt-5", "instructions": WORDS * 10, "tools": [tool], "input": items, **more}
        yield HttpRequest("POST", "/v1/responses", {}, json.dumps(asked).encode())
        reply = simulator.answer(HttpRequest("POST", "/v1/responses", {}, json.dumps(asked).encode()))
        if reply.status != 200:
            return
        output = json.loads(bytes(reply.body))["output"]  # type: ignore[arg-type]
        results = [
            {"type": "function_call_output", "call_id": each["call_id"], "output": f"{number} {WORDS}"}
            for each in output
            if each["type"] == "function_call"
        ]
        items = [*items, *[made for each in output if (made := form(each)) is not None]]
        items += results or [{"role": "user", "content": f"Go on with {number}."}]


def are_same(form: str, count: int, more: dict[str, Any]) -> bool:
    requests = list(islice(of_items(SENT_BACK[form], more), count))
    return answered(requests, alone("responses")) == answered(requests, Simulator(profiles.load("openai")))


@every("form", SENT_BACK)
def test_items_that_come_back_in_any_form_are_answered_as_if_nothing_were_known(form: str) -> None:
    assert are_same(form, 7, BLOBS)


@pytest.mark.slow
@every("form", SENT_BACK)
@pytest.mark.parametrize("more", [BLOBS, {}])
def test_items_of_more_replies_than_the_server_looks_at_are_read_as_it_does(form: str, more: dict[str, Any]) -> None:
    assert are_same(form, 40, more)


@every("wire", PROVIDERS)
def test_sessions_in_turns_are_answered_as_if_each_came_alone(wire: str) -> None:
    sessions = [session(wire, 10), session(wire, 10, "Be brief. "), session(wire, 10, "Be brief! ")]
    requests = [each for three in zip(*sessions, strict=True) for each in three]
    simulator = Simulator(profiles.load(PROVIDERS[wire]))
    assert answered(requests, alone(wire)) == answered(requests, simulator)


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "a duplicate key": lambda data: data.replace(b'"role": "user"', b'"role": "user", "role": "user"', 1),
    "a duplicate key at the end": lambda data: data[:-1] + b', "model": "m"}',
    "half of it": lambda data: data[: len(data) // 2],
    "not UTF-8": lambda data: data[:-40] + b"\xff" + data[-40:],
    "half a surrogate pair": lambda data: data.replace(b"Read.", b"Read. \\ud800"),
    "too deep": lambda data: data[:-1] + b', "x":' + b"[" * 3000 + b"]" * 3000 + b"}",
    "a huge number": lambda data: data[:-1] + b', "n": 123456789012345678901234567890}',
    "no number": lambda data: data[:-1] + b', "n": NaN}',
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "more behind it": lambda data: data + b"}",
}


@every("wire", PROVIDERS)
def test_broken_requests_of_a_session_get_the_same_errors(wire: str) -> None:
    requests = [
        HttpRequest("POST", request.path, {}, breaks(request.body))
        for request in session(wire, 6)[2:]
        for breaks in (bytes, *BROKEN.values())
    ]
    simulator = Simulator(profiles.load(PROVIDERS[wire]))
    assert answered(requests, alone(wire)) == answered(requests, simulator)


def calls_of(simulator: Simulator, request: HttpRequest) -> int:
    """Return how many functions are called to answer a request, which is the same on any machine."""
    count = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        assert simulator.answer(request).status == 200
    finally:
        sys.setprofile(before)
    return count


@every("wire", PROVIDERS)
def test_a_request_late_in_a_session_costs_little_more_than_an_early_one(wire: str) -> None:
    requests = session(wire, 60, by=Simulator(profiles.load(PROVIDERS[wire])))
    simulator = Simulator(profiles.load(PROVIDERS[wire]))
    costs = [calls_of(simulator, each) for each in requests]
    early, late = (sorted(costs[at : at + 10])[5] for at in (10, 50))
    # Five times as many messages, each of which has a finding of chat completions.
    assert late < (3 if wire == "chat" else 2) * early
    assert late < 0.6 * calls_of(alone(wire), requests[55])


def test_no_more_is_remembered_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "MAX_BYTES", 400_000)
    monkeypatch.setattr(histories, "MAX_OPEN", 3)
    simulator = Simulator(profiles.load("deepseek"))
    assert simulator.histories is not None
    for number in range(6):
        for request in session("chat", 8, f"{number}. "):
            simulator.answer(request)
            held = simulator.histories.held
            assert len(held) <= 3
            assert sum(each.size for each in held) <= 400_000
    large = edited("chat", request, lambda _, listed: listed[1].update(content="x" * 500_000))
    assert simulator.answer(large).status == 200
    assert sum(each.size for each in simulator.histories.held) <= 400_000


def test_many_threads_with_one_session_get_the_replies_of_one() -> None:
    requests = session("messages", 12)
    expected, simulator = answered(requests, alone("messages")), Simulator(profiles.load("anthropic"))

    def play(order: int) -> Iterator[bool]:
        for number in [*range(order, 12), *range(order)]:
            yield simulator.answer(requests[number]) == expected[number]

    with ThreadPoolExecutor(4) as pool:
        assert all(all(each) for each in pool.map(lambda order: list(play(order)), range(8)))
