"""What an exchange shows of claims, how it is combined and compared: the same answer for every command that asks."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from conformance import observations
from conformance.observations import words
from conformance.observations.collected import collect, combined, id_formats, values
from conformance.observations.comparing import Relation, answered, contrasts, is_change, matching, relation
from conformance.observations.counts import prompt_tokens, reasoning_tokens
from conformance.observations.replies import is_reasoned
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index

USER = {"role": "user", "content": "Hi"}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {}}}]


def call(identifier: str | None, name: str = "f") -> dict[str, Any]:
    own = {} if identifier is None else {"id": identifier}
    return {**own, "type": "function", "function": {"name": name, "arguments": "{}"}}


def reply(*calls: Mapping[str, Any], usage: Any = None, **message: Any) -> Exchange:
    held = {"role": "assistant", "content": None, **message, **({"tool_calls": list(calls)} if calls else {})}
    choice = {"index": 0, "message": held, "finish_reason": "tool_calls" if calls else "stop"}
    body = {"id": "a", "object": "chat.completion", "model": "m", "choices": [choice]}
    return answer({**body, "usage": usage} if usage else body)


def answer(response: Any, status: int = 200, messages: Any = (USER,), **more: Any) -> Exchange:
    return Exchange({"model": "m", "messages": list(messages), "tools": TOOLS}, response, status, model="m", **more)


def stream(identifier: str) -> Exchange:
    deltas = [{"role": "assistant", "tool_calls": [{"index": 0, **call(identifier)}]}, {}]
    chunks = [
        {"id": "a", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        for delta, end in zip(deltas, (None, "tool_calls"), strict=True)
    ]
    return answer("".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n", streamed=True)


def seen(exchange: Exchange, claims: Mapping[str, Any] | None = None) -> dict[str, list[tuple[Any, ...]]]:
    found = observations.of((exchange,), 0, Index((exchange,)), claims or {})
    return {claim: [sight.values for sight in sights] for claim, sights in found.items()}


def matched(exchange: Exchange, claims: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    same, other = matching(observations.of((exchange,), 0, Index((exchange,)), claims), claims)
    return set(same), set(other)


def test_the_keys_that_every_call_has_are_no_further_ones() -> None:
    assert [([],)] == seen(reply(call("c1")))["reply.call-fields"]
    assert [("custom",)] == seen(reply({**call("c1"), "custom": 1}))["reply.call-fields"]


@pytest.mark.parametrize(
    ("ids", "unique", "said"),
    [
        (("c1", "c2"), [(True,)], "unique"),
        (("c1", "c1"), [(False,)], "repeated within a reply"),
        ((None, None), None, None),
        (("c1", None), None, "unique"),
        (("", ""), None, "empty"),
    ],
)
def test_a_call_without_an_id_repeats_none(ids: tuple[str | None, ...], unique: Any, said: str | None) -> None:
    exchange = reply(*[call(each) for each in ids])
    assert unique == seen(exchange).get("ids.unique-in-reply")
    assert said == next(iter(words.core_facts((exchange,)).get("ids", ())), None)


def test_an_id_of_an_earlier_call_is_repeated_across_replies() -> None:
    first = reply(call("c1"))
    sent = [
        USER,
        {"role": "assistant", "tool_calls": [call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
    ]
    second = answer(first.response, messages=sent)
    assert ("repeated across replies", "as <2 characters>") == words.core_facts((first, second))["ids"]
    assert "ids.unique-in-conversation" not in seen(first)
    assert [(False,)] == seen(second)["ids.unique-in-conversation"]


THINKS, THINKS_NOT = ("default-on", "always"), ("default-off", "never")


@pytest.mark.parametrize(
    ("message", "modes", "fields"),
    [
        ({"reasoning_content": "Hm."}, THINKS, ("reasoning_content",)),
        ({"reasoning_content": ""}, THINKS_NOT, ()),
        ({"reasoning_opaque": "c2ln"}, THINKS, ()),
        ({"content": "<think>Hm.</think>Hi"}, THINKS, ("think-tags",)),
        ({"content": "Hi"}, THINKS_NOT, ()),
    ],
)
def test_empty_reasoning_shows_no_thinking_and_a_signature_does(
    message: dict[str, Any], modes: tuple[str, ...], fields: tuple[str, ...]
) -> None:
    exchange = reply(**message)
    assert [modes] == seen(exchange)["thinking.mode"]
    assert (modes is THINKS) is is_reasoned(exchange.response["choices"][0]["message"])
    assert fields == words.core_facts((exchange,)).get("reasoning-fields", ())


USAGES: tuple[Mapping[str, Any], ...] = (
    {"reasoning_tokens": 3},
    {"completion_tokens_details": {"reasoning_tokens": 3}},
    {"a": {"b": {"reasoning_tokens": 3}}},
)


@pytest.mark.parametrize("usage", USAGES)
def test_reasoning_tokens_count_wherever_a_reply_has_them(usage: Mapping[str, Any]) -> None:
    index = Index((reply(usage={"prompt_tokens": 7, **usage}),))
    assert (3, 7) == (reasoning_tokens(index), prompt_tokens(index))


def test_ids_in_streams_are_about_the_general_format_unless_streams_have_their_own() -> None:
    general = {"ids.format": "call_[0-9]+"}
    assert ({"ids.format"}, set()) == matched(stream("call_1"), general)
    assert (set(), {"ids.format"}) == matched(stream("x1"), general)
    both = {**general, "ids.format-in-stream": "x[0-9]"}
    assert ({"ids.format-in-stream"}, set()) == matched(stream("x1"), both)


def test_the_formats_of_ids_are_one_if_streams_show_the_same() -> None:
    def found(*conversations: Conversation) -> dict[str, Any]:
        return values(id_formats(collect(conversations, {})))

    assert {"ids.format": "call_[0-9A-Za-z]+", "reply.id-format": "a"} == found(
        (reply(call("call_1a")),), (stream("call_2b"),)
    )
    different = found((reply(call("call_1a")),), (stream("f:0"),))
    assert ("call_[0-9A-Za-z]+", "[A-Za-z0-9_-]+:[0-9]+") == (
        different["ids.format"],
        different["ids.format-in-stream"],
    )


ERRORS: Mapping[str, tuple[Any, tuple[str, ...], str]] = {
    "openai": ({"error": {"message": "No.", "type": "t", "param": None, "code": None}}, ("openai",), "null"),
    "google": ({"error": {"code": 400, "message": "No.", "status": "S"}}, ("google",), "integer"),
    "metadata": ({"error": {"code": 400, "message": "No.", "metadata": {}}}, ("metadata",), "integer"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_shows_every_shape_that_it_has_the_fullest_first(name: str) -> None:
    body, shapes, code = ERRORS[name]
    found = seen(answer(body, 400))
    assert (shapes, [(code,)]) == (found["error.shape"][0][:1], found["error.code-type"])
    derived = values(combined(collect([(answer(body, 400),)], {})))
    assert (shapes[0], code) == (derived["error.shape"], derived["error.code-type"])


def test_a_header_is_missing_only_where_headers_were_recorded() -> None:
    body = {"error": {"message": "Slow down."}}
    assert "http.retry-after" not in seen(answer(body, 429))
    assert [("absent", "sometimes")] == seen(answer(body, 429, headers={"server": "x"}))["http.retry-after"]


def test_what_is_answered_shows_neither_that_it_is_ignored_nor_that_it_is_damaged() -> None:
    exchange = answer(
        reply().response, messages=[USER, {"role": "assistant", "content": "Hello", "reasoning_content": "Hm."}]
    )
    found = observations.of((exchange,), 0, Index((exchange,)), {})
    name = "reasoning.on-plain-turn"
    shown = {value: name in answered(found, {name: value}) for value in ("accepted", "ignored", "damaged", "unknown")}
    assert {"accepted": False, "ignored": True, "damaged": True, "unknown": True} == shown


@pytest.mark.parametrize(
    ("claim", "value", "other", "expected"),
    [
        ("stream.done", True, True, Relation.EQUAL),
        ("stream.done", True, 1, Relation.DIFFERENT),
        ("stream.done", True, None, Relation.UNCLAIMED),
        ("stream.done", True, "upstream", Relation.UNCLAIMED),
        ("reply.fields", ["b", "a"], ["a", "b"], Relation.EQUAL),
        ("reply.fields", [], ["a"], Relation.FITS),
        ("reply.fields", ["b"], ["a"], Relation.DIFFERENT),
        ("finish.with-calls", "stop", ["stop", "tool_calls"], Relation.FITS),
        ("finish.with-calls", ["stop", "tool_calls"], "stop", Relation.DIFFERENT),
        ("ids.format", "call_[0-9a-z]+", "call_[0-9a-f]{8}", Relation.FITS),
        ("ids.format", "x[0-9]+", "call_[0-9a-f]{8}", Relation.DIFFERENT),
        ("results.missing", "accepted", "damaged", Relation.FITS),
        ("results.missing", {"status": 400, "message": "No result."}, {"status": 400}, Relation.FITS),
        ("results.missing", {"status": 422}, {"status": 400}, Relation.DIFFERENT),
        ("results.missing", "accepted", {"status": 400}, Relation.DIFFERENT),
    ],
)
def test_one_comparison_relates_what_was_seen_to_another_value(
    claim: str, value: Any, other: Any, expected: Relation
) -> None:
    assert expected is relation(claim, value, other)


NEWS: Mapping[tuple[Any, Any], bool] = {
    (None, None): False,
    (True, None): True,
    (None, True): True,
    (False, True): False,
    (True, False): False,
    (True, True): True,
}
"""By the value seen before and the one that is claimed, whether it is news that a stream has no end mark."""


def test_a_value_is_news_if_it_is_neither_claimed_nor_seen_before() -> None:
    now = False
    assert NEWS == {key: is_change("stream.done", now, *key) for key in NEWS}


def test_sources_are_contrasted_text_by_text() -> None:
    sources = {"chat": {"a": "1", "b": "2"}, "messages": {"b": "2", "c": "3"}}
    assert [
        ("a", {"chat": "1", "messages": "none"}),
        ("c", {"chat": "none", "messages": "3"}),
    ] == list(contrasts(sources, "none"))
