"""`check --everywhere` says what every known provider does with a request, the worst first."""

import json
from typing import Any

import pytest

from conformance import profiles, rules
from conformance.documents import parse_json
from conformance.files.everywhere import Everywhere, HostAnswer, HostVerdict, everywhere
from conformance.files.prepared_requests import MAX_PREPARED, to_prepare
from conformance.formats import read
from conformance.reporting.everywhere import json as as_json
from conformance.reporting.everywhere import text
from conformance.resources import folder
from conformance.wire.exchange import Exchange
from conformance.wires import as_sent
from tests import scripted
from tests.checking import check
from tests.loops import every

LOST = folder("docs") / "examples" / "lost-reasoning.json"
BODY: Any = parse_json(LOST.read_bytes(), "lost")


def answers(body: object) -> Everywhere:
    (given,) = read(json.dumps(body).encode(), "a.json")
    found = everywhere(given, rules.load())
    assert found is not None
    return found


def by_provider(found: Everywhere) -> dict[str, HostAnswer]:
    return {each.provider: each for each in found.answers}


def test_every_profile_answers_and_the_worst_comes_first() -> None:
    found = answers(BODY)
    order = [list(HostVerdict).index(each.verdict) for each in found.answers]

    assert sorted(profiles.names()) == sorted([each.provider for each in found.answers])
    assert sorted(order) == order


def test_a_refusal_has_the_words_of_the_provider_and_the_place() -> None:
    answer = by_provider(answers(BODY))["deepseek"]

    words = "The `reasoning_content` in the thinking mode must be passed back to the API."
    assert (HostVerdict.REFUSED, 400, words) == (answer.verdict, answer.status, answer.words)
    assert ("reasoning/present-on-tool-turns", "/0/request/messages/1") == (answer.rule, answer.at)


@every(
    ("provider", "expected"),
    [
        ("openrouter", (HostVerdict.REFUSED, True)),
        ("mistral", (HostVerdict.REFUSED, False)),
        ("openai", (HostVerdict.ACCEPTED, False)),
        ("baseten", (HostVerdict.UNKNOWN, True)),
    ],
)
def test_each_provider_is_judged_by_its_own_claims(provider: str, expected: tuple[HostVerdict, bool]) -> None:
    answer = by_provider(answers(BODY))[provider]
    assert expected == (answer.verdict, answer.serves)


def test_a_provider_of_another_wire_gets_the_request_as_prepared_for_it() -> None:
    found = by_provider(answers(BODY))

    assert ("messages", True) == (found["anthropic"].wire, found["anthropic"].prepared)
    assert ("gemini", True) == (found["gemini"].wire, found["gemini"].prepared)
    assert ("chat", False) == (found["groq"].wire, found["groq"].prepared)


def test_a_native_request_is_prepared_for_providers_of_chat_completions() -> None:
    native = as_sent(BODY, "messages").native
    assert native is not None
    found = answers({"url": "/v1/messages", "request": native.request, "response": None})

    assert "messages" == found.protocol
    assert ("chat", True) == (by_provider(found)["groq"].wire, by_provider(found)["groq"].prepared)
    assert not by_provider(found)["anthropic"].prepared


def test_a_request_that_breaks_nothing_is_refused_nowhere() -> None:
    found = answers({"model": "gpt-5.4", "messages": [{"role": "user", "content": "Hi."}]})

    assert {HostVerdict.ACCEPTED} == {each.verdict for each in found.answers}


def test_the_command_prints_a_table_and_json_and_ends_with_what_it_found() -> None:
    code, out, _ = check("--everywhere", LOST)
    assert 1 == code
    assert f"{LOST}: a request body (chat), deepseek-v4-flash" == out.splitlines()[0]
    assert out.splitlines()[1].split()[:3] == ["deepseek", "*", "refused"]
    assert out.splitlines()[-1].startswith(f"{len(profiles.names())} providers: ")

    code, out, _ = check("--everywhere", "--format", "json", LOST)
    (shown,) = json.loads(out)["inputs"]
    assert (1, "chat", "deepseek") == (code, shown["protocol"], shown["providers"][0]["provider"])


def test_the_command_asks_all_providers_and_not_one() -> None:
    code, _, error = check("--everywhere", "--provider", "deepseek", LOST)

    assert 2 == code
    assert "--everywhere asks all providers" in error


def test_a_list_of_messages_is_asked_of_the_default_model_of_each_provider() -> None:
    found = answers([{"role": "user", "content": "Hi."}])

    assert {HostVerdict.ACCEPTED} == {each.verdict for each in found.answers}
    assert profiles.load("groq").model == by_provider(found)["groq"].model


def test_a_parameter_of_a_native_wire_alone_is_not_sent_to_providers_of_another() -> None:
    native = as_sent(BODY, "messages").native
    assert native is not None
    body = {**native.request, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    found = answers({"url": "/v1/messages", "request": body, "response": None})

    assert "request/no-unknown-parameters" not in {each.rule for each in found.answers if each.prepared}


CALL = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
TOOLS = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}]
ASKED = {"model": "gpt-oss-120b", "messages": [{"role": "user", "content": "Hi."}], "tools": TOOLS}


def test_a_recorded_reply_is_lost_if_no_client_of_its_own_host_reads_it() -> None:
    reply = scripted.chat("tool_calls", content="", reasoning="Look at the clock.", tool_calls=[CALL])
    url = "https://api.deepseek.com/chat/completions"
    found = by_provider(answers({"url": url, "request": ASKED, "response": reply}))

    lost = found["deepseek"]
    assert (HostVerdict.LOST, "reasoning/in-claimed-field") == (lost.verdict, lost.rule)
    assert "/0/response/choices/0/message/reasoning" == lost.at
    expected = "its clients would lose the reply: expected reasoning in reasoning_content, got it in reasoning"
    assert expected == lost.words
    assert HostVerdict.ACCEPTED == found["groq"].verdict


@pytest.mark.parametrize("url", ["", "https://api.groq.com/openai/v1/chat/completions"])
def test_a_reply_that_is_healthy_at_its_own_host_is_lost_nowhere(url: str) -> None:
    reply = scripted.chat("tool_calls", content="", reasoning="Look at the clock.", tool_calls=[CALL])
    found = answers({"url": url, "request": ASKED, "response": reply})

    assert [] == [each.provider for each in found.answers if each.rule == "reasoning/in-claimed-field"]


def test_a_reply_that_cannot_be_sent_back_whole_is_lost() -> None:
    blocks = [
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}},
    ]
    request = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": ASKED["messages"]}
    request["tools"] = [{"name": "now", "input_schema": {"type": "object"}}]
    reply = scripted.messages(blocks, "tool_use")
    found = by_provider(answers({"url": "/v1/messages", "request": request, "response": reply}))

    assert HostVerdict.ACCEPTED == found["anthropic"].verdict
    lost = found["groq"]
    assert (HostVerdict.LOST, True) == (lost.verdict, lost.prepared)
    assert lost.words.startswith("the reply cannot be sent back whole: the reasoning 'b3BhcXVl' would be lost")


def test_every_request_of_a_session_is_prepared_unless_a_later_one_repeats_it() -> None:
    first = {"model": "m", "messages": [{"role": "user", "content": "One."}]}
    second = {**first, "messages": [*first["messages"], {"role": "assistant", "content": "1."}, *BODY["messages"][:1]]}
    broken = {"model": "m", "messages": [{"role": "user", "content": ""}]}
    conversation = tuple([Exchange(request=each, response=None) for each in (broken, first, second)])
    assert ([2, 0], 0) == to_prepare(conversation)

    reply = scripted.chat(content="2.")
    found = answers({"exchanges": [{"request": each, "response": reply} for each in (broken, second)]})
    prepared = [each for each in found.answers if each.prepared and each.at]
    assert {"/0"} == {each.at[:2] for each in prepared}


def test_what_is_left_out_of_a_long_session_is_counted() -> None:
    words = [{"role": "user", "content": f"{number}."} for number in range(MAX_PREPARED)]
    conversation = tuple([Exchange(request={"model": name, "messages": words}, response=None) for name in "abc"])
    assert ([2], 2) == to_prepare(conversation)
    left = answers({"model": "m", "messages": words[:1]})._replace(left=2)
    assert "2 earlier requests not prepared for other wires: the session is too long" in text(
        left, lambda _, each: each
    )
    assert 2 == json.loads(as_json([left]))["inputs"][0]["left"]
