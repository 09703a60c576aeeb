"""Arguments given word for word: hosts that change them, models that do, and what is the same in other words."""

import json
import unicodedata
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import orjson
import pytest

from conformance import profiles, scenarios
from conformance.results import Status
from conformance.results.comparisons import ARGUMENTS_ECHOED
from conformance.scenarios import VARIANTS, ScriptTurn
from conformance.suite import echoes
from conformance.suite.comparisons import notice
from tests.live_models import WIRES, Body, LiveProvider, Model, comparison, played
from tests.loops import every

ECHOES = tuple([name for name in scenarios.names() if name.startswith("echo-")])
TEXTUAL = ("openai", "openai.responses")
"""Wires whose arguments are text, which can be anything."""


def given(body: Body) -> Any:
    _, brace, rest = body["messages"][-1]["content"].partition("{")
    return json.loads(brace + rest) if brace else {}


def calling(arguments: Callable[[Any], Any]) -> Model:
    """Return a model that calls the only tool; `arguments` is what becomes of those in the message, a text or not."""

    def model(body: Body) -> ScriptTurn:
        made = arguments(given(body))
        text = made if isinstance(made, str) else json.dumps(made)
        return ScriptTurn(thinks="As you wish.", calls=((body["tools"][0]["function"]["name"], text),))

    return model


Change = Callable[[Any], Any]


def mapped(change: Change) -> Change:
    """Return a change of every scalar and empty value, at any depth; KeyError drops the value."""

    def apply(value: Any) -> Any:
        if isinstance(value, dict) and value:
            return {key: made for key, held in value.items() if (made := apply(held)) is not DROPPED}
        if isinstance(value, list) and value:
            return [made for held in value if (made := apply(held)) is not DROPPED]
        return change(value)

    return apply


DROPPED: Any = object()


def on(kind: type, change: Change) -> Change:
    return mapped(lambda value: change(value) if type(value) is kind else value)


def sorted_keys(value: Any) -> Any:
    return json.loads(json.dumps(value, sort_keys=True))


HOSTS: Mapping[str, tuple[str, Change, str]] = {
    "composes": ("text", on(str, lambda text: unicodedata.normalize("NFC", text)), "in another Unicode form"),
    "decomposes": ("text", on(str, lambda text: unicodedata.normalize("NFD", text)), "in another Unicode form"),
    "asks for ASCII": ("text", on(str, lambda text: text.encode("ascii", "replace").decode()), "at /composed, got"),
    "loses emoji": ("text", on(str, lambda text: "".join([c for c in text if ord(c) < 0x10000])), "at /emoji, got"),
    "reads UTF-8 as Latin-1": ("text", on(str, lambda text: text.encode().decode("latin-1")), "at /composed, got"),
    "escapes twice": ("escapes", on(str, lambda text: json.dumps(text)[1:-1]), "at /quotes, got"),
    "strips backslashes": ("escapes", on(str, lambda text: text.replace("\\", "")), "at /backslashes, got"),
    "normalises line ends": ("escapes", on(str, lambda text: text.replace("\r\n", "\n")), "at /lines, got"),
    "trims": ("escapes", on(str, str.strip), "at /markup, got"),
    "unescapes markup": ("escapes", on(str, lambda text: text.replace("&amp;", "&")), "at /markup, got"),
    "rounds integers": ("numbers", on(int, lambda number: int(float(number))), "9007199254740993 at /above_double"),
    "numbers as doubles": ("numbers", on(int, float), "9007199254740993 at /above_double"),
    "numbers as text": ("numbers", on(int, str), 'at /count, got "3"'),
    "rounds fractions": ("numbers", on(float, lambda number: round(number, 3)), "at /tiny, got 0.0"),
    "drops empty objects": ("empties", mapped(lambda value: DROPPED if value == {} else value), "/labels is missing"),
    "drops empty lists": ("empties", mapped(lambda value: DROPPED if value == [] else value), "/items is missing"),
    "drops empty text": ("empties", mapped(lambda value: DROPPED if value == "" else value), "/text is missing"),
    "drops null": ("empties", mapped(lambda value: DROPPED if value is None else value), "/nothing is missing"),
    "null as text": ("empties", mapped(lambda value: "null" if value is None else value), "expected null at /nothing"),
    "booleans as numbers": ("empties", on(bool, int), "expected true at /on, got 1"),
    "booleans as text": ("empties", on(bool, str), "expected true at /on, got"),
    "one as true": ("empties", on(int, bool), "expected 1 at /one, got true"),
    "empty list as object": ("empties", mapped(lambda value: {} if value == [] else value), "expected [] at /items"),
    "flattens": ("nested", lambda value: {**value, **value["branch"]}, "at /branch/name, got"),
    "drops inner lists": ("nested", mapped(lambda value: DROPPED if value == [] else value), "got [[1, 2], [3]]"),
    "objects as text": ("nested", lambda value: {**value, "zone": json.dumps(value["zone"])}, "at /zone, got"),
    "drops all": ("nested", lambda _: {}, "/zone is missing"),
    "wraps": ("nested", lambda value: {"arguments": value}, "/zone is missing"),
    "invents": ("nothing", lambda _: {"": None}, "/ was not given"),
}  # fmt: skip


@pytest.mark.slow
@every("variant", VARIANTS)
@every("host", list(HOSTS))
@every("profile", WIRES)
def test_damage_in_every_reply_is_the_hosts(profile: str, host: str, variant: str) -> None:
    name, change, words = HOSTS[host]
    result = comparison(played(profile, f"echo-{name}", variant, calling(change)), ARGUMENTS_ECHOED)
    assert Status.FAILED is result.status, result.observed
    assert result.observed.startswith("in 3 of 3 replies: ")
    assert words in result.observed


UNREADABLE: Mapping[str, tuple[Change, str]] = {
    "encodes twice": (lambda value: json.dumps(json.dumps(value)), "are a JSON string, as if encoded twice"),
    "cuts": (lambda value: json.dumps(value)[:-4], "are not JSON"),
    "writes Python": (str, "are not JSON"),
    "sends a list": (lambda value: json.dumps([value]), "are not an object"),
}


@every("variant", VARIANTS)
@every("host", list(UNREADABLE))
@every("profile", TEXTUAL)
def test_arguments_that_are_not_an_object_are_damage(profile: str, host: str, variant: str) -> None:
    change, words = UNREADABLE[host]
    read = echoes.read(scenarios.load("echo-nested").turns[0], exchange_of(profile, variant, calling(change)))
    assert Status.FAILED is read.status
    assert words in read.words


def exchange_of(profile: str, variant: str, model: Model) -> Any:
    provider = LiveProvider(profiles.load(profile).with_claims({}), model)
    turn = scenarios.load("echo-nested").turns[0]
    tools = [scenarios.tool_definitions()["store_tree"]]
    body = {"model": provider.profile.model, "messages": [{"role": "user", "content": turn.user}], "tools": tools}
    return provider.send(body | ({"stream": True} if variant == "stream" else {}))


SAME: Mapping[str, tuple[str, Change]] = {
    "as given": ("text", lambda value: value),
    "escaped": ("text", lambda value: json.dumps(value, ensure_ascii=True)),
    "not escaped": ("text", lambda value: json.dumps(value, ensure_ascii=False)),
    "indented": ("nested", lambda value: json.dumps(value, indent=4)),
    "whole numbers without a point": ("numbers", on(float, lambda each: int(each) if each == int(each) else each)),
    "small integers with a point": ("numbers", on(int, lambda each: float(each) if each < 10 and each > 0 else each)),
    "zero without a sign": ("numbers", on(float, lambda each: 0.0 if each == 0 else each)),
    "exponents": ("numbers", lambda value: json.dumps(value).replace("0.1", "1e-1")),
    "nothing": ("nothing", lambda value: value),
    "empties": ("empties", lambda value: value),
}


@every("variant", VARIANTS)
@every("model", list(SAME))
@every("profile", WIRES)
def test_the_same_values_written_otherwise_pass(profile: str, model: str, variant: str) -> None:
    name, change = SAME[model]
    case = played(profile, f"echo-{name}", variant, calling(change))
    result = comparison(case, ARGUMENTS_ECHOED)
    assert (Status.PASSED, "the arguments as given", "") == (result.status, result.observed, notice(result))


@every("profile", WIRES)
def test_another_order_of_keys_is_counted_and_passes(profile: str) -> None:
    result = comparison(played(profile, "echo-nested", "plain", calling(sorted_keys)), ARGUMENTS_ECHOED)
    assert Status.PASSED is result.status
    assert "probes/arguments-echoed: the arguments as given, with keys in another order" == notice(result)


@every("profile", WIRES)
def test_a_slip_of_the_model_is_counted_as_its_own(profile: str) -> None:
    replies = count()
    slip = on(str, lambda text: unicodedata.normalize("NFC", text))
    model = calling(lambda value: slip(value) if next(replies) < 2 else value)
    result = comparison(played(profile, "echo-text", "plain", model), ARGUMENTS_ECHOED)
    assert Status.PASSED is result.status
    assert result.observed.startswith("the arguments as given; in 2 of 3 replies: expected ")
    assert result.observed.endswith("which is the model's doing")


@every(
    ("model", "words"),
    [
        (lambda _: ScriptTurn(says="I cannot do that."), "the model called no tool instead of store_tree"),
        (calling(lambda _: {"zone": {"x": "some", "y": "other"}, "title": "words"}), "arguments of its own"),
    ],
)
def test_a_model_that_does_not_follow_is_untested(model: Model, words: str) -> None:
    profile = profiles.load("openai").with_claims({"tools.choices": ["auto"]})
    provider = LiveProvider(profile, model)
    case = scenarios.load("echo-nested")
    result = comparison(echoes_case(case, provider), ARGUMENTS_ECHOED)
    assert Status.UNTESTED is result.status
    assert words in result.observed
    assert 3 == len(provider.sent)


def echoes_case(scenario: scenarios.Scenario, provider: LiveProvider) -> Any:
    from conformance.suite.play import play

    return play(scenario, "plain", provider.subject)


@every(
    ("claims", "expected"),
    [
        ({}, {"type": "function", "function": {"name": "list_cities"}}),
        ({"tools.choices": ["auto", "required"]}, "required"),
        ({"tools.choices": ["auto", "none"]}, None),
        ({"tools.choices": "unknown"}, None),
    ],
)
def test_a_call_is_forced_as_far_as_the_claims_say(claims: Mapping[str, Any], expected: Any) -> None:
    profile = profiles.load("openai").with_claims(claims)
    turn = scenarios.load("echo-nothing").turns[0]
    tools = [scenarios.tool_definitions()["list_cities"]]
    body = {"model": profile.model, "messages": [{"role": "user", "content": turn.user}], "tools": tools}
    assert expected == echoes.forced(turn, body, profile).get("tool_choice")


def test_no_call_is_forced_of_a_thinking_model_that_rejects_it() -> None:
    refused = {"refusal": {"status": 400, "message": "Thinking mode does not support this tool_choice"}}
    claims = {"thinking.mode": "always", "thinking.with-tool-choice": refused}
    profile = profiles.load("deepseek").with_claims(claims)
    provider = LiveProvider(profile, calling(lambda value: value))
    result = comparison(echoes_case(scenarios.load("echo-nothing"), provider), ARGUMENTS_ECHOED)
    assert (Status.PASSED, None) == (result.status, provider.sent[0].get("tool_choice"))


def test_each_kind_of_value_is_given() -> None:
    texts = {name: scenarios.load(name).turns[0].user or "" for name in ECHOES}
    assert "e\u0301" in texts["echo-text"]
    assert "\u00e9" in texts["echo-text"]
    assert r"\ud83d\ude80" in texts["echo-text"]
    assert "-0.0" in texts["echo-numbers"]
    assert "1.0" in texts["echo-numbers"]
    assert 2**53 < orjson.loads("{" + texts["echo-numbers"].partition("{")[2])["above_double"]
