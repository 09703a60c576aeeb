"""Requests that ask once more for a truncated reply, with a note of the client's own, get the same turn again."""

from typing import Any

import orjson
import pytest

from conformance import profiles, scenarios
from conformance.adapters.case import check_session, client_session
from conformance.adapters.job import job_of
from conformance.adapters.loop import DriverAnswer
from conformance.results import Outcome, Status
from conformance.simulator.repeats import asks_again
from conformance.simulator.sessions import ScenarioSession, SessionServer
from conformance.transport.http import HttpRequest
from conformance.wire.exchange import Exchange

SCENARIO = scenarios.load("error-inside-stream")
WIRES = {"anthropic.messages": "/v1/messages", "openai": "/v1/chat/completions"}
NOTE = "Your reply was cut off. Go on from there."
ASKED = {"role": "user", "content": SCENARIO.prompts[0]}


def opened(name: str) -> ScenarioSession:
    server = SessionServer()
    server.url = "http://127.0.0.1:1"
    return server.open(SCENARIO, profiles.load(name), "stream")


def post(session: ScenarioSession, path: str, messages: list[Any], *, streams: bool = True) -> str:
    tools = [scenarios.tool_definitions()[name]["function"] for name in SCENARIO.tools]
    shape = [{"type": "function", "function": each} for each in tools]
    if path == WIRES["anthropic.messages"]:
        shape = [{"name": each["name"], "input_schema": each["parameters"]} for each in tools]
    body = {"model": session.model, "max_tokens": 100, "messages": messages, "tools": shape, "stream": streams}
    reply = session.answer(HttpRequest("POST", path, {}, orjson.dumps(body)), path)
    assert 200 == reply.status
    return (reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)).decode()


def discarded(session: ScenarioSession, *texts: str) -> Outcome:
    answer = DriverAnswer(texts)
    found = check_session(client_session(session, job_of(session), answer), session.profile)
    return next(each for each in found if each.rule == "loop/truncated-reply-discarded")


OWN = [ASKED, {"role": "user", "content": NOTE}]
NOTED = [
    pytest.param(OWN, id="a message of its own"),
    pytest.param([{"role": "user", "content": f"{ASKED['content']}\n\n{NOTE}"}], id="in the last message"),
]


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize("noted", NOTED)
def test_a_note_asks_for_the_same_turn(name: str, noted: list[Any]) -> None:
    session = opened(name)
    first = post(session, WIRES[name], [ASKED])
    assert "The upstream is gone." in first
    assert "The upstream is gone." in post(session, WIRES[name], noted)
    whole = post(session, WIRES[name], noted, streams=False)
    assert [1, 2] == session.repeats
    assert whole.count("get_forecast") == len(SCENARIO.turns[0].calls)
    assert Status.PASSED is discarded(session).status


@pytest.mark.parametrize("name", WIRES)
def test_a_partial_answer_that_is_asked_for_again_in_vain_is_no_answer(name: str) -> None:
    session = opened(name)
    post(session, WIRES[name], [ASKED])
    post(session, WIRES[name], OWN)
    found = discarded(session, "half an answer")
    assert Status.FAILED is found.status
    assert all("to end with an error or to be sent again" in each.message for each in found.findings)


OTHERS = [
    pytest.param([ASKED, {"role": "user", "content": SCENARIO.prompts[1]}], id="the next prompt"),
    pytest.param([ASKED, {"role": "assistant", "content": "half"}, {"role": "user", "content": NOTE}], id="a reply"),
    pytest.param([{"role": "user", "content": "Something else."}], id="another prompt"),
    pytest.param([], id="nothing"),
    pytest.param(None, id="no messages"),
]


@pytest.mark.parametrize("messages", OTHERS)
def test_anything_else_goes_on(messages: Any) -> None:
    before = Exchange(request={"messages": [ASKED]}, response="data: {}\n\n", streamed=True)
    turn = SCENARIO.turns[0]
    assert asks_again(turn, before, {"messages": OWN}, SCENARIO.prompts)
    assert not asks_again(turn, before, {"messages": messages}, SCENARIO.prompts)


def test_reasoning_that_is_kept_of_a_truncated_reply_is_no_note() -> None:
    thought = {"type": "reasoning.encrypted", "data": "QQ=="}
    sent: list[dict[str, Any]] = [ASKED, {"role": "assistant", "content": None, "reasoning_details": [thought]}]
    before = Exchange(request={"messages": sent}, response="data: {}\n\n", streamed=True)
    more = [ASKED, {**sent[1], "reasoning_details": [thought, {**thought, "data": "Qg=="}]}]
    assert asks_again(SCENARIO.turns[0], before, {"messages": sent}, SCENARIO.prompts)
    assert not asks_again(SCENARIO.turns[0], before, {"messages": more}, SCENARIO.prompts)


def test_only_a_truncated_turn_is_asked_for_again() -> None:
    noted = {"messages": OWN}
    streamed = Exchange(request={"messages": [ASKED]}, response="data: {}\n\n", streamed=True)
    plain = Exchange(request={"messages": [ASKED]}, response={})
    complete = scenarios.load("agent-session").turns[0]
    assert not asks_again(complete, streamed, noted, SCENARIO.prompts)
    assert not asks_again(SCENARIO.turns[0], plain, noted, SCENARIO.prompts)
