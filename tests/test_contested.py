"""Where sources disagree: advice and `prepare` take what no source says is refused."""

from typing import Any

import pytest

from conformance import profiles
from conformance.convert import egress, prepare
from conformance.judge import check
from conformance.profiles import Claim, Disagreement, Profile, Source
from conformance.wire.exchange import Exchange
from tests.loops import every

REFUSED = {"status": 400, "message": "No."}
READ = {"reasoning.request-field": "reasoning_content"}
CALL = {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
TURN: dict[str, Any] = {"role": "assistant", "content": "", "reasoning_content": "Look.", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_0", "content": "18"}
PLAIN: dict[str, Any] = {"role": "assistant", "content": "18.", "reasoning_content": "Done."}
TRANSCRIPT: list[dict[str, Any]] = [{"role": "user", "content": "Weather?"}, TURN, RESULT, PLAIN]
TRANSCRIPT.append({"role": "user", "content": "Thanks."})
AGAIN = [*TRANSCRIPT[:2], RESULT, TURN, RESULT, TRANSCRIPT[-1]]


def contested(name: str, refusal: Any = REFUSED, value: Any = "accepted", **more: Any) -> Profile:
    """Return a profile with a claim of whose value another source says that it is refused."""
    disagreement = Disagreement(refusal, Source("https://example.org"))
    claims = {each: (Claim(each, given),) for each, given in more.items()}
    return Profile("p", claims=claims | {name: (Claim(name, value, disagrees=(disagreement,)),)})


def sent(profile: Profile, transcript: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return prepare(transcript, profile, model="").messages


def test_deepseek_gets_the_reasoning_of_plain_turns_because_one_source_requires_it() -> None:
    messages = prepare(TRANSCRIPT, "deepseek").messages
    assert ["Look.", "Done."] == [each["reasoning_content"] for each in messages if each["role"] == "assistant"]
    exchange = Exchange(request={"model": "deepseek-v4", "messages": messages, "tools": [TOOL]})
    assert [] == [found for outcome in check(exchange, "deepseek") for found in outcome.findings]


def test_a_plain_turn_without_reasoning_gets_an_empty_one_only_in_a_history_with_calls() -> None:
    bare = {"role": "assistant", "content": "Hello."}
    assert "" == prepare([*TRANSCRIPT, bare, TRANSCRIPT[0]], "deepseek").messages[-2]["reasoning_content"]
    assert bare == prepare([TRANSCRIPT[0], bare, TRANSCRIPT[0]], "deepseek").messages[1]


@pytest.mark.parametrize("value", ["accepted", "ignored", "unknown"])
def test_reasoning_of_plain_turns_is_sent_unless_a_source_says_that_it_is_refused(value: str) -> None:
    profile = contested("reasoning.omitted-on-plain-turn", value=value, **READ)
    assert "Done." == sent(profile, TRANSCRIPT)[3]["reasoning_content"]
    both = contested("reasoning.omitted-on-plain-turn", value=value, **READ, **{"reasoning.on-plain-turn": REFUSED})
    assert "reasoning_content" not in sent(both, TRANSCRIPT)[3]


CHOICES: list[tuple[str, list[dict[str, Any]], Any, Any]] = [
    ("request.developer-role", [{"role": "developer", "content": "Hi"}, *TRANSCRIPT[:1]], (0, "role"), "system"),
    ("content.empty-on-tool-turn", TRANSCRIPT, (1, "content"), None),
    ("results.content-empty", [*TRANSCRIPT[:2], {**RESULT, "content": ""}], (2, "content"), "The tool gave no output."),
    ("results.name-missing", TRANSCRIPT, (2, "name"), "f"),
    ("request.several-system", [{"role": "system", "content": c} for c in "ab"], (0, "content"), "a\n\nb"),
    ("content.parts-on-user", [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], (0, "content"), "Hi"),
    ("request.system-position", [TRANSCRIPT[0], {"role": "system", "content": "b"}], (0, "role"), "system"),
    ("request.successive-same-role", [TRANSCRIPT[0], TRANSCRIPT[0]], (0, "content"), "Weather?\n\nWeather?"),
    ("arguments.malformed-in-request", [], (), None),
    ("ids.duplicate-in-request", [], (), None),
]


@every(("claim", "transcript", "place", "expected"), CHOICES, ids=[each[0] for each in CHOICES])
def test_of_two_forms_the_one_is_sent_that_no_source_says_is_refused(
    claim: str, transcript: list[dict[str, Any]], place: tuple[int, str], expected: Any
) -> None:
    if claim == "ids.duplicate-in-request":
        ids = [call["id"] for each in sent(contested(claim), AGAIN) for call in each.get("tool_calls", ())]
        assert 2 == len(set(ids))
    elif claim == "arguments.malformed-in-request":
        call = {**CALL, "function": {"name": "f", "arguments": "{"}}
        messages = sent(contested(claim), [TRANSCRIPT[0], {**TURN, "tool_calls": [call]}, RESULT])
        assert "{}" == messages[1]["tool_calls"][0]["function"]["arguments"]
    else:
        number, key = place
        assert expected == sent(contested(claim), transcript)[number][key]
        assert expected != egress.prepare(transcript, {claim: "accepted"}).messages[number].get(key, ...)


def test_what_one_source_refuses_and_nothing_can_replace_is_not_called_unfixable() -> None:
    profile = contested("request.last-assistant")
    assert () == prepare(TRANSCRIPT[:4], profile, model="").unfixed


def test_the_field_that_a_source_rejects_is_sent_only_if_the_reasoning_would_be_lost() -> None:
    name = "reasoning.input.reasoning_content"
    assert "reasoning_content" in sent(contested(name, **READ), TRANSCRIPT)[1]
    omitted = {"reasoning.omitted-on-tool-turn": "accepted"}
    assert "reasoning_content" not in sent(contested(name, **READ, **omitted), TRANSCRIPT)[1]
    two = {"reasoning.request-field": ["reasoning_content", "reasoning"]}
    assert "reasoning" in sent(contested(name, **two), TRANSCRIPT)[1]


def test_no_shipped_profile_refuses_what_it_also_calls_contested() -> None:
    for name in profiles.names():
        profile = profiles.load(name)
        claims = profile.at()
        assert [] == [each for each in profile.contested() if profiles.rejects_or_damages(claims[each])]
