"""Strictness: the simulator refuses exactly the requests in which `check` finds a MUST of the client."""

import re
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance import profiles, rules, scenarios
from conformance.judge import check
from conformance.profiles import Profile
from conformance.results import Level
from conformance.simulator import UNKNOWN_MODEL, Simulator, simulated
from conformance.simulator.responder import GENERIC_HEADER
from conformance.strategies import FaultyConversation, faults
from conformance.transport.client import SIMULATOR_ERROR
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT
from conformance.wire.views import Side
from tests.loops import every
from tests.sampling import examples, some

NAMES = ("openai", "deepseek", "groq", "mistral", "gemini_openai_compat", "vllm", "moonshot", "anthropic_openai_compat")
PATH = "/v1/chat/completions"
HOLE = re.compile(
    r"\{(index|position|ids?|field|role|other|kind|name|value|count|length|limit|model|reason|line|column|trace)\}"
)


def must(request: Any, profile: Profile) -> list[str]:
    """Return the rules that a request breaks at MUST and that its provider is not known to tolerate."""
    return [
        f"{outcome.rule}: {finding.message}"
        for outcome in check(Exchange(request=request, url=PATH), profile)
        for finding in outcome.findings
        if finding.level is Level.MUST and not finding.handling and finding.at.startswith("/0/request")
    ]


client_rules = [rule.id for rule in rules.load() if rule.on.side is Side.CLIENT and CHAT in rule.wires]


@settings(max_examples=examples(600), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(faults(client_rules), st.sampled_from(NAMES), st.booleans())
def test_a_must_is_refused_and_nothing_else_is(
    urls: dict[str, str],
    client: httpx.Client,
    fault: FaultyConversation,
    name: str,
    sound: bool,  # noqa: FBT001
) -> None:
    request = (fault.sound if sound else fault.conversation)[-1].request
    reply = client.post(f"{urls[name]}{PATH}", json=request)
    assert bool(must(request, profiles.load(name))) is (reply.status_code >= 400), reply.text


@every(
    "members",
    [
        {"messages": ["x"]},
        {"messages": [{"role": "user", "content": 5}]},
        {"messages": [{"role": "bogus", "content": "Hello"}]},
        {"tools": "x"},
        {"temperature": "x"},
        {"model": None},
    ],
    ids=str,
)
@every("name", NAMES)
def test_what_has_the_wrong_type_is_refused_unless_it_is_claimed_to_be_accepted(
    urls: dict[str, str], client: httpx.Client, name: str, members: dict[str, Any]
) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], **members}
    reply = client.post(f"{urls[name]}{PATH}", json=body)
    assert reply.status_code in ((400, 422) if must(body, profiles.load(name)) else (200,))
    assert reply.status_code >= 400 or name in ("mistral", "vllm") or "unknown" in claimed(name, members)


def claimed(name: str, members: dict[str, Any]) -> list[Any]:
    """Return what a profile claims of the wrong types and roles in a request."""
    names = ("request.unknown-role",) if "bogus" in str(members) else ("request.wrong-type",)
    return [profiles.load(name).at("m").get(each) for each in names]


def test_a_refusal_that_no_claim_words_is_marked(urls: dict[str, str], client: httpx.Client) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "temperature": "x"}
    reply = client.post(f"{urls['openai']}{PATH}", json=body)
    assert GENERIC_HEADER.items() <= dict(reply.headers).items()
    assert {"message", "type", "param", "code"} == reply.json()["error"].keys()
    assert 'expected a number or null, got "x" at /temperature' in reply.json()["error"]["message"]


def test_a_refusal_in_the_words_of_a_claim_is_not_marked(urls: dict[str, str], client: httpx.Client) -> None:
    body = {"model": "deepseek-v4-pro", "messages": [{"role": "developer", "content": "Hello"}]}
    reply = client.post(f"{urls['deepseek']}{PATH}", json=body)
    assert 400 == reply.status_code
    assert "x-conformance" not in reply.headers


def test_a_position_in_a_refusal_is_that_of_the_text_that_was_sent(urls: dict[str, str], client: httpx.Client) -> None:
    text = '{"model": "deepseek-v4-pro",\n "messages": [\n  {"role": "developer", "content": "Hello"}]}'
    reply = client.post(f"{urls['deepseek']}{PATH}", content=text, headers={"content-type": "application/json"})
    assert reply.json()["error"]["message"].endswith("at line 3 column 44")


def test_what_only_earlier_exchanges_show_is_refused_only_if_claimed(
    urls: dict[str, str], client: httpx.Client
) -> None:
    scenario = scenarios.load("plain-answer")
    question = {"role": "user", "content": scenario.prompts[0]}
    answer = {"role": "assistant", "content": "Something else."}
    body = {"model": "m", "messages": [question, answer, {"role": "user", "content": "Go on."}]}
    assert 200 == client.post(f"{urls['openai']}/s/plain-answer{PATH}", json=body).status_code


@pytest.mark.slow
@every("name", some(profiles.names(), 6, mark=pytest.mark.exhaustive))
def test_no_refusal_has_a_hole(name: str) -> None:
    simulator = Simulator(profiles.load(name))
    for rule in rules.load():
        requests = [each.conversation()[-1].request for each in rule.bad] if rule.on.side is Side.CLIENT else []
        # A body that is not an object never gets as far as the provider's part.
        for request in [each for each in requests if isinstance(each, dict)]:
            reply = simulator.reply(request)
            text = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
            assert SIMULATOR_ERROR not in text.decode()
            assert not HOLE.search(text.decode()), (rule.id, text)


def test_a_model_that_does_not_exist_is_refused_as_claimed(urls: dict[str, str], client: httpx.Client) -> None:
    body = {"model": UNKNOWN_MODEL, "messages": [{"role": "user", "content": "Hello"}]}
    reply = client.post(f"{urls['groq']}{PATH}", json=body)
    words = f"The model `{UNKNOWN_MODEL}` does not exist or you do not have access to it."
    assert (404, words) == (reply.status_code, reply.json()["error"]["message"])


@pytest.mark.parametrize("name", NAMES)
def test_models_are_listed_and_found(urls: dict[str, str], client: httpx.Client, name: str) -> None:
    listed = client.get(f"{urls[name]}/v1/models").json()
    assert "list" == listed["object"]
    assert profiles.load(name).model in [model["id"] for model in listed["data"]]
    for model in listed["data"]:
        assert {"id", "object", "created", "owned_by"} == model.keys()
        assert "*" not in model["id"]
        assert model == client.get(f"{urls[name]}/v1/models/{model['id']}").json()
    assert client.get(f"{urls[name]}/v1/models/{UNKNOWN_MODEL}").status_code in (400, 404)


def test_models_that_are_no_longer_served_are_not_listed() -> None:
    source = (profiles.Source(inferred="s"),)
    gone = profiles.Model("gone", {}, lifecycle=(profiles.Period(until="2026-01", source=source),))
    planned = profiles.Model("planned", {}, lifecycle=(profiles.Period(until="2027-01", source=source),))
    profile = profiles.Profile("made", models=(gone, planned), as_of="2026-11-20")
    with simulated(profile) as url:
        listed = httpx.get(f"{url}/v1/models").json()["data"]
        assert ["planned"] == [model["id"] for model in listed]
        assert 404 == httpx.get(f"{url}/v1/models/gone").status_code


def test_a_body_that_a_claim_gives_whole_is_sent_whole(urls: dict[str, str], client: httpx.Client) -> None:
    switch = {"type": "enabled"}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "thinking": switch}
    reply = client.post(f"{urls['mistral']}{PATH}", json=body)
    assert 422 == reply.status_code
    (detail,) = reply.json()["detail"] if "detail" in reply.json() else reply.json()["message"]["detail"]
    assert ("extra_forbidden", switch) == (detail["type"], detail["input"])
