"""Parameters of a request that shape its reply, over HTTP: each is honoured, or refused with a clear 400."""

import json
from typing import Any

import httpx
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from tests.loops import every
from tests.sampling import examples

PATH = "/v1/chat/completions"
NAMES = ("openai", "deepseek", "groq", "vllm")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": CITY}}
CLOCK = {"type": "function", "function": {"name": "get_time", "parameters": CITY}}
ANSWER = "This is a simulated answer."


def post(client: httpx.Client, url: str, **members: Any) -> Any:
    """Return the reply to a question, plain or assembled from a stream, with one entry per choice."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], **members}
    reply = client.post(f"{url}{PATH}", json=body)
    assert 200 == reply.status_code, reply.text
    streamed = bool(members.get("stream"))
    return Index((Exchange(request=body, response=reply.text, status=200, streamed=streamed),)).replies


def refused(client: httpx.Client, url: str, **members: Any) -> str:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], **members}
    reply = client.post(f"{url}{PATH}", json=body)
    assert reply.status_code in (400, 422), reply.text
    return reply.text


both = pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])


@both
def test_as_many_choices_come_as_are_wanted(urls: dict[str, str], client: httpx.Client, stream: bool) -> None:  # noqa: FBT001
    replies = post(client, urls["openai"], n=3, stream=stream, tools=[WEATHER])
    assert ["tool_calls"] * 3 == [reply.finish_reason for reply in replies]
    assert 3 == len({reply.calls[0].id for reply in replies})


@both
@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_reply_is_cut_at_the_limit(urls: dict[str, str], client: httpx.Client, stream: bool, name: str) -> None:  # noqa: FBT001
    (reply,) = post(client, urls["vllm"], **{name: 3}, stream=stream)
    assert ("length", ANSWER[:12]) == (reply.finish_reason, reply.message["content"])


def test_a_limit_counts_in_the_usage(urls: dict[str, str], client: httpx.Client) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 3}
    usage = client.post(f"{urls['vllm']}{PATH}", json=body).json()["usage"]
    assert 3 == usage["completion_tokens"]


def test_a_limit_cuts_arguments(urls: dict[str, str], client: httpx.Client) -> None:
    (reply,) = post(client, urls["openai"], max_completion_tokens=3, tools=[WEATHER], model="gpt-4.1")
    assert "length" == reply.finish_reason
    assert ['{"city":"Par'] == [call.arguments for call in reply.calls]


@both
@pytest.mark.parametrize("stop", ["simulated", ["?", " simulated"]], ids=str)
def test_a_reply_ends_before_a_stop_text(
    urls: dict[str, str],
    client: httpx.Client,
    stream: bool,  # noqa: FBT001
    stop: Any,
) -> None:
    (reply,) = post(client, urls["vllm"], stop=stop, stream=stream)
    assert ("stop", "This is a") == (reply.finish_reason, reply.message["content"].rstrip())


@both
def test_an_answer_is_a_json_object_if_that_is_wanted(
    urls: dict[str, str],
    client: httpx.Client,
    stream: bool,  # noqa: FBT001
) -> None:
    asked = [{"role": "user", "content": "Hello, in JSON"}]
    (reply,) = post(client, urls["openai"], messages=asked, response_format={"type": "json_object"}, stream=stream)
    assert {"answer": ANSWER} == json.loads(reply.message["content"])


SCHEMAS: list[Any] = [
    CITY,
    {"type": "array", "items": {"type": "integer", "minimum": 7}, "minItems": 2, "uniqueItems": True},
    {"anyOf": [{"type": "null"}, CITY]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/a"}}}}},
    {"type": "string", "pattern": "^[a-f]{3}-\\d+$"},
    {"type": "object", "properties": {"a": {"enum": [2, 3]}, "b": {"const": None}, "c": {"type": ["number", "null"]}}},
    {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 2},
    {"type": "string", "format": "date-time", "maxLength": 40},
    {"allOf": [{"required": ["a"]}, {"properties": {"a": {"type": "integer", "multipleOf": 5}}}], "type": "object"},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: json.dumps(schema)[:50])
def test_an_answer_obeys_the_schema(urls: dict[str, str], client: httpx.Client, schema: Any) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    (reply,) = post(client, urls["openai"], response_format=wanted)
    jsonschema.validate(json.loads(reply.message["content"]), schema)


bounds = st.integers(-5, 5)
schemas = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "boolean"}, {"type": "null"}, {"enum": [1, "a"]}])
    | st.builds(lambda low: {"type": "integer", "minimum": low}, bounds)
    | st.builds(lambda high: {"type": "number", "maximum": high}, bounds)
    | st.builds(lambda least: {"type": "string", "minLength": least}, st.integers(0, 40)),
    lambda inner: (
        st.builds(lambda items, least: {"type": "array", "items": items, "minItems": least}, inner, st.integers(0, 3))
        | st.builds(lambda options: {"anyOf": options}, st.lists(inner, min_size=1, max_size=3))
        | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3).map(
            lambda properties: {"type": "object", "properties": properties, "required": sorted(properties)}
        )
    ),
    max_leaves=8,
)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schemas)
def test_any_usual_schema_is_obeyed(urls: dict[str, str], client: httpx.Client, schema: Any) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    (reply,) = post(client, urls["openai"], response_format=wanted)
    jsonschema.validate(json.loads(reply.message["content"]), schema)


def test_a_schema_that_no_value_was_found_for_is_refused(urls: dict[str, str], client: httpx.Client) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": False}}
    assert "response_format" in refused(client, urls["openai"], response_format=wanted)


def test_log_probabilities_cover_the_answer(urls: dict[str, str], client: httpx.Client) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "logprobs": True, "top_logprobs": 2}
    listed = client.post(f"{urls['vllm']}{PATH}", json=body).json()["choices"][0]["logprobs"]["content"]
    assert ANSWER == "".join(each["token"] for each in listed)
    assert {"token", "logprob", "bytes", "top_logprobs"} == listed[0].keys()
    streamed = client.post(f"{urls['vllm']}{PATH}", json={**body, "stream": True}).text
    assert '"logprobs":{"content":[{"token":"This"' in streamed


def test_one_seed_gives_one_reply(urls: dict[str, str], client: httpx.Client) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "seed": 7}
    assert 1 == len({client.post(f"{urls['vllm']}{PATH}", json=body).text for _ in range(3)})


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("none", []),
        ("auto", ["get_weather"]),
        ("required", ["get_weather"]),
        ({"type": "function", "function": {"name": "get_time"}}, ["get_time"]),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "get_time"}}],
                },
            },
            ["get_time"],
        ),
    ],
    ids=str,
)
def test_a_tool_choice_is_obeyed(urls: dict[str, str], client: httpx.Client, choice: Any, called: list[str]) -> None:
    (reply,) = post(client, urls["openai"], tools=[WEATHER, CLOCK], tool_choice=choice)
    assert called == [call.name for call in reply.calls]


@every(
    "members",
    [
        {"n": 0},
        {"n": 129},
        {"n": 1.5},
        {"max_tokens": 0},
        {"max_tokens": -3},
        {"stop": 5},
        {"stop": [5]},
        {"response_format": {"type": "grammar"}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": 5}}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "wrong"}}}},
        {"logprobs": "yes"},
        {"logprobs": True, "top_logprobs": 99},
        {"top_logprobs": 2},
        {"seed": "x"},
        {"tool_choice": {"type": "function", "function": {"name": "other"}}, "tools": [WEATHER]},
    ],
    ids=str,
)
def test_what_cannot_be_honoured_is_refused(
    urls: dict[str, str], client: httpx.Client, members: dict[str, Any]
) -> None:
    text = refused(client, urls["vllm"], **members)
    assert any(name in text for name in members)


@pytest.mark.parametrize(
    "members",
    [
        {"tool_choice": "perhaps", "tools": [WEATHER]},
        {"tool_choice": {"type": "tool", "name": "get_weather"}, "tools": [WEATHER]},
        {"tool_choice": "required"},
    ],
    ids=str,
)
def test_a_tool_choice_that_no_claim_rules_out_is_not_refused(
    urls: dict[str, str], client: httpx.Client, members: dict[str, Any]
) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], **members}
    assert 200 == client.post(f"{urls['deepseek']}{PATH}", json={**body, "thinking": {"type": "disabled"}}).status_code
