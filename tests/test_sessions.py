"""Sessions: which turn a request gets, what is recorded, and that no request breaks them."""

import threading
from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import profiles, scenarios
from conformance.errors import Unusable
from conformance.profiles import Profile
from conformance.scenarios import Scenario, ScriptTurn
from conformance.simulator.sessions import ScenarioSession, SessionServer, serving_sessions
from conformance.transport.http import HttpRequest
from tests.agents import directly

AGENT = scenarios.load("agent-session")
PROFILES = {name: profiles.load(name) for name in ("deepseek", "mistral", "openai", "openrouter")}
FORECAST = scenarios.tool_definitions()["get_forecast"]


def opened(name: str = "openai", scenario: Scenario = AGENT, *, strict: bool = False) -> ScenarioSession:
    return SessionServer().open(scenario, PROFILES[name], "plain", strict=strict)


def body(*said: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text} for text in said or ("Hi",)]
    return {"model": "m", "messages": messages, "tools": [FORECAST], **more}


def reply(session: ScenarioSession, sent: dict[str, Any]) -> dict[str, Any]:
    _, content = directly(session)(sent)
    answer: dict[str, Any] = orjson.loads(content)
    return answer


def message(session: ScenarioSession, sent: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = reply(session, sent)["choices"][0]["message"]
    return said


@pytest.fixture(scope="module")
def server() -> Iterator[SessionServer]:
    with serving_sessions() as server:
        yield server


def test_each_request_gets_the_next_turn_whatever_its_history() -> None:
    session = opened()
    said = [message(session, body(str(number))).get("content") for number in range(7)]
    assert ["Let me also look at Oslo.", "Tomorrow Paris has 21 °C, Tokyo 22 °C, and Oslo only 9 °C."] == said[1:3]
    assert ["There is nothing more."] * 2 == said[5:]


def test_a_repeated_request_gets_the_same_turn_and_is_counted() -> None:
    session = opened()
    first, again, other = (message(session, body(text)) for text in ("a", "a", "b"))
    assert first == again != other
    assert [1] == session.repeats
    assert 3 == len(session.exchanges) == len(session.times)


def test_ids_do_not_depend_on_the_history_that_a_client_sends() -> None:
    sessions = [opened("deepseek"), opened("deepseek")]
    first = [message(session, body("a"))["tool_calls"] for session in sessions]
    second = [message(sessions[0], body("x", "y", "z")), message(sessions[1], body("b"))]
    assert first[0] == first[1]
    assert second[0] == second[1]
    assert {call["id"] for call in first[0]}.isdisjoint(call["id"] for call in second[0]["tool_calls"])


def test_a_reply_is_streamed_if_the_request_says_so_whatever_the_variant() -> None:
    session = opened()
    directly(session)(body("a", stream=True))
    directly(session)(body("b", stream=False))
    assert [True, False] == [exchange.streamed for exchange in session.exchanges]
    assert "plain" == session.variant


def test_the_model_thinks_without_being_asked() -> None:
    assert "default-off" == PROFILES["mistral"].at(PROFILES["mistral"].model)["thinking.mode"]
    content = message(opened("mistral"), body())["content"]
    assert "thinking" == content[0]["type"]


def test_a_model_that_never_thinks_does_not() -> None:
    members = message(opened("openai"), body()).keys()
    assert {"role", "content", "tool_calls", "refusal", "annotations"} == members


def test_a_reply_has_the_members_that_the_sdk_of_openrouter_requires() -> None:
    session = opened("openrouter")
    plain = reply(session, body("a"))
    assert {"provider", "system_fingerprint"} <= plain.keys()
    assert "tool_calls" == plain["choices"][0]["native_finish_reason"]
    _, content = directly(session)(body("b", stream=True))
    chunks = [orjson.loads(line[6:]) for line in content.decode().splitlines() if line.startswith("data: {")]
    assert [] == [chunk for chunk in chunks if not {"provider", "system_fingerprint"} <= chunk.keys()]
    assert {None, "tool_calls"} == {each["native_finish_reason"] for chunk in chunks for each in chunk["choices"]}


def test_a_call_that_is_not_offered_is_not_made() -> None:
    said = message(opened(), body() | {"tools": []})
    assert "There is no tool for that." == said["content"]
    assert "tool_calls" not in said


def test_text_goes_into_another_tool_if_a_call_is_demanded() -> None:
    parameters = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    final = {"type": "function", "function": {"name": "final_answer", "parameters": parameters}}
    sent = body() | {"tools": [FORECAST, final], "tool_choice": "required"}
    session = opened()
    said = [message(session, sent | {"seed": number}) for number in range(3)][2]
    (call,) = said["tool_calls"]
    assert ("final_answer", {"answer": AGENT.turns[2].says}) == (
        call["function"]["name"],
        orjson.loads(call["function"]["arguments"]),
    )


def test_a_demand_that_cannot_be_met_is_no_fault_of_the_simulator() -> None:
    session = opened()
    for number in range(5):
        directly(session)(body(tool_choice="required", parallel_tool_calls=False, seed=number))
    assert "" == session.fault


def test_a_reply_that_breaks_an_undeclared_rule_is_a_fault() -> None:
    turn = ScriptTurn("Hi", calls=(("get_forecast", {}), ("get_forecast", {})), ids=("call_a", "call_a"))
    session = opened(scenario=Scenario("x", "x", (), (turn,), for_clients=True))
    status, _ = directly(session)(body())
    assert 500 == status
    assert "tool-calls/id-unique-in-reply" in session.fault


def test_a_refused_request_does_not_use_up_a_turn() -> None:
    session = opened("deepseek", strict=True)
    first = message(session, body("a", model="deepseek-v4-pro"))
    del first["reasoning_content"]
    history = [{"role": "user", "content": "a"}, first, {"role": "tool", "tool_call_id": "x", "content": "1"}]
    status, _ = directly(session)({"model": "deepseek-v4-pro", "tools": [FORECAST], "messages": history})
    assert 400 == status
    assert [1] == [each.exchange for each in session.refusals]
    assert "Let me also look at Oslo." == message(session, body("b"))["content"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/chat/completions", 200),
        ("/v1/chat/completions", 200),
        ("/chat/completions/", 200),
        ("/completions", 404),
        ("/responses", 404),
    ],
)
def test_every_form_of_the_path_works_and_other_requests_are_recorded(
    server: SessionServer, path: str, status: int
) -> None:
    session = server.open(AGENT, PROFILES["openai"])
    assert status == httpx.post(f"{session.base_url}{path}?beta=true", json=body()).status_code
    assert ([] if status == 200 else [f"POST /v1{path}"]) == session.other_requests


def test_a_base_url_without_its_last_segment_works(server: SessionServer) -> None:
    session = server.open(AGENT, PROFILES["openai"])
    base = session.base_url.removesuffix("/v1")
    assert 200 == httpx.post(f"{base}/chat/completions", json=body()).status_code
    assert 200 == httpx.get(f"{base}/v1/models").status_code
    assert 1 == len(session.exchanges)


def test_a_path_of_no_session_is_not_found(server: SessionServer) -> None:
    session = server.open(AGENT, PROFILES["openai"])
    foreign = session.base_url.replace("agent-session", "ids-empty")
    for url in (f"{server.url}/v1", f"{server.url}/r/999/s/agent-session/v1", foreign):
        assert 404 == httpx.post(f"{url}/chat/completions", json=body()).status_code
    assert () == session.exchanges


def test_concurrent_sessions_do_not_mix(server: SessionServer) -> None:
    sessions = [server.open(AGENT, PROFILES["openai"]) for _ in range(4)]

    def hold(session: ScenarioSession) -> None:
        with httpx.Client() as client:
            for number in range(5):
                client.post(f"{session.base_url}/chat/completions", json=body(session.base_url, str(number)))

    threads = [threading.Thread(target=hold, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = [[each.request["messages"][0]["content"] for each in session.exchanges] for session in sessions]
    assert [[session.base_url] * 5 for session in sessions] == said
    assert all(came <= replied for session in sessions for came, replied in session.times)


@pytest.mark.parametrize("sent", [b"{", b"[]", b"\xff", b'{"messages": [], "messages": []}'])
def test_a_body_that_is_not_a_json_object_is_refused_and_recorded_separately(sent: bytes) -> None:
    session = opened()
    answered = session.answer(HttpRequest("POST", "/", {}, sent), "/v1/chat/completions")
    assert 400 == answered.status
    assert () == session.exchanges
    assert session.other_requests[0].startswith("POST /v1/chat/completions: ")


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "messages": values | st.lists(st.fixed_dictionaries({"role": values, "content": values}), max_size=3),
        "model": st.just("m") | values,
        "stream": st.booleans() | values,
        "stream_options": values,
        "tools": st.just([FORECAST]) | values,
        "tool_choice": st.sampled_from(["none", "required"]) | values,
        "parallel_tool_calls": values,
        "thinking": values,
    },
)


@given(st.lists(bodies, max_size=4), st.sampled_from(["agent-session", "ids-empty", "cut-stream"]), st.booleans())
def test_no_request_makes_a_session_break_its_own_rules(sent: list[Any], name: str, strict: bool) -> None:  # noqa: FBT001 — drawn
    session = opened("deepseek", scenarios.load(name), strict=strict)
    for each in sent:
        directly(session)(each)
    assert "" == session.fault
    assert sent == [exchange.request for exchange in session.exchanges]


def test_a_scenario_that_the_claims_rule_out_is_not_opened() -> None:
    with pytest.raises(Unusable, match=r"openai claims reasoning\.response-field = 'none'"):
        opened("openai", scenarios.load("details-signed"))


def test_a_scenario_for_providers_is_played_to_clients_too() -> None:
    session = opened("deepseek", scenarios.load("interleaved-thinking"))
    tool = scenarios.tool_definitions()["get_weather"]
    assert "The temperature comes first" in message(session, body() | {"tools": [tool]})["reasoning_content"]


def test_claims_of_a_scenario_override_those_of_models_and_do_not_change_the_profile() -> None:
    profile: Profile = PROFILES["deepseek"]
    names = [*profile.claims, *(name for model in profile.models for name in model.claims)]
    overridden = profile.with_claims(dict.fromkeys(names, "unknown"))
    models = ("", "deepseek-v4-pro", *[model.name for model in profile.models])
    assert {"unknown"} == {value for model in models for value in overridden.at(model).values()}
    assert "unknown" != profile.at("deepseek-v4-pro")["reasoning.response-field"]
