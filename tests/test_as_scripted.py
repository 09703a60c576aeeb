"""Replies against the script, and the pairing of results in the answers of real models."""

from collections.abc import Mapping
from typing import Any

import pytest

from conformance import profiles, scenarios
from conformance.results import Evidence, Status
from conformance.simulator import Simulator
from conformance.suite.as_scripted import AS_SCRIPTED, RESULTS_PAIRED, compared
from conformance.suite.play import Subject, play
from conformance.suite.probes import EXCHANGED
from conformance.wire.exchange import Conversation, Exchange

PARALLEL = scenarios.load("parallel-tool-calls")
PROFILE = profiles.load("openai")


def reply(message: dict[str, Any]) -> Exchange:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return Exchange.of_plain({"model": "m", "messages": []}, {"choices": [choice]}, 200, model="m")


def conversation(answer: str) -> Conversation:
    cities = ("Madrid", "Rome")
    calls = [
        {"id": city, "type": "function", "function": {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'}}
        for city in cities
    ]
    return reply({"content": None, "tool_calls": calls}), reply({"content": answer})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Madrid has 21 and Rome 24 degrees.", [(RESULTS_PAIRED, Status.PASSED)]),
        ("Madrid: 24 °C. Rome: 21 °C.", [(RESULTS_PAIRED, Status.FAILED)]),
        ("Rome is three degrees warmer than Madrid.", []),
        ("Madrid has 21, Madrid has 24, not Rome.", []),
        ("It has 210 and 240.", []),
        ("Rome is warmer (24) than Madrid (21).", [(RESULTS_PAIRED, Status.PASSED)]),
        ("It is 21 degrees in Rome and 24 in Madrid.", [(RESULTS_PAIRED, Status.FAILED)]),
        ("Madrid and Rome have 21 and 24 degrees.", []),
        ("With 24 degrees, Rome is warmer than Madrid with 21.", []),
    ],
)
@pytest.mark.parametrize("evidence", [Evidence.LIVE, Evidence.RECORDED])
def test_an_answer_that_names_results_is_read(answer: str, expected: list[Any], evidence: Evidence) -> None:
    found = compared(PARALLEL, conversation(answer), PROFILE, evidence)
    assert expected == [(result.name, result.status) for result in found]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Rome is three degrees warmer than Madrid.", []),
        ("Rome is three degrees warmer than Madrid. My earlier reasoning was visible to me.", []),
        ("Madrid is three degrees warmer than Rome.", [AS_SCRIPTED]),
        ("Rome is three degree warmer than Madrid.", [AS_SCRIPTED]),
    ],
)
def test_an_engine_says_what_the_script_says(answer: str, expected: list[str]) -> None:
    found = compared(PARALLEL, conversation(answer), PROFILE, Evidence.ENGINE)
    assert expected == [result.name for result in found]


@pytest.mark.parametrize("variant", ["plain", "stream"])
@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("accepted", (Status.FAILED, f"accepted: {EXCHANGED}")),
        ("damaged", (Status.PASSED, f"accepted: {EXCHANGED}")),
        ("unknown", (Status.NOT_APPLICABLE, f"accepted: {EXCHANGED}")),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "deepseek", "mistral", "vllm"])
def test_a_simulator_that_is_claimed_to_exchange_reversed_results_does_so(
    provider: str, claim: str, expected: tuple[Status, str], variant: str
) -> None:
    profile = profiles.load(provider)
    exchanging = Simulator(profile.with_claims({"results.reversed": "damaged"}))
    claiming = profile.with_claims({"results.reversed": claim})
    case = play(PARALLEL, variant, Subject(claiming, profile.model, exchanging.send, Evidence.LIVE))
    (result,) = [each for each in case.probes if each.name == "results-reversed"]
    assert expected == (result.status, result.observed)
    assert [] == [each for each in case.probes if each.name == AS_SCRIPTED]


@pytest.mark.parametrize(
    ("claim", "answer", "expected"),
    [
        ("accepted", "Madrid has 21 and Rome 24 degrees.", (Status.PASSED, "accepted")),
        ("accepted", "Madrid has 24 and Rome 21 degrees.", (Status.FAILED, f"accepted: {EXCHANGED}")),
        ("damaged", "Madrid has 24 and Rome 21 degrees.", (Status.PASSED, f"accepted: {EXCHANGED}")),
        ("unknown", "Madrid has 24 and Rome 21 degrees.", (Status.NOT_APPLICABLE, f"accepted: {EXCHANGED}")),
    ],
)
def test_the_answer_to_reversed_results_is_read(claim: str, answer: str, expected: tuple[Status, str]) -> None:
    profile = PROFILE.with_claims({"results.reversed": claim})
    honest = Simulator(profile)

    def send(body: Mapping[str, Any]) -> Exchange:
        exchange = honest.send(body)
        is_reversed = [each["content"] for each in body["messages"] if each["role"] == "tool"] == ["24", "21"]
        if not is_reversed:
            return exchange
        sent = reply({"content": answer})
        return Exchange.of_plain(dict(body), sent.response, 200, model=profile.model)

    case = play(PARALLEL, "plain", Subject(profile, profile.model, send, Evidence.LIVE))
    (result,) = [each for each in case.probes if each.name == "results-reversed"]
    assert expected == (result.status, result.observed)
