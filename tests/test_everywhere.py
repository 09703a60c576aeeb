"""`check --everywhere` says what every known provider does with a request, the worst first."""

import json
from typing import Any

from conformance import profiles, rules
from conformance.documents import parse_json
from conformance.files.everywhere import Everywhere, HostAnswer, HostVerdict, everywhere
from conformance.formats import read
from conformance.resources import folder
from conformance.wires import as_sent
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
