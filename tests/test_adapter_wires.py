"""Adapters on other wires: sessions answer on their wire only, and findings point into what was sent."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance import profiles, scenarios, wires
from conformance.adapters import definition
from conformance.adapters.case import check_session, client_session, promised
from conformance.adapters.driver import Driver
from conformance.adapters.job import job_of
from conformance.adapters.loop import DriverAnswer
from conformance.adapters.normalize import normalize
from conformance.adapters.proof import with_requests
from conformance.adapters.runs import RunPlan, plan_for, write_recording
from conformance.errors import InvalidDocument, UnknownName
from conformance.results import Evidence, Outcome, Status
from conformance.results.runs import Case
from conformance.schemas import validator
from conformance.simulator.sessions import ScenarioSession, SessionServer
from conformance.transport.http import HttpRequest
from tests.test_adapter_definitions import folder

AGENT = scenarios.load("agent-session")
WIRES = {"messages": "anthropic", "responses": "openai", "gemini": "gemini"}
PATHS = {
    "messages": "/v1/messages",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/gemini-3-pro-preview:generateContent",
}
STREAMS = {**PATHS, "gemini": "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"}


def opened(wire: str, name: str = "agent-session", variant: str = "plain", *, strict: bool = False) -> ScenarioSession:
    profile = profiles.load(f"{WIRES[wire]}.{wire}")
    server = SessionServer()
    server.url = "http://127.0.0.1:1"
    return server.open(scenarios.load(name), profile, variant, strict=strict)


def post(session: ScenarioSession, path: str, body: Mapping[str, Any]) -> tuple[int, str]:
    reply = session.answer(HttpRequest("POST", path, {}, orjson.dumps(body)), path)
    content = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
    return reply.status, content.decode()


def asked(wire: str, *, streams: bool = False) -> dict[str, Any]:
    tools = [scenarios.tool_definitions()[name] for name in AGENT.tools]
    messages = [{"role": "user", "content": AGENT.prompts[0]}]
    body = {"model": "m", "messages": messages, "tools": tools, "stream": streams}
    return wires.by_name(wire).writing.request(body)


def messages_loop(session: ScenarioSession, edit: Callable[[list[Any]], list[Any]]) -> DriverAnswer:
    """Hold the conversation of a plain Messages loop; `edit` changes the blocks that it sends back."""
    job = job_of(session)
    history: list[Any] = []
    texts: list[str] = []
    tools = {tool["name"]: tool for tool in job["tools"]}
    for prompt in job["prompts"]:
        history.append({"role": "user", "content": prompt})
        for _ in range(job["max_turns"]):
            body = {**asked("messages"), "messages": history, "system": job["system"]}
            status, text = post(session, PATHS["messages"], body)
            if status != 200:
                return DriverAnswer(tuple(texts))
            blocks = orjson.loads(text)["content"]
            history.append({"role": "assistant", "content": edit(blocks)})
            calls = [block for block in blocks if block["type"] == "tool_use"]
            if not calls:
                break
            results = [next(r for r in tools[c["name"]]["results"] if r["arguments"] == c["input"]) for c in calls]
            history.append({
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": call["id"], "content": result["text"]}
                    for call, result in zip(calls, results, strict=True)
                ],
            })  # fmt: skip
        texts.append(blocks[-1]["text"])
    return DriverAnswer(tuple(texts))


def without_thinking(blocks: list[Any]) -> list[Any]:
    return [block for block in blocks if block["type"] != "thinking"]


def outcomes(session: ScenarioSession, answer: DriverAnswer) -> dict[str, Outcome]:
    found = check_session(client_session(session, job_of(session), answer), session.profile)
    return {each.rule: each for each in normalize(found, session.exchanges)}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("streams", [False, True])
def test_a_session_answers_on_its_own_wire_only(wire: str, streams: bool) -> None:  # noqa: FBT001 — a parameter
    session = opened(wire)
    for other in {**PATHS, "chat": "/v1/chat/completions"}.values():
        if other != PATHS[wire]:
            assert 404 == post(session, other, asked(wire))[0]
    assert 3 == len(session.other_requests)
    status, text = post(session, STREAMS[wire] if streams else PATHS[wire], asked(wire, streams=streams))
    assert (200, streams) == (status, text.startswith(("data:", "event:")))
    (exchange,) = session.exchanges
    assert wire == exchange.protocol
    assert 2 == len(exchange.response["choices"][0]["message"]["tool_calls"])


def test_a_session_that_serves_chat_completions_answers_no_other_wire() -> None:
    session = SessionServer().open(AGENT, profiles.load("openai"))
    assert 404 == post(session, PATHS["responses"], asked("responses"))[0]


def test_a_conforming_loop_breaks_nothing_and_leaves_nothing_untested() -> None:
    session = opened("messages")
    found = outcomes(session, messages_loop(session, list))
    bad = (Status.FAILED, Status.ERRORED, Status.UNTESTED)
    assert [] == [(rule, each.findings) for rule, each in found.items() if each.status in bad]
    assert found["loop/every-prompt-answered"].judged == len(AGENT.prompts)
    assert found["reasoning/present-on-tool-turns"].judged


def test_findings_excerpts_and_requests_are_native() -> None:
    session = opened("messages")
    found = outcomes(session, messages_loop(session, without_thinking))
    (first, *_) = found["reasoning/present-on-tool-turns"].findings
    assert first.at.startswith("/1/request/messages/1")
    assert "tool_use" in first.excerpt
    case = Case("agent-session", "plain", Evidence.SIMULATED, tuple(found.values()))
    (kept,) = with_requests([case], {case.name: session.exchanges})
    shown = {each.exchange: each for each in kept.requests}[1]
    assert ("/v1/messages", "tool_result") == (shown.path, shown.body["messages"][2]["content"][0]["type"])


def test_places_of_loop_facts_are_native() -> None:
    session = opened("messages")
    answer = messages_loop(session, lambda blocks: [{**b, "text": "No."} if b["type"] == "text" else b for b in blocks])
    (finding,) = outcomes(session, answer)["loop/history-sent"].findings[:1]
    assert "/3/request" == finding.at


def test_a_strict_session_refuses_in_the_words_of_the_wire() -> None:
    session = opened("messages", strict=True)
    messages_loop(session, without_thinking)
    (refused,) = session.refusals
    assert (1, "reasoning/present-on-tool-turns") == (refused.exchange, refused.rule)
    assert "Expected `thinking` or `redacted_thinking`, but found `tool_use`" in str(refused.refusal.message)
    assert 400 == session.exchanges[-1].status


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", ["cut-stream", "error-inside-stream"])
def test_a_faulty_stream_is_no_complete_reply(wire: str, name: str) -> None:
    session = opened(wire, name, "stream")
    status, text = post(session, STREAMS[wire], asked(wire, streams=True))
    assert (200, name == "error-inside-stream") == (status, "The upstream is gone." in text)
    found = client_session(session, job_of(session), DriverAnswer(("half an answer",)))
    assert {0} == found.incomplete
    judged = {each.rule: each for each in check_session(found, session.profile)}["loop/truncated-reply-discarded"]
    assert Status.FAILED is judged.status


def test_a_cut_reply_that_is_kept_need_not_keep_its_cut_calls() -> None:
    session = opened("responses", "cut-stream", "stream")
    body = asked("responses", streams=True)
    history = list(body["input"])
    for _ in range(3):
        text = post(session, PATHS["responses"], {**body, "input": history})[1]
        events = [orjson.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
        done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
        called = [item["call_id"] for item in done if item["type"] == "function_call"]
        history += [*done, *({"type": "function_call_output", "call_id": each, "output": "9"} for each in called)]
    found = outcomes(session, DriverAnswer(()))
    assert Status.FAILED is found["loop/truncated-reply-discarded"].status
    assert Status.PASSED is found["transcript/reply-resent"].status


def test_a_repeated_request_gets_the_same_turn() -> None:
    session = opened("responses")
    first, again = (orjson.loads(post(session, PATHS["responses"], asked("responses"))[1]) for _ in range(2))
    assert [1] == session.repeats
    assert [item["type"] for item in first["output"]] == [item["type"] for item in again["output"]]


def test_a_reply_that_is_referred_to_is_the_history() -> None:
    session = opened("responses")
    body = {**asked("responses"), "store": True}
    first = orjson.loads(post(session, PATHS["responses"], body)[1])
    given = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "9"}
        for item in first["output"]
        if item["type"] == "function_call"
    ]
    post(session, PATHS["responses"], {**body, "previous_response_id": first["id"], "input": given})
    assert ["user", "assistant", "tool", "tool"] == [m["role"] for m in session.exchanges[1].request["messages"]]


@pytest.mark.parametrize("wire", WIRES)
def test_a_job_names_the_wire_and_the_provider(wire: str) -> None:
    job = job_of(opened(wire))
    assert () == validator("files/adapter-job").errors(job)
    assert (wire, WIRES[wire]) == (job["protocol"], job["provider"])


@pytest.mark.parametrize("wire", WIRES)
def test_scenarios_promise_only_rules_of_the_wire(wire: str) -> None:
    assert "shape/message" in promised(AGENT, "chat")
    assert "shape/message" not in promised(AGENT, wire)
    assert "transcript/calls-answered" in promised(AGENT, wire)


def test_scenarios_about_the_form_of_chat_completions_are_for_that_wire() -> None:
    assert ("chat",) == scenarios.load("stream-index-zero").wires
    assert set(WIRES) < set(AGENT.wires)
    plans = [RunPlan("sdk", Driver(("true",), Path()), profiles.load(name)) for name in ("openai", "openai.responses")]
    chat, responses = ({scenario.name for scenario, _ in plan.cases} for plan in plans)
    assert ("stream-index-zero" in chat, "stream-index-zero" in responses) == (True, False)
    assert {"agent-session", "cut-stream", "arguments-verbatim"} <= responses


def test_thinking_can_have_a_signature_and_no_text() -> None:
    session = opened("messages", "details-text-empty")
    thinking = orjson.loads(post(session, PATHS["messages"], asked("messages"))[1])["content"][0]
    assert ("thinking", "") == (thinking["type"], thinking["thinking"])
    assert thinking["signature"]
    dropping = opened("messages", "details-text-empty")
    found = outcomes(dropping, messages_loop(dropping, without_thinking))
    assert Status.FAILED is found["reasoning/present-on-tool-turns"].status


@pytest.mark.parametrize("wire", ["messages", "responses"])
def test_a_reply_can_have_two_passages_of_reasoning(wire: str) -> None:
    session = opened(wire, "details-twice")
    reply = orjson.loads(post(session, PATHS[wire], asked(wire))[1])
    kinds = [each["type"] for each in reply["content" if wire == "messages" else "output"]]
    assert 2 == kinds.count("thinking" if wire == "messages" else "reasoning")
    first, second = session.exchanges[0].response["choices"][0]["message"]["reasoning_details"]
    key = "signature" if wire == "messages" else "data"
    assert len({first[key], second[key]}) == 2


def joined(blocks: list[Any]) -> list[Any]:
    if ["thinking", "thinking"] != [block["type"] for block in blocks[:2]]:
        return blocks
    return [{**blocks[1], "thinking": blocks[0]["thinking"] + blocks[1]["thinking"]}, *blocks[2:]]


@pytest.mark.parametrize(("edit", "status"), [(list, Status.PASSED), (joined, Status.FAILED)])
def test_passages_of_reasoning_are_not_joined(edit: Callable[[list[Any]], list[Any]], status: Status) -> None:
    session = opened("messages", "details-twice")
    assert status is outcomes(session, messages_loop(session, edit))["reasoning/details-unchanged"].status


@pytest.mark.parametrize(
    ("dropped", "status"), [((), Status.PASSED), (("phase",), Status.FAILED), (("id", "phase"), Status.FAILED)]
)
def test_the_phase_of_messages_is_sent_back(dropped: tuple[str, ...], status: Status) -> None:
    session = opened("responses", "phases")
    items: list[Any] = [{"role": "user", "content": AGENT.prompts[0]}]
    phases = []
    for _ in range(3):
        output = orjson.loads(post(session, PATHS["responses"], {**asked("responses"), "input": items})[1])["output"]
        phases += [item["phase"] for item in output if item["type"] == "message"]
        items += [{key: value for key, value in item.items() if key not in dropped} for item in output]
        calls = [item["call_id"] for item in output if item["type"] == "function_call"]
        items += [{"type": "function_call_output", "call_id": call, "output": "9"} for call in calls]
    assert ["commentary", "final_answer"] == phases
    assert status is outcomes(session, DriverAnswer(()))["responses/phase-kept"].status


def test_a_definition_names_its_wire_and_only_providers_that_serve_it(tmp_path: Path) -> None:
    known = definition.load("sdk", folder(tmp_path, protocol="messages", providers={"anthropic": {}}))
    driver = Driver(("true",), tmp_path)
    assert "messages" == known.protocol
    for named in ("anthropic", "anthropic.messages"):
        assert ("anthropic.messages", "messages") == (
            plan_for(known, named, driver).provider,
            plan_for(known, named, driver).profile.wire,
        )
    with pytest.raises(UnknownName):
        plan_for(known, "openai", driver)
    with pytest.raises(InvalidDocument, match="expected a profile with claims about messages, got 'groq'"):
        definition.load("sdk", folder(tmp_path, protocol="messages", providers={"groq": {}}))


@pytest.mark.parametrize("wire", WIRES)
def test_what_is_kept_can_be_checked_again(wire: str, tmp_path: Path) -> None:
    session = opened(wire)
    post(session, PATHS[wire], asked(wire))
    path = write_recording(tmp_path, "case", session.exchanges, {"provider": session.profile.service})
    (line,) = path.read_text("utf-8").splitlines()
    record = orjson.loads(line)
    assert asked(wire) == record["request"]
    assert wire == wires.translate((session.exchanges[0].as_received,))[0].protocol
    assert record["url"].startswith("/v1")
