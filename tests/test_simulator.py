"""The simulated provider: what it refuses, how it words refusals, and that no request breaks it."""

from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import profiles, rules, scenarios
from conformance.documents import read_json
from conformance.judge import check
from conformance.resources import folder
from conformance.results import Refusal
from conformance.rules import Rule
from conformance.scenarios import ScriptTurn
from conformance.schemas import validator
from conformance.simulator import Simulator, chunks, refusals, replies, simulated
from conformance.simulator.reply_context import ReplyContext
from conformance.transport.client import SIMULATOR_ERROR, Client, Endpoint
from conformance.transport.http import HttpRequest
from conformance.wire.views import Side
from tests.loops import every

SHAPES: Any = read_json(folder("schemas") / "canonical" / "error-shapes.json")
ERROR_SHAPES = sorted(SHAPES["$defs"].keys() - {"words", "code"})
DEEPSEEK = Simulator(profiles.load("deepseek"))
GROQ = Simulator(profiles.load("groq"))
WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "call_a", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}


def history(**assistant: Any) -> dict[str, Any]:
    return {
        "model": "deepseek-v4-pro",
        "tools": [WEATHER],
        "messages": [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": "", "tool_calls": [CALL], **assistant},
            {"role": "tool", "tool_call_id": "call_a", "content": "18"},
        ],
    }


def ask(simulator: Simulator, body: Any, path: str = "/v1/chat/completions") -> tuple[int, Any]:
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    answered = simulator.answer(HttpRequest("POST", path, {}, raw))
    content = answered.body if isinstance(answered.body, bytes) else b"".join(answered.body)
    return answered.status, orjson.loads(content) if content.startswith((b"{", b"[")) else content.decode()


def test_deepseek_refuses_a_tool_turn_without_its_reasoning_in_its_own_words() -> None:
    status, body = ask(DEEPSEEK, history())
    assert 400 == status
    assert {
        "error": {
            "message": "The `reasoning_content` in the thinking mode must be passed back to the API.",
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_request_error",
        }
    } == body


def test_deepseek_accepts_the_same_turn_with_its_reasoning_or_with_thinking_off() -> None:
    assert 200 == ask(DEEPSEEK, history(reasoning_content="The weather is asked for."))[0]
    assert 200 == ask(DEEPSEEK, history() | {"thinking": {"type": "disabled"}})[0]


def test_groq_refuses_what_deepseek_requires() -> None:
    body = history(reasoning_content="The weather is asked for.") | {"model": "openai/gpt-oss-120b"}
    status, reply = ask(GROQ, body)
    assert 400 == status
    assert "property 'reasoning_content' is unsupported" in reply["error"]["message"]
    assert 200 == ask(GROQ, history(reasoning="The weather is asked for.") | {"model": "openai/gpt-oss-120b"})[0]


def test_the_reply_is_the_refusal_of_the_first_fault_in_the_request() -> None:
    body = history()
    body["messages"].append({"role": "tool", "tool_call_id": "call_z", "content": "?"})
    assert "reasoning_content" in ask(DEEPSEEK, body)[1]["error"]["message"]


def test_any_request_is_answered_by_a_call_and_then_by_text() -> None:
    body: dict[str, Any] = {"model": "m", "tools": [WEATHER], "messages": [{"role": "user", "content": "Anything?"}]}
    called = ask(GROQ, body)[1]["choices"][0]["message"]
    assert "get_weather" == called["tool_calls"][0]["function"]["name"]
    body["messages"] += [
        {"role": "assistant", "content": "", "tool_calls": called["tool_calls"]},
        {"role": "tool", "tool_call_id": called["tool_calls"][0]["id"], "content": "18"},
    ]
    assert ask(GROQ, body)[1]["choices"][0]["message"]["content"]


def test_a_scenario_is_played_at_its_path_whatever_the_user_message() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Other words."}]}
    status, reply = ask(DEEPSEEK, body, "/s/plain-answer/v1/chat/completions")
    assert (200, "hello") == (status, reply["choices"][0]["message"]["content"])


def test_a_scenario_for_clients_is_played_at_its_path_with_its_own_ids_and_claims() -> None:
    forecast = scenarios.tool_definitions()["get_forecast"]
    body = {"model": "deepseek-v4-pro", "messages": [{"role": "user", "content": "Hi"}], "tools": [forecast]}
    _, reply = ask(DEEPSEEK, body, "/s/ids-kimi/v1/chat/completions")
    ids = [call["id"] for call in reply["choices"][0]["message"]["tool_calls"]]
    assert ["functions.get_forecast:0", "functions.get_forecast:1"] == ids
    _, stream = ask(DEEPSEEK, body | {"stream": True}, "/s/stream-without-done/v1/chat/completions")
    assert "[DONE]" not in stream


@pytest.mark.parametrize(
    ("body", "path", "status"),
    [
        (b"{", "/v1/chat/completions", 400),
        (b'{"messages": [], "messages": []}', "/v1/chat/completions", 400),
        (b"[]", "/v1/chat/completions", 400),
        (b"\xff", "/v1/chat/completions", 400),
        (b"{}", "/v1/chat/completions", 400),
        (b"{}", "/v1/completions", 404),
        (b"{}", "/s/no-such-scenario/v1/chat/completions", 404),
    ],
)
def test_an_invalid_request_is_refused_with_a_message(body: bytes, path: str, status: int) -> None:
    answered, reply = ask(DEEPSEEK, body, path)
    assert status == answered
    assert reply["error"]["message"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool"]) | json_values},
        optional={
            "content": json_values,
            "tool_calls": st.lists(st.just(CALL) | json_values, max_size=2) | json_values,
            "tool_call_id": st.just("call_a") | json_values,
            "reasoning_content": json_values,
        },
    ),
    max_size=4,
)


@given(messages, st.sampled_from([DEEPSEEK, GROQ]), json_values)
def test_no_request_makes_the_simulator_break_its_own_rules(
    sent: list[Any], simulator: Simulator, tools: object
) -> None:
    status, _ = ask(simulator, {"model": "deepseek-v4-pro", "messages": sent, "tools": tools})
    assert status in (200, 400, 422)


def client_rules_with_refusals() -> list[tuple[Rule, int]]:
    return [
        (rule, number)
        for rule in rules.load()
        if rule.on.side is Side.CLIENT and rule.claim
        for number, example in enumerate(rule.bad)
        if isinstance(example.claims.get(rule.claim), dict) and "status" in example.claims[rule.claim]
    ]


@every(("rule", "number"), client_rules_with_refusals(), ids=lambda given: getattr(given, "id", str(given)))
def test_what_the_profile_claims_to_be_refused_is_refused(rule: Rule, number: int) -> None:
    example = rule.bad[number]
    profile, conversation = profiles.of(example.claims), example.conversation()
    (outcome,) = check(conversation, profile, [rule])
    at = int(outcome.findings[0].at.split("/")[1])
    status, _ = ask(Simulator(profile), conversation[at].request)
    assert example.claims[rule.claim or ""]["status"] == status


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with simulated(profiles.load("openai")) as url:
        yield url


def test_it_listens_on_loopback_and_names_itself_in_a_header(url: str) -> None:
    reply = httpx.post(
        f"{url}/v1/chat/completions", json={"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    )
    assert url.startswith("http://127.0.0.1:")
    assert "conformance-simulator" == reply.headers["server"]


def test_a_stream_and_a_plain_reply_have_the_same_content(url: str) -> None:
    from conformance.wire.index import Index

    scenario = scenarios.load("parallel-tool-calls")
    tools = [scenarios.tool_definitions()[name] for name in scenario.tools]
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": scenario.prompts[0]}], "tools": tools}
    with Client(Endpoint(f"{url}/v1")) as client:
        plain = Index((client.send(body),)).replies[0]
        stream = Index((client.send(body | {"stream": True}),)).replies[0]
    assert plain.message["tool_calls"] == stream.message["tool_calls"]
    assert plain.finish_reason == stream.finish_reason


@pytest.mark.slow
def test_bases_of_the_fixtures_are_answered_by_every_provider() -> None:
    bases = [
        (path.name, orjson.loads(path.read_bytes())) for path in sorted((folder("fixtures") / "wire").glob("*.json"))
    ]
    assert len(bases) > 30
    for place, name in enumerate(profiles.names()):
        simulator = Simulator(profiles.load(name))
        # Every third base, and another third for the next provider: all together, each base is asked of many.
        for base, exchanges in bases[place % 3 :: 3]:
            for exchange in exchanges:
                _, answer = ask(simulator, exchange["request"])
                assert SIMULATOR_ERROR not in str(answer), (base, name)


def test_parallel_calls_can_be_switched_off() -> None:
    scenario = scenarios.load("parallel-tool-calls")
    tools = [scenarios.tool_definitions()[name] for name in scenario.tools]
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": scenario.prompts[0]}], "tools": tools}
    simulator = Simulator(profiles.load("openai"))
    calls = [
        len(ask(simulator, body | {"parallel_tool_calls": switch})[1]["choices"][0]["message"]["tool_calls"])
        for switch in (True, False)
    ]
    assert [2, 1] == calls


CLAIMED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"reasoning.response-field": "reasoning"}, {"reasoning": "Think."}),
    ({"reasoning.response-field": "think-tags"}, {"content": "<think>\nThink.\n</think>\n\n"}),
    ({"reasoning.response-field": "none"}, {"content": ""}),
    (
        {"reasoning.response-field": "reasoning_details", "reasoning.details.index": "absent"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Think.", "format": "unknown"}]},
    ),
    (
        {"reasoning.response-field": ["thinking_blocks", "think-tags"]},
        {"content": "", "thinking_blocks": [{"type": "thinking", "thinking": "Think."}]},
    ),
    ({"content.in-tool-reply": ["null", "text"]}, {"content": None}),
    ({"reasoning.response-field": "reasoning_text"}, {"reasoning_text": "Think."}),
]


@pytest.mark.parametrize(("claims", "expected"), CLAIMED, ids=str)
def test_a_reply_is_as_claimed(claims: dict[str, Any], expected: dict[str, Any]) -> None:
    context = ReplyContext({"thinking.mode": "always", **claims}, {"messages": []}, thinks=True)
    message = replies.message(context, ScriptTurn(thinks="Think.", calls=(("get_weather", {}),)))
    assert expected == {key: value for key, value in message.items() if key in expected}


def test_a_reply_omits_the_keys_that_a_claim_names() -> None:
    claims = {"reply.omitted-fields": ["created", "model"], "reply.object": "absent", "stream.chunk-id": "absent"}
    simulator = Simulator(profiles.of(claims))
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}
    assert {"id", "choices", "usage"} == set(ask(simulator, body)[1])
    first = ask(simulator, body | {"stream": True})[1].partition("\n\n")[0]
    assert {"object", "choices"} == set(orjson.loads(first.removeprefix("data: ")))


def test_an_opaque_signature_comes_with_the_last_words_of_the_reasoning() -> None:
    claims = {"reasoning.response-field": "reasoning_text", "signature.field": "reasoning_opaque"}
    context = ReplyContext({"thinking.mode": "always", **claims}, {"messages": []}, thinks=True)
    words = "The user wants to know what the weather is like in Paris."
    choices = replies.choices(context, ScriptTurn(thinks=words, says="It is mild."))
    deltas = [item["choices"][0]["delta"] for item in chunks.events(context, choices) if type(item) is dict]
    reasoned = [delta for delta in deltas if "reasoning_text" in delta]
    assert words == "".join(delta["reasoning_text"] for delta in reasoned)
    assert [False, True] == ["reasoning_opaque" in delta for delta in reasoned]
    assert 1 == sum("reasoning_opaque" in delta for delta in deltas)


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"ids.format": r"functions\.[a-z_.-]+:\d+", "ids.numbering": "conversation"}, "functions.get_weather:3"),
        ({"ids.format": r"functions\.[a-z_.-]+:\d+", "ids.numbering": "turn"}, "functions.get_weather:1"),
        ({"ids.format": r"[a-z_]+:\d+", "ids.unique-in-conversation": False}, "get_weather:1"),
        ({"ids.format": r"call_\d+", "ids.numbering": "conversation"}, "call_3"),
    ],
    ids=str,
)
def test_ids_count_as_claimed(claims: dict[str, Any], expected: str) -> None:
    history = [{"role": "assistant", "tool_calls": [CALL, CALL]}]
    assert expected == ReplyContext(claims, {"messages": history}, thinks=False).call_id("get_weather", 1)


@every("shape", ERROR_SHAPES)
def test_an_error_has_the_claimed_shape(shape: str) -> None:
    body = refusals.error_body(ReplyContext({"error.shape": shape}, {}, thinks=False), Refusal(400, "No."))
    assert validator(f"canonical/error-shapes#/$defs/{shape}").is_valid(body)
    assert "No." in str(body)
