"""One request sent twice, and once in the other form: hosts whose replies differ, and models that choose otherwise."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from conformance import profiles, scenarios
from conformance.errors import InvalidDocument, Unusable
from conformance.results import Evidence, Status
from conformance.results.comparisons import TWINS_AGREE
from conformance.results.runs import ProbeResult
from conformance.scenarios import ScriptTurn
from conformance.simulator import Simulator
from conformance.suite import twins
from conformance.suite.comparisons import notice
from conformance.suite.play import play
from conformance.suite.turns import Subject
from conformance.wire.exchange import Exchange
from tests.live_models import WIRES, Body, LiveProvider, Model, comparison
from tests.loops import every

Sender = Callable[[Body], Exchange]
Host = Callable[[Sender], Sender]
CALLING, ANSWERING, THINKING = "twins-call", "twins-answer", "twins-thinking"


def judged(profile: str, scenario: str, model: Model, host: Host = lambda send: send) -> ProbeResult:
    provider = LiveProvider(profiles.load(profile), model)
    subject = replace(provider.subject, send=host(provider.send))
    return comparison(play(scenarios.load(scenario), "plain", subject), TWINS_AGREE)


def calling(body: Body) -> ScriptTurn:
    return ScriptTurn(thinks="A tool may help.", calls=(("get_weather", {"city": "Paris"}),))


def answering(_: Body) -> ScriptTurn:
    return ScriptTurn(thinks="Let me think about it.", says="Hello to you!")


def claiming(claims: Callable[[Body, int], Mapping[str, Any]], model: Model) -> Host:
    """Return a host that behaves by other claims, depending on the request and on its number from 0 on."""

    def host(send: Sender) -> Sender:
        numbers = count()

        def sending(body: Body) -> Exchange:
            provider = send.__self__  # type: ignore[attr-defined]
            changed = provider.profile.with_claims(claims(body, next(numbers)))
            return LiveProvider(changed, model).send(body)

        return sending

    return host


def when_streamed(**claims: Any) -> Callable[[Body, int], Mapping[str, Any]]:
    named = {name.replace("__", ".").replace("_", "-"): value for name, value in claims.items()}
    return lambda body, _: named if body.get("stream") else {}


def longer(body: Body, extra: int) -> Body:
    return {**body, "messages": [{"role": "system", "content": "x" * 4 * extra}, *body["messages"]]}


def lengthening_streams(send: Sender) -> Sender:
    return lambda body: send(longer(body, 50) if body.get("stream") else body)


def lengthening_the_second(send: Sender) -> Sender:
    numbers = count()
    return lambda body: send(longer(body, 50 * next(numbers)))


def renaming_in_streams(send: Sender) -> Sender:
    return lambda body: send({**body, "model": f"{body['model']}-x"} if body.get("stream") else body)


def other_ids_in_streams(body: Body, _: int) -> Mapping[str, Any]:
    pattern = "chatcmpl-tool-[0-9a-f]{32}" if body.get("stream") else "call_[0-9A-Za-z]{24}"
    return {"ids.format": pattern, "ids.format-in-stream": pattern}


def other_ids_in_the_second(_: Body, number: int) -> Mapping[str, Any]:
    return {"ids.format": "toolu_[0-9a-f]{20}" if number == 1 else "call_[0-9A-Za-z]{24}"}


HOSTS: Mapping[str, tuple[str, Model, Host, str]] = {
    "longer": (ANSWERING, answering, lengthening_streams, "the same request: prompt tokens"),
    "longer second": (ANSWERING, answering, lengthening_the_second, "the same request twice, plain: prompt tokens"),
    "ids": (CALLING, calling, claiming(other_ids_in_streams, calling), "the same request: ids 'call_"),
    "second ids": (
        CALLING, calling, claiming(other_ids_in_the_second, calling), "the same request twice, plain: ids 'call_",
    ),
    "model": (ANSWERING, answering, renaming_in_streams, "the same request: reply model"),
}  # fmt: skip


@every("host", list(HOSTS))
@every("profile", WIRES)
def test_replies_to_one_request_that_differ_are_named(profile: str, host: str) -> None:
    scenario, model, change, words = HOSTS[host]
    result = judged(profile, scenario, model, change)
    assert Status.FAILED is result.status, result.observed
    assert result.observed.startswith(words)


def test_a_finish_reason_that_only_streams_have_is_named() -> None:
    host = claiming(when_streamed(finish__with_calls_in_stream="stop"), calling)
    result = judged("openai", CALLING, calling, host)
    assert (Status.FAILED, "the same request: finish reason tool_calls plain, stop streamed") == (
        result.status, result.observed,
    )  # fmt: skip


def test_reasoning_in_another_field_of_streams_is_named() -> None:
    host = claiming(when_streamed(reasoning__response_field="reasoning"), answering)
    result = judged("deepseek", THINKING, answering, host)
    assert "the same request: reasoning in reasoning_content plain, reasoning streamed" == result.observed


def test_usage_that_streams_lack_is_named() -> None:
    host = claiming(when_streamed(stream__usage="none"), answering)
    result = judged("deepseek", ANSWERING, answering, host)
    assert "the same request: usage present plain, absent streamed" == result.observed


def body_of(exchange: Exchange, change: Callable[[Any], Any]) -> Exchange:
    return exchange if exchange.streamed else replace(exchange, response=change(exchange.response))


def test_arguments_in_another_form_are_named() -> None:
    def as_object(send: Sender) -> Sender:
        def changed(body: Any) -> Any:
            body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = {"city": "Paris"}
            return body

        return lambda body: body_of(send(body), changed)

    result = judged("openai", CALLING, calling, as_object)
    expected = "the same request: arguments JSON of type dict plain, text of JSON of type dict streamed"
    assert expected == result.observed


@every("profile", WIRES[1:])
def test_reasoning_that_no_stream_shows_is_the_hosts(profile: str) -> None:
    def host(send: Sender) -> Sender:
        silent = LiveProvider(profiles.load(profile), lambda _: ScriptTurn(says="4"))
        return lambda body: silent.send(body) if body.get("stream") else send(body)

    result = judged(profile, THINKING, answering, host)
    assert Status.FAILED is result.status
    assert "3 of 3 plain replies and 0 of 3 streamed replies to the same request show reasoning" == result.observed


@every("profile", WIRES[1:])
def test_reasoning_that_comes_and_goes_is_the_models(profile: str) -> None:
    numbers = count()

    def model(body: Body) -> ScriptTurn:
        return ScriptTurn(says="4") if next(numbers) in (1, 2, 4) else answering(body)

    result = judged(profile, THINKING, model)
    assert Status.PASSED is result.status
    assert "show reasoning, which is the model's doing" in notice(result)


def choices() -> Iterator[Model]:
    """Yield models that take another turn each time."""
    turns = (
        [calling, answering, calling],
        [answering, calling, calling],
        [answering, lambda _: ScriptTurn(says="Hi", thinks="Once more, at great length. " * 9), answering],
    )
    for each in turns:
        following = iter(each)
        yield lambda body, following=following: next(following)(body)  # type: ignore[misc]


@every("profile", WIRES)
def test_what_a_model_may_choose_is_no_difference(profile: str) -> None:
    for model in choices():
        result = judged(profile, CALLING, model)
        assert (Status.PASSED, twins.AGREE) == (result.status, result.observed)


@every(
    ("error", "words"),
    [
        (InvalidDocument("does not hold the request", "x"), "it was not recorded"),
        (Unusable("the limit of 9 requests is reached"), "the limit of 9 requests is reached"),
    ],
)
def test_a_twin_that_cannot_be_had_is_untested(error: Exception, words: str) -> None:
    profile = profiles.load("openai")
    sent = count()

    def send(body: Body) -> Exchange:
        if next(sent):
            raise error
        return Simulator(profile).send(body)

    case = play(scenarios.load(ANSWERING), "plain", Subject(profile, profile.model, send, Evidence.LIVE))
    result = comparison(case, TWINS_AGREE)
    assert (Status.UNTESTED, f"there is no further reply to the same request: {words}") == (
        result.status, result.observed,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("claims", "body", "expected"),
    [
        ({}, {"n": 1}, {"n": 1, "stream": True, "stream_options": {"include_usage": True}}),
        ({}, {"n": 1, "stream": True, "stream_options": {}}, {"n": 1}),
        ({"stream.default": True}, {"n": 1, "stream": True}, {"n": 1, "stream": False}),
    ],
)
def test_the_other_form_of_a_request(claims: Any, body: Any, expected: Any) -> None:
    assert expected == twins.other_form(body, claims)
