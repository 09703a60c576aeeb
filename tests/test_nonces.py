"""Results that no model can guess: what an answer in any words must name, and hosts that lose or exchange it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

import pytest

from conformance.errors import Unusable
from conformance.results import Evidence, Status
from conformance.results.comparisons import RESULTS_PAIRED
from conformance.scenarios import VARIANTS, ScriptTurn
from conformance.suite import nonces, pairing
from conformance.suite.nonces import ExpectedAnswer, ExpectedResult
from conformance.suite.repeating import ReplyReading, judged
from conformance.wire.exchange import Exchange
from tests.live_models import WIRES, Body, Model, argument, comparison, is_asked, last_calls, played
from tests.loops import every

CITIES = {"Which code does": ["Oslo"], "And which": ["Lima"], "Which codes": ["Dublin", "Quito", "Cairo"]}
CODE = re.compile(r"\b[A-Z0-9]{8}\b")


def asked_cities(body: Body) -> list[str]:
    question = body["messages"][-1]["content"]
    return next(cities for start, cities in CITIES.items() if question.startswith(start))


Words = Callable[[Sequence[tuple[str, str]]], str]


def answers(words: Words, *, order: Callable[[list[str]], list[str]] = list) -> Model:
    """Return a model that calls a tool for each city, and says the codes in these words."""

    def model(body: Body) -> ScriptTurn:
        if is_asked(body):
            calls = [("get_station_code", {"city": city}) for city in order(asked_cities(body))]
            return ScriptTurn(thinks="Let me look that up.", calls=tuple(calls))
        said = words([(argument(function), result) for function, result in last_calls(body)])
        return ScriptTurn(thinks=f"I have thought about it at length. {said[:20]}", says=said)

    return model


def code(result: str) -> str:
    found = CODE.search(result)
    return found[0] if found else "nothing"


def lines(found: Sequence[tuple[str, str]]) -> str:
    return "\n".join([f"{city}: {code(result)}" for city, result in found])


FREE: Mapping[str, Words] = {
    "lines": lines,
    "table": lambda found: "| city | code |\n|---|---|\n" + "\n".join(f"| {c} | `{code(r)}` |" for c, r in found),
    "bold": lambda found: "Here you are:\n\n" + "\n".join(f"- **{c}** → **{code(r)}**." for c, r in found),
    "codes first": lambda found: ", ".join([f"{code(r)} for {c}" for c, r in found]) + ".",
    "whole results": lambda found: " ".join([f"In {c}: {r}" for c, r in found]),
    "reversed": lambda found: lines(found[::-1]),
    "JSON": lambda found: str([{"code": code(r), "city": c} for c, r in found]),
    "respectively": lambda found: (
        f"{', '.join([c for c, _ in found])} have {', '.join([code(r) for _, r in found])}, respectively."
    ),
    "announced": lambda found: f"I asked for {' and '.join([c for c, _ in found])}. Here it is:\n{lines(found)}",
    "columns": lambda found: f"| {' | '.join([c for c, _ in found])} |\n| {' | '.join([code(r) for _, r in found])} |",
    "headings": lambda found: "\n\n".join([f"## {c}\n\n{code(r)}" for c, r in found]),
}


@pytest.mark.slow
@every("variant", VARIANTS)
@every("scenario", ["nonces", "nonces-parallel"])
@every("words", list(FREE))
@every("profile", WIRES)
def test_an_answer_in_any_words_passes(profile: str, words: str, scenario: str, variant: str) -> None:
    case = played(profile, scenario, variant, answers(FREE[words]))
    assert (Status.PASSED, "") == (comparison(case, RESULTS_PAIRED).status, case.note)


@every("variant", VARIANTS)
@every("profile", WIRES)
def test_calls_in_another_order_than_the_script_pass(profile: str, variant: str) -> None:
    case = played(profile, "nonces-parallel", variant, answers(lines, order=lambda cities: cities[::-1]))
    assert Status.PASSED is comparison(case, RESULTS_PAIRED).status


def swapping(found: Sequence[tuple[str, str]]) -> str:
    results = [result for _, result in found]
    return lines([(city, result) for (city, _), result in zip(found, results[1:] + results[:1], strict=True)])


CACHED = nonces.value("nonces-parallel.plain", 2, 0)

DAMAGED: Mapping[str, tuple[Words, str]] = {
    "swaps": (swapping, "the answer gives the result of get_station_code"),
    "drops all": (lambda _: "The codes are not known to me.", "the answer does not contain"),
    "drops one": (lambda found: lines(found[1:]), "the answer does not contain"),
    "small letters": (lambda found: lines(found).lower(), "the answer does not contain"),
    "cut": (lambda found: lines(found)[:-3], "the answer does not contain"),
}


@pytest.mark.slow
@every("variant", VARIANTS)
@every("host", list(DAMAGED))
@every("profile", WIRES)
def test_damage_in_every_reply_is_the_hosts(profile: str, host: str, variant: str) -> None:
    words, expected = DAMAGED[host]
    result = comparison(played(profile, "nonces-parallel", variant, answers(words)), RESULTS_PAIRED)
    assert Status.FAILED is result.status
    assert result.observed.startswith(f"in 3 of 3 replies: {expected}")


@every("profile", WIRES)
def test_an_answer_from_the_cache_of_the_other_variant_is_named(profile: str) -> None:
    def cached(found: Sequence[tuple[str, str]]) -> str:
        return "\n".join([f"{c}: {nonces.value('nonces-parallel.plain', 2, at)}" for at, (c, _) in enumerate(found)])

    result = comparison(played(profile, "nonces-parallel", "stream", answers(cached)), RESULTS_PAIRED)
    assert Status.FAILED is result.status
    assert f"but {CACHED!r}, a result of turn 2 of the plain variant" in result.observed


@every("profile", WIRES)
def test_the_result_of_an_earlier_turn_is_named(profile: str) -> None:
    def stale(body: Body) -> ScriptTurn:
        codes = [str(each["content"]) for each in body["messages"] if each["role"] == "tool"]
        return answers(lambda _: f"The code is {code(codes[0])}.")(body)

    result = comparison(played(profile, "nonces", "plain", stale), RESULTS_PAIRED)
    assert Status.FAILED is result.status
    assert f"but {nonces.value('nonces.plain', 2, 0)!r}, a result of turn 2" in result.observed


@every("variant", VARIANTS)
@every("profile", WIRES)
def test_damage_in_one_of_several_replies_is_counted_as_the_models(profile: str, variant: str) -> None:
    replies = count()
    model = answers(lambda found: swapping(found) if next(replies) == 0 else lines(found))
    result = comparison(played(profile, "nonces-parallel", variant, model), RESULTS_PAIRED)
    assert Status.PASSED is result.status
    assert "in 1 of 2 replies: the answer gives the result" in result.observed
    assert "which is the model's doing" in result.observed


@every("variant", VARIANTS)
@every("scenario", ["nonces", "nonces-parallel"])
@every("profile", WIRES)
def test_an_answer_from_a_cache_that_ignores_results_is_named(profile: str, scenario: str, variant: str) -> None:
    cache: dict[int, ScriptTurn] = {}

    def cached(body: Body) -> ScriptTurn:
        return cache.setdefault(len(body["messages"]), answers(lines)(body))

    result = comparison(played(profile, scenario, variant, cached), RESULTS_PAIRED)
    assert Status.FAILED is result.status
    assert result.observed.startswith("in 3 of 3 replies: the answer does not contain ")
    assert ", a result of the request before" in result.observed


@every(
    ("words", "expected"),
    [
        (lambda found: " ".join([code(r) for _, r in found]), "names every result, but not 'Dublin'"),
        (lambda found: f"{' '.join([c for c, _ in found])}: {' '.join([code(r) for _, r in found])}", "not clearly"),
    ],
)
def test_what_cannot_be_assigned_is_untested(words: Words, expected: str) -> None:
    result = comparison(played("openai", "nonces-parallel", "plain", answers(words)), RESULTS_PAIRED)
    assert Status.UNTESTED is result.status
    assert expected in result.observed


def test_a_model_that_calls_again_instead_of_answering_is_untested() -> None:
    def model(body: Body) -> ScriptTurn:
        return ScriptTurn(calls=(("get_station_code", {"city": "Dublin"}),))

    result = comparison(played("openai", "nonces-parallel", "plain", model), RESULTS_PAIRED)
    assert Status.UNTESTED is result.status
    assert "called a tool again" in result.observed


def test_values_differ_by_case_turn_and_call() -> None:
    every_one = [
        nonces.value(f"{name}.{variant}", turn, at)
        for name in ("nonces", "nonces-parallel")
        for variant in VARIANTS
        for turn in (2, 4)
        for at in range(3)
    ]
    assert len(every_one) == len(set(every_one))
    assert {8} == {len(each) for each in every_one}


READ = (
    ("18", "It is eighteen degrees.", True),
    ("18", "It is 18°C.", True),
    ("18", "It is 18.0 degrees.", True),
    ("18", "It is 18C.", True),
    ("18", "It is 18.", True),
    ("18", "It is 18.5 degrees.", False),
    ("18", "It is 118 degrees.", False),
    ("28.4", "Es sind 28,4 Grad.", True),
    ("28.4", "Rome,28.4,Madrid", True),
    ("28.4", "It is 28.", False),
    ("28.4", "It is 28.41.", False),
    ("14:05", "It is 2:05 PM.", True),
    ("14:05", "It is 2:05 p.m. there.", True),
    ("14:05", "Il est 14h05.", True),
    ("14:05", "It is 2:05 AM.", False),
    ("9", "It is nine degrees at 14:05.", True),
    ("9", "It is 19 degrees.", False),
    ("21", "Twenty-one degrees.", True),
    ("K7QX4MD2", "It is _K7QX4MD2_.", True),
    ("K7QX4MD2", "It is K7QX4MD22.", False),
)


@every(("value", "answer", "expected"), READ)
def test_a_value_is_found_in_the_forms_that_people_write(value: str, answer: str, expected: bool) -> None:  # noqa: FBT001 — a row
    assert expected is pairing.names(answer, value)


def exchange(text: str) -> Exchange:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return Exchange.of_plain({"model": "m", "messages": []}, {"choices": [choice]}, 200, model="m")


NAMED = (ExpectedResult("f", "Rome", "K7QX4MD2"),)


def reading(text: str) -> Callable[[Exchange], ReplyReading]:
    expected = ExpectedAnswer(2, exchange(text), NAMED, {})
    return lambda seen: nonces.read(expected, seen)


def replies(*texts: str) -> Iterator[Exchange]:
    return iter([exchange(text) for text in texts])


@pytest.mark.parametrize(
    ("texts", "evidence", "status", "words"),
    [
        (["K7QX4MD2"], Evidence.LIVE, Status.PASSED, "each result"),
        (["no", "no", "no"], Evidence.LIVE, Status.FAILED, "in 3 of 3 replies"),
        (["no", "no", "K7QX4MD2"], Evidence.LIVE, Status.PASSED, "in 2 of 3 replies"),
        (["no", "no"], Evidence.LIVE, Status.UNTESTED, "no further one: the limit is reached"),
        (["no"], Evidence.RECORDED, Status.UNTESTED, "in 1 of 1 replies"),
        (["no"], Evidence.ENGINE, Status.FAILED, "in 1 of 1 replies"),
    ],
)
def test_replies_to_one_request_are_counted(texts: list[str], evidence: Evidence, status: Status, words: str) -> None:
    found = replies(*texts)

    def again() -> Exchange:
        if (following := next(found, None)) is None:
            message = "the limit is reached"
            raise Unusable(message)
        return following

    result = judged(next(found), again, reading(texts[0]), evidence)
    assert status is result.status
    assert words in result.words
