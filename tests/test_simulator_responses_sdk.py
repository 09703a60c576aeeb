"""The simulator of Responses, used by OpenAI's own SDK."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest

from conformance import scenarios
from conformance.profiles import load_profile
from conformance.simulator import simulated

pytestmark = pytest.mark.slow

SCENARIO = scenarios.load("interleaved-thinking")
PARALLEL = scenarios.load("parallel-tool-calls")
TOOLS: list[Any] = [
    {"type": "function", **scenarios.tool_definitions()[name]["function"], "strict": False} for name in SCENARIO.tools
]
QUESTION: Any = {"role": "user", "content": SCENARIO.turns[0].user}
BLOBS: Any = {"store": False, "include": ["reasoning.encrypted_content"]}


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    with (
        simulated(load_profile("openai")) as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0) as made,
    ):
        yield made


def ask(client: openai.OpenAI, variant: str, given: Any, **more: Any) -> Any:
    asked: Any = {"model": "gpt-5.4-mini", "reasoning": {"effort": "low"}, "tools": TOOLS, "input": given, **more}
    if variant == "plain":
        return client.responses.create(**asked)
    with client.responses.stream(**asked) as streamed:
        return streamed.get_final_response()


def sent_back(reply: Any) -> list[Any]:
    return [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in reply.output]


def results(reply: Any, texts: Any) -> list[Any]:
    calls = [item for item in reply.output if item.type == "function_call"]
    return [
        {"type": "function_call_output", "call_id": call.call_id, "output": text}
        for call, text in zip(calls, texts, strict=True)
    ]


@pytest.mark.parametrize("variant", ["plain", "stream"])
@pytest.mark.parametrize("scenario", [SCENARIO, PARALLEL], ids=lambda each: each.name)
def test_the_sdk_of_openai_plays_a_session_without_state(client: openai.OpenAI, scenario: Any, variant: str) -> None:
    history: list[Any] = []
    reply: Any = None
    for turn in scenario.turns:
        history += [{"role": "user", "content": turn.user}] if turn.user else results(reply, turn.results)
        reply = ask(client, variant, history, **BLOBS)
        history += sent_back(reply)
        calls = [(item.name, json.loads(item.arguments)) for item in reply.output if item.type == "function_call"]
        assert list(turn.calls) == calls
        assert (turn.says or "") == reply.output_text
        assert "reasoning" == reply.output[0].type


@pytest.mark.parametrize("variant", ["plain", "stream"])
@pytest.mark.parametrize("scenario", [SCENARIO, PARALLEL], ids=lambda each: each.name)
def test_the_sdk_of_openai_plays_a_session_at_the_server(client: openai.OpenAI, scenario: Any, variant: str) -> None:
    reply: Any = None
    for turn in scenario.turns:
        given = [{"role": "user", "content": turn.user}] if turn.user else results(reply, turn.results)
        before = {} if reply is None else {"previous_response_id": reply.id}
        reply = ask(client, variant, given, **before)
        assert [name for name, _ in turn.calls] == [item.name for item in reply.output if item.type == "function_call"]
        assert (turn.says or "") == reply.output_text
    assert reply.id == client.responses.retrieve(reply.id).id
    client.responses.delete(reply.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(reply.id)


@pytest.mark.parametrize("variant", ["plain", "stream"])
def test_the_sdk_of_openai_gets_the_refusal(client: openai.OpenAI, variant: str) -> None:
    reply = ask(client, variant, [QUESTION], **BLOBS)
    with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item") as caught:
        ask(client, variant, [QUESTION, *sent_back(reply)[1:], *results(reply, ["9"])], **BLOBS)
    assert "input" == caught.value.param


def test_what_the_simulator_keeps_is_not_hidden_by_a_remembered_answer(client: openai.OpenAI) -> None:
    reply = ask(client, "plain", "Remember the number seven.", tools=[])
    again = {"model": "gpt-5.4-mini", "input": "Which number?", "previous_response_id": reply.id}
    url = str(client.base_url) + "responses"
    assert 200 == httpx.post(url, json=again).status_code
    client.responses.delete(reply.id)
    assert 400 == httpx.post(url, json=again).status_code
