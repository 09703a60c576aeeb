"""What streams are assembled to, and which anomalies are noted."""

from pathlib import Path
from typing import Any

import pytest

from conformance.wire.anomalies import KINDS
from conformance.wire.assemble import Stream, assemble
from conformance.wire.sse import StreamBounds, read, render
from tests.loops import every

FOLDER = Path(__file__).parents[1] / "fixtures" / "streams"
DONE = "data: [DONE]\n\n"

ANOMALIES = {
    "after-done": {"finish", "after-done"},
    "arguments-absent": {"finish", "arguments-missing"},
    "arguments-null-first": {"finish", "arguments-missing"},
    "arguments-object": {"finish", "arguments-not-string"},
    "bad-json": {"finish", "bad-json"},
    "choice-index-missing": {"finish", "choice-index-missing"},
    "choices-missing": {"finish", "choices-missing"},
    "chunk-id-changes": {"finish", "chunk-id-changed", "model-changed"},
    "chunk-id-missing": {"finish", "chunk-id-missing"},
    "comments-only": {"done-missing"},
    "content-after-finish": {"finish", "after-finish"},
    "content-parts": {"finish", "content-type-changed"},
    "cr": {"finish"},
    "crlf": {"finish"},
    "cut-between-events": {"cut", "done-missing"},
    "cut-in-event": {"cut", "done-missing"},
    "done-missing": {"finish", "done-missing"},
    "done-with-space": {"finish", "done-inexact"},
    "done-without-blank-line": {"finish", "cut", "done-missing", "done-undispatched"},
    "empty": {"done-missing"},
    "error-event": {"cut", "error-in-band"},
    "error-in-band": {"cut", "error-in-band"},
    "error-in-choice": {"finish", "error-in-band"},
    "event-named": {"finish", "event-named"},
    "fields": {"finish"},
    "id-empty": {"finish", "id-missing", "index-missing"},
    "id-empty-later": {"finish", "id-empty", "type-repeated"},
    "id-late": {"finish", "id-late", "id-missing"},
    "id-null-later": {"finish", "id-null", "name-null", "type-repeated"},
    "id-repeated": {"finish", "id-repeated", "name-empty"},
    "ignored-line": {"finish", "ignored-line"},
    "index-always-0": {"finish", "index-reused"},
    "index-from-1": {"finish", "index-gap"},
    "index-missing": {"finish", "index-missing"},
    "index-negative": {"finish", "index-negative"},
    "interleaved": {"finish", "interleaved"},
    "invalid-utf8": {"finish", "invalid-utf8"},
    "multi-line": {"finish"},
    "name-missing": {"finish", "name-late", "name-missing"},
    "not-an-object": {"finish", "not-an-object"},
    "plain": {"finish"},
    "prompt-filter": {"finish", "chunk-id-missing", "empty-choices"},
    "reasoning": {"finish"},
    "reasoning-after-content": {"finish", "reasoning-after-content"},
    "reasoning-content": {"finish"},
    "reasoning-details": {"finish"},
    "refusal": {"finish"},
    "role-missing": {"finish", "role-missing"},
    "role-on-every-chunk": {"finish", "role-repeated"},
    "tool-call": {"finish"},
    "tool-call-extra-content": {"finish"},
    "tool-calls-parallel": {"finish"},
    "tool-calls-whole": {"finish"},
    "two-choices": {"finish"},
    "two-finishes": {"finish"},
    "type-missing": {"finish", "type-missing"},
    "usage": {"finish", "usage", "empty-choices"},
    "usage-on-finish": {"finish", "usage"},
}
"""Every stream of the fixtures, and the kinds of its anomalies."""

WEATHER = {"role": "assistant", "content": "Paris is sunny, 18 °C."}
REASONED = {"role": "assistant", "content": "Both are warm."}
YES = {"role": "assistant", "content": "Yes."}


def call(number: int, arguments: str, name: str = "get_weather") -> dict[str, Any]:
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


PARIS, ROME = call(1, '{"city":"Paris"}'), call(2, '{"city":"Rome"}')
TIME = {"role": "assistant", "content": None, "tool_calls": [call(1, "{}", "get_time")]}
PAIR = {"role": "assistant", "content": None, "tool_calls": [PARIS, ROME]}

MESSAGES = {
    "after-done": WEATHER,
    "arguments-absent": {**TIME, "tool_calls": [{**call(1, ""), "function": {"name": "get_time"}}]},
    "arguments-null-first": TIME,
    "arguments-object": {
        **TIME, "tool_calls": [{**PARIS, "function": {"name": "get_weather", "arguments": {"city": "Paris"}}}],
    },
    "bad-json": YES,
    "content-after-finish": {"role": "assistant", "content": "Yes. And?"},
    "content-parts": {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Two cities."}], "closed": True},
            {"type": "text", "text": "Both are warm."},
        ],
    },
    "cr": WEATHER,
    "crlf": WEATHER,
    "cut-in-event": {"role": "assistant", "content": "Paris is "},
    "fields": YES,
    "id-empty": {"role": "assistant", "tool_calls": [{**call(1, "{}", "get_time"), "id": ""}]},
    "id-empty-later": TIME,
    "id-late": TIME,
    "id-null-later": TIME,
    "id-repeated": TIME,
    "index-always-0": PAIR,
    "index-from-1": TIME,
    "index-missing": PAIR,
    "index-negative": TIME,
    "interleaved": PAIR,
    "multi-line": YES,
    "name-missing": TIME,
    "not-an-object": YES,
    "plain": WEATHER,
    "reasoning": {**REASONED, "reasoning": "Two cities."},
    "reasoning-after-content": {
        "role": "assistant", "content": "Yes. Indeed.", "reasoning_content": "Hm. Still? Yes.",
    },
    "reasoning-content": {**REASONED, "reasoning_content": "Two cities."},
    "reasoning-details": {
        **REASONED,
        "reasoning": "Two cities.",
        "reasoning_details": [
            {
                "type": "reasoning.text", "text": "Two cities.", "format": "anthropic-claude-v1", "index": 0,
                "signature": "c2lnbmF0dXJl",
            },
            {
                "type": "reasoning.encrypted", "data": "b3BhcXVl", "id": "rs_1", "format": "openai-responses-v1",
                "index": 0,
            },
        ],
    },
    "refusal": {"role": "assistant", "content": None, "refusal": "I cannot do that."},
    "role-missing": {"content": "Yes."},
    "role-on-every-chunk": YES,
    "tool-call": {**TIME, "tool_calls": [PARIS]},
    "tool-call-extra-content": {
        "role": "assistant",
        "tool_calls": [{**call(1, "{}", "get_time"), "extra_content": {"google": {"thought_signature": "c2ln"}}}],
    },
    "tool-calls-parallel": PAIR,
    "tool-calls-whole": {**PAIR, "content": ""},
    "two-finishes": TIME,
    "type-missing": {**TIME, "tool_calls": [{"id": "call_1", "function": {"name": "get_time", "arguments": "{}"}}]},
}  # fmt: skip
"""The messages of some of them."""


def fixture(name: str) -> Stream:
    return assemble(read((FOLDER / f"{name}.sse").read_bytes()))


def chunk(delta: Any = None, finish: str | None = None, **top: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return {"id": "chatcmpl-1", "model": "model-a", "choices": [choice], **top}


def calls(*fragments: Any) -> list[Any]:
    """Return a stream of chunks with one fragment each, whose message begins and ends regularly."""
    opened = chunk({"role": "assistant", "content": None})
    return [opened, *(chunk({"tool_calls": [each]}) for each in fragments), chunk(finish="tool_calls"), DONE]


def said(*deltas: Any) -> list[Any]:
    return [chunk({"role": "assistant"}), *(chunk(delta) for delta in deltas), chunk(finish="stop"), DONE]


def test_every_stream_of_the_fixtures_is_in_the_table() -> None:
    assert set(ANOMALIES) == {path.stem for path in FOLDER.glob("*.sse")}


@every("name", ANOMALIES)
def test_a_stream_has_exactly_its_anomalies(name: str) -> None:
    assert ANOMALIES[name] == set(fixture(name).anomalies)


@every("name", MESSAGES)
def test_a_stream_is_assembled_to_the_message_of_a_plain_reply(name: str) -> None:
    assert [MESSAGES[name]] == [choice.message for choice in fixture(name).choices]


IRREGULAR: dict[str, tuple[list[Any], set[str]]] = {
    "a choice is not an object": ([chunk(choices=["x"]), *said()], {"not-an-object"}),
    "choices are an object": ([chunk(choices={"a": 1}), *said()], {"choices-missing"}),
    "a choice has a message instead of a delta": (
        [chunk(choices=[{"index": 0, "message": {}, "finish_reason": "stop"}]), DONE], {"delta-missing"},
    ),
    "a finish reason is a number": (
        [*said()[:-1], chunk(choices=[{"index": 0, "delta": {}, "finish_reason": 1}]), DONE], {"finish-not-string"},
    ),
    "a finish reason is empty": ([*said()[:-1], chunk(finish=""), DONE], {"finish-not-string"}),
    "content is a number": (said({"content": 7}), {"not-text"}),
    "reasoning is an object": (said({"reasoning": {"a": 1}}), {"not-text"}),
    "a part is a string": (said({"content": ["a"]}), {"not-an-object"}),
    "thinking follows text": (
        said({"content": "a"}, {"content": [{"type": "thinking", "thinking": []}]}),
        {"content-type-changed", "reasoning-after-content"},
    ),
    "an unknown field changes": (said({"channel": "analysis"}, {"channel": "final"}), {"overwritten"}),
    "a detail is a string": (said({"reasoning_details": ["a"]}), {"not-an-object"}),
    "a detail has no index": (said({"reasoning_details": [{"type": "reasoning.text", "text": "a"}]}),
                              {"detail-index-missing"}),
    "a detail has no type": (said({"reasoning_details": [{"index": 0, "text": "a"}]}), set()),
    "two encrypted details have one index": (
        said({"reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": d} for d in ("a", "b")]}),
        {"detail-index-reused"},
    ),
    "tool calls are an object": (said({"tool_calls": {"0": {}}}), {"tool-calls-not-a-list"}),
    "a tool call is null": (calls(None), {"not-an-object"}),
    "a tool call is empty": (calls({}), {"index-missing", "id-missing", "type-missing", "function-missing"}),
    "an id is a number": (calls({**PARIS, "index": 0, "id": 5}), {"id-not-string"}),
    "an index is a string": (calls({**PARIS, "index": "0"}), {"index-missing"}),
    "an index is a boolean": (calls({**PARIS, "index": False}), {"index-missing"}),
    "an index comes before a lower one": (calls({**PARIS, "index": 1}, {**ROME, "index": 0}), {"index-gap"}),
    "a name is empty first": (calls({**call(1, "{}", ""), "index": 0}), {"name-empty"}),
    "a name is repeated": (calls({**PARIS, "index": 0}, {"index": 0, "function": {"name": "get_weather"}}),
                           {"name-repeated", "fragment-without-arguments"}),
    "a name changes": (calls({**PARIS, "index": 0}, {"index": 0, "function": {"name": "x", "arguments": ""}}),
                       {"name-changed"}),
    "a fragment has no function": (calls({**PARIS, "index": 0}, {"index": 0}), {"function-missing"}),
    "a named event ends the stream": (["event: end\n" + DONE, *said()], {"event-named", "after-done"}),
}  # fmt: skip


@every(("items", "kinds"), IRREGULAR.values(), ids=IRREGULAR)
def test_an_irregularity_is_an_anomaly(items: list[Any], kinds: set[str]) -> None:
    assert kinds == set(assemble(read(render(items))).anomalies) - {"finish"}


def test_an_exceeded_bound_is_an_anomaly() -> None:
    stream = assemble(read(render(said()), StreamBounds(events=2)))
    expected = "more than 2 events"
    assert expected == stream.anomalies["bound-met"][0].detail


def test_every_kind_of_anomaly_occurs_in_a_test() -> None:
    met = set().union({"bound-met"}, *ANOMALIES.values(), *(kinds for _, kinds in IRREGULAR.values()))
    assert set(KINDS) == met


@every(
    ("place", "name", "kind"),
    [
        ((4,), "done-missing", "done-missing"),
        ((2,), "cut-in-event", "cut"),
        ((1, "choices", 0), "cut-between-events", "cut"),
        ((5,), "after-done", "after-done"),
        ((3, "usage"), "usage", "usage"),
        ((3, "choices"), "usage", "empty-choices"),
        ((1, "id"), "chunk-id-changes", "chunk-id-changed"),
        ((2, "model"), "chunk-id-changes", "model-changed"),
        ((0, "choices", 0, "delta"), "role-missing", "role-missing"),
        ((1, "choices", 0, "delta", "role"), "role-on-every-chunk", "role-repeated"),
        ((2, "choices", 0, "finish_reason"), "two-finishes", "finish"),
        ((3, "choices", 0, "delta", "content"), "content-after-finish", "after-finish"),
        ((1, "choices", 0, "delta", "tool_calls", 0), "index-missing", "index-missing"),
        ((3, "choices", 0, "delta", "tool_calls", 0), "index-always-0", "index-reused"),
        ((3, "choices", 0, "delta", "tool_calls", 0), "interleaved", "interleaved"),
    ],
)
def test_an_anomaly_has_its_place(place: tuple[str | int, ...], name: str, kind: str) -> None:
    assert place == fixture(name).anomalies[kind][0].at


def test_a_choice_has_the_places_of_its_calls() -> None:
    places = [(number, "choices", 0, "delta", "tool_calls", 0) for number in (1, 4)]
    assert tuple(places) == fixture("tool-calls-parallel").choices[0].calls


def test_the_roles_of_later_deltas_are_counted_and_named() -> None:
    deltas = [{"role": role, "content": "a"} for role in ("assistant", "user", 5)]
    stream = assemble(read(render(said(*deltas))))
    (anomaly,) = stream.anomalies["role-repeated"]
    assert "5, assistant, user in 3 more deltas" == anomaly.detail
    assert "assistant" == stream.choices[0].message["role"]


def test_every_finish_reason_is_noted_and_the_last_is_kept() -> None:
    expected = ["tool_calls", "tool_calls", "stop"]
    stream = fixture("two-finishes")
    assert expected == [finish.detail for finish in stream.anomalies["finish"]]
    assert expected[-1] == stream.choices[0].finish_reason


def test_choices_are_distinguished_by_index() -> None:
    expected = [(0, "Heads", "stop"), (1, "Tails", "stop")]
    choices = fixture("two-choices").choices
    assert expected == [(choice.index, choice.message["content"], choice.finish_reason) for choice in choices]


@pytest.mark.parametrize("name", ["error-in-band", "error-event", "error-in-choice"])
def test_an_error_in_band_has_the_form_of_an_error_reply(name: str) -> None:
    error = fixture(name).error
    assert {"error"} == set(error)
    assert {"message", "code"} <= set(error["error"])


def test_the_last_usage_is_kept() -> None:
    first, last = {"total_tokens": 1}, {"total_tokens": 2}
    stream = assemble(read(render([chunk(usage=first), chunk(usage=last), chunk(usage=None), DONE])))
    assert last == stream.usage


CALLED = [
    ("an id that is known finds its call without an index", [PARIS, ROME, {"id": "call_1", "function": {}}], 2),
    ("without index and id a fragment belongs to the latest call", [PARIS, ROME, {"function": {}}], 2),
    ("without index and id a name opens a call", [PARIS, {"id": "", "function": {"name": "get_time"}}], 2),
    ("a late id with another name opens a call",
     [{**ROME, "index": 0, "id": None}, {**PARIS, "index": 0}], 2),
    ("an earlier call on an index is found by its id",
     [{**PARIS, "index": 0}, {**ROME, "index": 0}, {"index": 0, "id": "call_1", "function": {"arguments": ""}}], 2),
]  # fmt: skip


@pytest.mark.parametrize(("fragments", "number"), [case[1:] for case in CALLED], ids=[case[0] for case in CALLED])
def test_a_fragment_is_added_to_the_call_of_the_table(fragments: list[Any], number: int) -> None:
    message = assemble(read(render(calls(*fragments)))).choices[0].message
    assert number == len(message["tool_calls"])


@pytest.mark.parametrize(
    ("key", "expected", "values"),
    [
        ("annotations", [{"n": 1}, {"n": 2}], [[{"n": 1}], [{"n": 2}]]),
        (
            "audio",
            {"id": "a", "data": "xy", "expires_at": 2},
            [{"id": "a", "data": "x"}, {"data": "y", "expires_at": 2}],
        ),
        ("function_call", {"name": "f", "arguments": "{}"}, [{"name": "f", "arguments": "{"}, {"arguments": "}"}]),
        ("phase", "final", ["final", "final"]),
        ("tool_calls", [], [[], None]),
        ("reasoning", "", [None, "", None]),
    ],
)
def test_fields_other_than_text_are_merged_by_type(key: str, expected: Any, values: list[Any]) -> None:
    stream = assemble(read(render(said(*({key: value} for value in values)))))
    assert expected == stream.choices[0].message[key]
    assert {"finish"} == set(stream.anomalies)


def test_a_field_that_is_always_null_is_omitted_except_content() -> None:
    items = said({"content": None, "reasoning": None, "tool_calls": None, "refusal": None})
    expected = {"role": "assistant", "content": None}
    assert expected == assemble(read(render(items))).choices[0].message


def test_a_value_replaces_an_empty_one() -> None:
    stream = assemble(read(render(said({"content": ""}, {"content": 7}))))
    assert {"role": "assistant", "content": 7} == stream.choices[0].message


def test_details_with_null_data_are_still_one_item() -> None:
    fragments = [{"type": "reasoning.text", "index": 0, "text": text, "data": None, "id": None} for text in ("a", "b")]
    stream = assemble(read(render(said(*({"reasoning_details": [fragment]} for fragment in fragments)))))
    expected = [{"type": "reasoning.text", "index": 0, "text": "ab", "data": None, "id": None}]
    assert expected == stream.choices[0].message["reasoning_details"]


def test_half_a_surrogate_pair_in_a_text_is_bad_json() -> None:
    assert {"bad-json", "done-missing"} == set(assemble(read('data: "\ud800"\n\n')).anomalies)
