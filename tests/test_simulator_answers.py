"""What a user says changes an answer in the values of its reply alone: what is known of a form holds for all words."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from conformance import profiles, scenarios
from conformance.judge import judge
from conformance.rules import Rule, by_id, of_traffic
from conformance.simulator import Simulator, answers
from conformance.simulator.http import parts_of
from conformance.simulator.strictness import rules_of_clients
from conformance.transport.http import HttpReply, HttpRequest
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.views import Side
from conformance.wires import by_name
from tests.loops import every

PATH = "/v1/chat/completions"
JSON_MODE = "request/json-mode-says-json"
"""The only rule that looks for a word: forms leave out requests with a format of the reply."""

WORDS = ("Answer in JSON, 2 words", "x", 'Was?\n\nJa: `</think>` {"a": 1} call_1 \u2028')
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}


def asked(simulator: Simulator, body: dict[str, Any], path: str = PATH) -> HttpReply:
    return simulator.answer(HttpRequest("POST", path, {"content-type": "application/json"}, json.dumps(body).encode()))


def alone(profile: profiles.Profile) -> Simulator:
    """Return a simulator that remembers nothing."""
    return Simulator(profile, memory=None, answers=None, histories=None)


def saying(value: Any, words: str, role: str = "") -> Any:
    """Return a request with other words in each text that is left out of its form."""
    if isinstance(value, dict):
        named = value.get("role", role or "user") if "content" in value or "parts" in value else role
        inside = ("content", "parts", "messages", "input", "contents")
        return {
            key: words
            if named == "user" and key in ("content", "text", "input") and type(each) is str and each.strip()
            else saying(each, words, named)
            if key in inside
            else each
            for key, each in value.items()
        }
    return [saying(each, words, role) for each in value] if isinstance(value, list) else value


def requests(rule: Rule) -> Iterator[tuple[Exchange, dict[str, Any]]]:
    """Yield the requests of the examples of a rule, each alone, with the claims of the example."""
    for example in (*rule.bad, *rule.good):
        for exchange in example.conversation():
            if isinstance(exchange.request, dict):
                yield replace(exchange, response=None, status=None), dict(example.claims)


def found(conversation: Conversation, claims: dict[str, Any], but: str) -> list[Any]:
    """Return what is found and how many elements each rule judges, without what the findings say."""
    judged = judge(conversation, profiles.of(claims), rules_of_clients())
    failed = [(each.rule, [(one.at, one.level) for one in each.findings]) for each in judged.found()]
    return [[each for each in failed if each[0] != but], judged.counts]


def read_words(rule: Rule, *, but: str = JSON_MODE) -> list[str]:
    """Return words of the user with which something else is found in a request among the examples of a rule."""
    return [
        words
        for exchange, claims in requests(rule)
        for words in WORDS
        if found((exchange,), claims, but)
        != found((replace(exchange, request=saying(exchange.request, words)),), claims, but)
    ]


@every("rule", [rule for rule in of_traffic() if rule.on.side is Side.CLIENT][::4])
def test_no_rule_reads_what_a_user_says(rule: Rule) -> None:
    assert [] == read_words(rule)


@pytest.mark.slow
@every("rule", of_traffic())
def test_no_rule_reads_what_a_user_says_in_any_example(rule: Rule) -> None:
    assert [] == read_words(rule)


def test_a_rule_that_reads_what_a_user_says_is_noticed() -> None:
    assert WORDS[0] in read_words(by_id()[JSON_MODE], but="")


def test_a_form_is_that_of_requests_with_other_words() -> None:
    def form(content: Any, **more: Any) -> bytes | None:
        found = answers.form_of(PATH, {"messages": [{"role": "user", "content": content}], **more})
        return None if found is None else found.key

    assert form("Hello") == form("Bye") is not None
    others = [form(each) for each in ("Hello", "", " ", 0, None, ".\u2003"[1:], [], [{"type": "text", "text": "a"}])]
    assert len(others) == len({*others, form("Hello", user="a"), form("Hello", n=2)}) - 2
    assert form("broken \ufffd") is None
    assert answers.form_of(PATH, {"messages": [{"role": "assistant", "content": "Hello"}]}) is None
    assert answers.form_of("/v1/responses", {"input": "Hello", "previous_response_id": "resp_1"}) is None
    assert answers.form_of("/v1/responses", {"input": [{"type": "item_reference", "id": "rs_1"}]}) is None


@every("name", ["anthropic", "deepseek", "gemini", "openai", "xai"])
def test_answers_that_are_made_of_earlier_ones_are_those_that_would_be_derived(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = profiles.load(name)
    known: list[HttpReply | None] = []
    reply = answers.AnswerMemory.reply

    def noted(*given: Any) -> HttpReply | None:
        known.append(reply(*given))
        return known[-1]

    with monkeypatch.context() as patched:
        patched.setattr(answers.AnswerMemory, "reply", noted)
        for wire in profile.wires:
            with_memory, without = Simulator(profile), alone(profile)
            for form in ({}, {"stream": True}, {"tools": [TOOL], "stream": True}):
                for number in range(12):
                    path, body = _on(wire, {"model": "m", **form}, f"Hello {number} \u20ac \x7fA")
                    assert asked(without, body, path) == asked(with_memory, body, path)
    made = [each for each in known if each is not None]
    assert len(made) > len(known) // 2 > 10


def _on(wire: str, body: dict[str, Any], words: str) -> tuple[str, dict[str, Any]]:
    canonical = {**body, "messages": [{"role": "user", "content": words}]}
    native = canonical if wire == "chat" else by_name(wire).writing.request(canonical)
    return ("/v1beta" if wire == "gemini" else "/v1") + by_name(wire).path(canonical), native


def test_what_is_no_text_is_not_taken_for_the_words_of_a_user() -> None:
    simulator = Simulator(profiles.load("openai"))
    for content in ("Hello 1", "Hello 2", "Hello 3", "Hello 4"):
        assert 200 == asked(simulator, {"model": "m", "messages": [{"role": "user", "content": content}]}).status
    odd: Any
    for odd in (0, 1.5, True, {}, [0]):
        assert 400 == asked(simulator, {"model": "m", "messages": [{"role": "user", "content": odd}]}).status


def test_words_that_begin_a_scenario_get_its_reply() -> None:
    simulator = Simulator(profiles.load("deepseek"))
    (prompt, *_) = next(each.prompts for each in map(scenarios.load, scenarios.names()) if len(each.prompts) == 1)
    for words in ("Hello 1", "Hello 2", "Hello 3", prompt):
        body = {"model": "m", "messages": [{"role": "user", "content": words}]}
        assert asked(simulator, body) == asked(alone(simulator.profile), body)


def test_a_claim_about_a_message_is_asked_each_time() -> None:
    switch = {"at": "/messages/0/content", "equals": "Think!", "thinks": True}
    claims = {"thinking.mode": "default-off", "thinking.switches": [switch], "reasoning.response-fields": ["reasoning"]}
    profile = profiles.load("deepseek").with_claims(claims)
    simulator = Simulator(profile)
    replies = [
        asked(simulator, {"model": "m", "messages": [{"role": "user", "content": words}]})
        for words in ("Hello 1", "Hello 2", "Hello 3", "Think!", "Hello 4")
    ]
    assert [False, False, False, True, False] == [b"There is enough" in b"".join(parts_of(each)) for each in replies]


def test_the_json_mode_asks_each_request_for_its_word() -> None:
    simulator = Simulator(profiles.load("openai"))
    mode = {"type": "json_object"}
    statuses = [
        asked(
            simulator, {"model": "m", "messages": [{"role": "user", "content": words}], "response_format": mode}
        ).status
        for words in ("json 1", "json 2", "json 3", "nothing", "json 4")
    ]
    assert [200, 200, 200, 400, 200] == statuses


def test_a_refused_form_is_judged_each_time() -> None:
    simulator = Simulator(profiles.load("openai"))
    for number in range(4):
        body = {"model": "m", "messages": [{"role": "user", "content": f"Hello {number}"}], "temperature": 9}
        assert asked(simulator, body) == asked(alone(simulator.profile), body)
