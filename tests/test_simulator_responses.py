"""The simulator of Responses: what it keeps, and what it refuses in the provider's words."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from conformance import rules, scenarios
from conformance.judge import check
from conformance.profiles import load_profile
from conformance.results import Level
from conformance.simulator import Simulator
from conformance.simulator.store import MAX_REPLIES, MAX_SESSION, MAX_SESSION_BYTES, ReplyStore
from conformance.transport.http import HttpRequest
from conformance.wire.views import Side
from tests.loops import every

SCENARIO = scenarios.load("interleaved-thinking")
PARALLEL = scenarios.load("parallel-tool-calls")
TOOLS: list[Any] = [
    {"type": "function", **scenarios.tool_definitions()[name]["function"], "strict": False} for name in SCENARIO.tools
]
QUESTION: Any = {"role": "user", "content": SCENARIO.turns[0].user}
HOLE = re.compile(r"\{[a-z]+\}")
BLOBS: Any = {"store": False, "include": ["reasoning.encrypted_content"]}


class Server:
    """A simulator, asked in process; `ask` sends a request and returns status and body."""

    def __init__(self, provider: str = "openai") -> None:
        self.simulator = Simulator(load_profile(provider))

    def ask(self, given: Any, **more: Any) -> tuple[int, dict[str, Any]]:
        body = {"model": "gpt-5.4-mini", "tools": TOOLS, "reasoning": {"effort": "low"}, "input": given, **more}
        return self.send("POST", "/v1/responses", body)

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        content = b"" if body is None else json.dumps(body).encode()
        reply = self.simulator.answer(HttpRequest(method, path, {"content-type": "application/json"}, content))
        return reply.status, json.loads(reply.body if isinstance(reply.body, bytes) else b"".join(reply.body))


@pytest.fixture
def server() -> Server:
    return Server()


def result(reply: dict[str, Any], output: str = "9") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": reply["output"][-1]["call_id"], "output": output}


def without(item: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != key}


def test_a_session_goes_on_with_its_items_or_with_the_id_of_its_reply(server: Server) -> None:
    _, first = server.ask([QUESTION], **BLOBS)
    status, second = server.ask([QUESTION, *first["output"], result(first)], **BLOBS)
    assert (200, ["reasoning", "function_call"]) == (status, [item["type"] for item in second["output"]])
    _, kept = server.ask([QUESTION])
    status, continued = server.ask([result(kept)], previous_response_id=kept["id"])
    assert (200, kept["id"]) == (status, continued["previous_response_id"])
    assert second["output"][-1]["name"] == continued["output"][-1]["name"] == "get_time"


def test_instructions_are_not_carried_over_and_the_history_is(server: Server) -> None:
    _, kept = server.ask([QUESTION], instructions="Be brief.")
    _, continued = server.ask([result(kept)], previous_response_id=kept["id"])
    assert continued["instructions"] is None
    assert continued["usage"]["input_tokens"] > kept["usage"]["input_tokens"]


FAULTS: dict[str, Any] = {
    "a call without its reasoning": (
        lambda items, done: [items[1], done],
        400,
        "Item '{fc}' of type 'function_call' was provided without its required 'reasoning' item: '{rs}'.",
    ),
    "reasoning without its call": (
        lambda items, _done: items[:1],
        400,
        "Item '{rs}' of type 'reasoning' was provided without its required following item.",
    ),
    "altered encrypted content": (
        lambda items, done: [{**items[0], "encrypted_content": "x" + items[0]["encrypted_content"]}, items[1], done],
        400,
        (
            "The encrypted content for item {rs} could not be verified. "
            "Reason: Encrypted content could not be decrypted or parsed."
        ),
    ),
    "encrypted content from elsewhere": (
        lambda items, done: [
            {"type": "reasoning", "id": "rs_other", "summary": [], "encrypted_content": "b3RoZXI="},
            without(items[1], "id"),
            done,
        ],
        400,
        "could not be decrypted or parsed.",
    ),
    "an invented id": (
        lambda items, done: [{**items[0], "id": "rs_new"}, items[1], done],
        400,
        (
            "The encrypted content for item rs_new could not be verified. "
            "Reason: Encrypted content item_id did not match the target item id."
        ),
    ),
    "an item twice": (
        lambda items, done: [*items, items[1], done],
        400,
        "Duplicate item found with id {fc}. Remove duplicate items from your input and try again.",
    ),
    "a call without its output": (
        lambda items, _done: items,
        400,
        "No tool output found for function call {call}.",
    ),
    "an output without its call": (
        lambda _items, done: [done],
        400,
        "No tool call found for function call output with call_id {call}.",
    ),
    "reasoning by its id, though nothing is stored": (
        lambda items, done: [without(items[0], "encrypted_content"), items[1], done],
        404,
        (
            "Item with id '{rs}' not found. Items are not persisted when `store` is set to false. "
            "Try again with `store` set to true, or remove this item from your input."
        ),
    ),
    "a reference to an unknown item": (
        lambda items, done: [{"type": "item_reference", "id": "fc_unknown"}, *items, done],
        404,
        "Item with id 'fc_unknown' not found.",
    ),
    "a role that does not exist": (
        lambda items, done: [*items, done, {"type": "message", "role": "tool", "content": "9"}],
        400,
        "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    ),
}


@every("name", FAULTS)
@every("streams", [False, True])
def test_a_fault_is_refused_in_the_words_of_openai(name: str, server: Server, *, streams: bool) -> None:
    change, expected, words = FAULTS[name]
    _, first = server.ask([QUESTION], **BLOBS)
    reasoning, call = first["output"]
    items = change([reasoning, call], result(first))
    status, body = server.ask([QUESTION, *items], **BLOBS, stream=streams)
    assert expected == status
    assert {"message", "type", "param", "code"} == body["error"].keys()
    assert words.format(rs=reasoning["id"], fc=call["id"], call=call["call_id"]) in body["error"]["message"]


@pytest.mark.parametrize(
    "change",
    [
        lambda items, done: [*items, done],
        lambda items, done: [without(items[1], "id"), done],
        lambda items, done: [without(items[0], "id"), items[1], done],
        lambda items, done: [{**items[0], "summary": []}, items[1], done],
    ],
    ids=["all", "a call alone without its id", "reasoning without its id", "reasoning without its summary"],
)
def test_what_openai_accepts_is_accepted(change: Any, server: Server) -> None:
    _, first = server.ask([QUESTION], **BLOBS)
    assert 200 == server.ask([QUESTION, *change(first["output"], result(first))], **BLOBS)[0]


@pytest.mark.parametrize("stored", [None, False])
def test_a_reply_that_is_not_stored_cannot_be_continued_by_its_id(server: Server, *, stored: bool | None) -> None:
    identity = "resp_unknown" if stored is None else server.ask([QUESTION], store=False)[1]["id"]
    status, body = server.ask("Go on.", previous_response_id=identity)
    assert 400 == status
    assert {
        "message": f"Previous response with id '{identity}' not found.",
        "type": "invalid_request_error",
        "param": "previous_response_id",
        "code": "previous_response_not_found",
    } == body["error"]


@pytest.mark.parametrize(
    ("provider", "status", "words"),
    [
        ("vllm", 404, "Response with id 'resp_unknown' not found."),
        ("llamacpp", 400, "llama.cpp does not support 'previous_response_id'."),
        ("deepseek", 200, ""),
        ("xai", 400, "no reply with the id 'resp_unknown' is stored (simulated:"),
    ],
)
def test_each_provider_treats_the_id_of_a_reply_as_its_profile_claims(provider: str, status: int, words: str) -> None:
    found, body = Server(provider).ask([QUESTION], model="m", previous_response_id="resp_unknown")
    assert (status, True) == (found, words in json.dumps(body, ensure_ascii=False))


@pytest.mark.parametrize("provider", ["openai", "vllm", "xai", "groq"])
def test_no_provider_continues_a_reply_that_is_not_stored(provider: str) -> None:
    server = Server(provider)
    _, reply = server.ask([QUESTION], model="m", tools=[], store=False)
    status, body = server.ask("Go on.", model="m", tools=[], previous_response_id=reply["id"])
    assert (True, True) == (status in (400, 404), reply["id"] in body["error"]["message"])


def test_a_conversation_is_refused_since_none_is_played(server: Server) -> None:
    status, body = server.ask([QUESTION], conversation="conv_1")
    assert (400, True) == (status, "has no conversations" in body["error"]["message"])


def test_a_stored_reply_can_be_read_and_deleted(server: Server) -> None:
    _, reply = server.ask([QUESTION])
    path = f"/v1/responses/{reply['id']}"
    assert (200, reply) == server.send("GET", path)
    assert (200, {"id": reply["id"], "object": "response", "deleted": True}) == server.send("DELETE", path)
    assert 404 == server.send("GET", path)[0]
    assert 404 == server.send("DELETE", path)[0]
    assert 405 == server.send("PUT", path)[0]
    assert 400 == server.ask([result(reply)], previous_response_id=reply["id"])[0]


def test_a_reply_that_is_not_stored_cannot_be_read(server: Server) -> None:
    _, reply = server.ask([QUESTION], store=False)
    assert 404 == server.send("GET", f"/v1/responses/{reply['id']}")[0]


def test_the_summary_comes_only_if_it_is_asked_for(server: Server) -> None:
    silent = server.ask([QUESTION], **BLOBS)[1]["output"][0]
    shown = server.ask([QUESTION], **BLOBS, reasoning={"effort": "low", "summary": "auto"})[1]["output"][0]
    assert ([], True) == (silent["summary"], bool(silent["encrypted_content"]))
    assert [SCENARIO.turns[0].thinks] == [part["text"] for part in shown["summary"]]


def kept(number: int, size: int = 5) -> tuple[str, dict[str, Any], bytes, bytes]:
    item = {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"blob {number}"}
    reply = json.dumps({"id": f"resp_{number}", "store": True, "output": [item]})
    return "", {"input": size * "x"}, reply.encode(), b""


def test_only_so_many_replies_are_kept_and_what_was_dropped_is_not_checked() -> None:
    store = ReplyStore()
    foreign = [{"type": "reasoning", "encrypted_content": "foreign"}]
    for number in range(MAX_REPLIES):
        store.add(*kept(number), f"resp_{number - 1}")
    assert [0] == store.unknown_blobs(foreign)
    store.add(*kept(MAX_REPLIES), "")
    assert (None, True) == (store.stored("resp_0"), store.stored("resp_1") is not None)
    assert [] == store.unknown_blobs(foreign)
    assert "" == store.parent({"input": [{"type": "reasoning", "id": "rs_0"}]}, by_id=True)


def test_of_a_long_session_only_the_last_exchanges_are_looked_at() -> None:
    store = ReplyStore()
    for number in range(2 * MAX_SESSION):
        store.add(*kept(number), f"resp_{number - 1}")
    assert MAX_SESSION == len(store.session(f"resp_{2 * MAX_SESSION - 1}"))


def test_of_a_session_of_large_requests_only_so_many_bytes_are_looked_at() -> None:
    store = ReplyStore()
    for number in range(8):
        store.add(*kept(number, MAX_SESSION_BYTES // 4), f"resp_{number - 1}")
    assert 4 == len(store.session("resp_7"))


def test_many_clients_at_once_get_their_own_replies(server: Server) -> None:
    def play(number: int) -> bool:
        _, first = server.ask(f"Remember {number}.", tools=[])
        status, second = server.ask("Which one?", tools=[], previous_response_id=first["id"])
        return (200, first["id"]) == (status, second["previous_response_id"])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(play, range(64)))


def test_a_huge_request_is_answered_and_not_kept(server: Server) -> None:
    status, reply = server.ask([{"role": "user", "content": 5_000_000 * "x"}])
    assert (200, 404) == (status, server.send("GET", f"/v1/responses/{reply['id']}")[0])


def faulty() -> Iterator[Any]:
    """Yield the requests of bad examples in which a MUST can be seen without the exchanges before."""
    profile = load_profile("openai")
    for rule in rules.load():
        of_wire = [each for each in rule.bad if each.base.startswith("responses") and rule.on.side is Side.CLIENT]
        for number, example in enumerate(of_wire):
            (*_, last) = example.conversation()
            found = [each for outcome in check((last,), profile) for each in outcome.findings]
            if any(each.level is Level.MUST and each.side == "client" and not each.handling for each in found):
                yield pytest.param(last.request, id=f"{rule.id}-{number}")


@pytest.mark.parametrize("body", list(faulty()))
def test_every_must_on_a_request_is_refused_in_the_error_shape_of_openai(body: Any, server: Server) -> None:
    status, refused = server.send("POST", "/v1/responses", body)
    assert status in (400, 404)
    assert {"message", "type", "param", "code"} == refused["error"].keys()
    assert not HOLE.search(refused["error"]["message"])


def test_a_missing_key_of_an_item_is_named_by_its_path(server: Server) -> None:
    status, refused = server.ask([{"type": "function_call", "call_id": "call_1", "arguments": "{}"}])
    assert (400, "Missing required parameter: 'input[0].name'.") == (status, refused["error"]["message"])


HOSTILE: list[Any] = [
    {},
    {"input": None},
    {"input": 5, "store": "yes"},
    {"input": [5, None, [], {}]},
    {"input": [{"type": "item_reference"}]},
    {"input": [{"type": "item_reference", "id": ["x"]}], "store": False},
    {"input": [{"type": "reasoning", "id": {}, "summary": 5, "encrypted_content": ["x"]}]},
    {"input": [{"type": "function_call_output", "call_id": None, "output": {}}]},
    {"input": "Hi", "previous_response_id": 5},
    {"input": "Hi", "previous_response_id": ""},
    {"input": "Hi", "include": "reasoning.encrypted_content"},
    {"input": "Hi", "include": 5, "reasoning": 5, "text": 5, "tools": 5},
    {"input": "Hi", "reasoning": {"summary": []}, "stream": "yes"},
    {"input": "Hi", "conversation": {"id": []}},
    {"input": "Hi", "model": 5},
    {"messages": [{"role": "user", "content": "Hi"}]},
]


@every("body", HOSTILE, ids=json.dumps)
def test_whatever_comes_is_answered_in_the_error_shape_or_with_a_reply(body: Any, server: Server) -> None:
    status, reply = server.send("POST", "/v1/responses", body)
    assert status in (200, 400, 404)
    assert ("response" == reply["object"]) if status == 200 else ("message" in reply["error"])
