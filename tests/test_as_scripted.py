"""Replies against the script, and the pairing of results in the answers of real models."""

from collections.abc import Mapping
from typing import Any

import pytest

from conformance import profiles, scenarios
from conformance.results import Evidence, Status
from conformance.results.comparisons import AS_SCRIPTED, RESULTS_PAIRED
from conformance.simulator import Simulator
from conformance.suite.comparisons import compared
from conformance.suite.play import play
from conformance.suite.probes import EXCHANGED
from conformance.suite.turns import Progress, Subject
from conformance.wire.exchange import Exchange
from tests.loops import every
from tests.sampling import some

PARALLEL = scenarios.load("parallel-tool-calls")
PROFILE = profiles.load("openai")


def reply(message: dict[str, Any]) -> Exchange:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return Exchange.of_plain({"model": "m", "messages": []}, {"choices": [choice]}, 200, model="m")


def conversation(answer: str) -> Progress:
    cities = ("Madrid", "Rome")
    calls = [
        {"id": city, "type": "function", "function": {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'}}
        for city in cities
    ]
    exchanges = [reply({"content": None, "tool_calls": calls}), reply({"content": answer})]
    return Progress([], exchanges, [{}, {}])


def always(answer: str) -> Subject:
    """Return a model that answers any request in the same words."""
    return Subject(PROFILE, PROFILE.model, lambda _: reply({"content": answer}), Evidence.LIVE)


@every(
    ("answer", "expected"),
    [
        ("Madrid has 28.4 and Rome 13.7 degrees.", [(RESULTS_PAIRED, Status.PASSED)]),
        ("Madrid: 13.7 °C. Rome: 28.4 °C.", [(RESULTS_PAIRED, Status.FAILED)]),
        ("Rome is colder than Madrid.", [(RESULTS_PAIRED, Status.FAILED)]),
        ("Madrid has 28.4, Madrid has 13.7, not Rome.", [(RESULTS_PAIRED, Status.UNTESTED)]),
        ("It has 128.4 and 13.75.", [(RESULTS_PAIRED, Status.FAILED)]),
        ("Rome is colder (13.7) than Madrid (28.4).", [(RESULTS_PAIRED, Status.PASSED)]),
        ("It is 28.4 degrees in Rome and 13.7 in Madrid.", [(RESULTS_PAIRED, Status.FAILED)]),
        ("Madrid and Rome have 28.4 and 13.7 degrees.", [(RESULTS_PAIRED, Status.UNTESTED)]),
        ("Madrid and Rome have 28.4 and 13.7 degrees, respectively.", [(RESULTS_PAIRED, Status.PASSED)]),
        ("With 13.7 degrees, Rome is colder than Madrid with 28.4.", [(RESULTS_PAIRED, Status.UNTESTED)]),
    ],
)
@every("evidence", [Evidence.LIVE, Evidence.RECORDED])
def test_an_answer_that_names_results_is_read(answer: str, expected: list[Any], evidence: Evidence) -> None:
    found = compared(PARALLEL, "plain", conversation(answer), always(answer), evidence)
    assert expected == [(result.name, result.status) for result in found]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Madrid has 28.4 degrees and Rome has 13.7.", []),
        ("Madrid has 28.4 degrees and Rome has 13.7. My earlier reasoning was visible to me.", []),
        ("Madrid has 13.7 degrees and Rome has 28.4.", [AS_SCRIPTED]),
        ("Madrid has 28.4 degree and Rome has 13.7.", [AS_SCRIPTED]),
    ],
)
def test_an_engine_says_what_the_script_says(answer: str, expected: list[str]) -> None:
    found = compared(PARALLEL, "plain", conversation(answer), always(answer), Evidence.ENGINE)
    assert expected == [result.name for result in found if result.status is not Status.PASSED]


@every("variant", some(["plain", "stream"]))
@every(
    ("claim", "expected"),
    [
        ("accepted", (Status.FAILED, f"accepted: {EXCHANGED}")),
        ("damaged", (Status.PASSED, f"accepted: {EXCHANGED}")),
        ("unknown", (Status.NOT_APPLICABLE, f"accepted: {EXCHANGED}")),
    ],
)
@every("provider", ["openai", "deepseek", "mistral", "vllm"])
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
        ("accepted", "Madrid has 28.4 and Rome 13.7 degrees.", (Status.PASSED, "accepted")),
        ("accepted", "Madrid has 13.7 and Rome 28.4 degrees.", (Status.FAILED, f"accepted: {EXCHANGED}")),
        ("damaged", "Madrid has 13.7 and Rome 28.4 degrees.", (Status.PASSED, f"accepted: {EXCHANGED}")),
        ("unknown", "Madrid has 13.7 and Rome 28.4 degrees.", (Status.NOT_APPLICABLE, f"accepted: {EXCHANGED}")),
    ],
)
def test_the_answer_to_reversed_results_is_read(claim: str, answer: str, expected: tuple[Status, str]) -> None:
    profile = PROFILE.with_claims({"results.reversed": claim})
    honest = Simulator(profile)

    def send(body: Mapping[str, Any]) -> Exchange:
        exchange = honest.send(body)
        is_reversed = [each["content"] for each in body["messages"] if each["role"] == "tool"] == ["13.7", "28.4"]
        if not is_reversed:
            return exchange
        sent = reply({"content": answer})
        return Exchange.of_plain(dict(body), sent.response, 200, model=profile.model)

    case = play(PARALLEL, "plain", Subject(profile, profile.model, send, Evidence.LIVE))
    (result,) = [each for each in case.probes if each.name == "results-reversed"]
    assert expected == (result.status, result.observed)
