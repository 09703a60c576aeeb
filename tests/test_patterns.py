"""Chunks that repeat another are taken by their text alone; streams of them lose nothing by it."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import Exchange, check
from conformance.schemas import validator
from conformance.wire.assemble import assemble
from conformance.wire.sse import read, render
from tests.loops import every
from tests.test_assemble import DONE, chunk, said
from tests.test_assemble_any import assemble_slowly, recorded

TEXTS = st.text(max_size=3) | st.sampled_from(["content", "}", '"', "\\", '"delta":{"content":"x"}', "\u2028", "stop"])
PADDING = st.fixed_dictionaries({}, optional={"obfuscation": TEXTS, "p": TEXTS})
OTHER_KEYS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"role": "assistant"}, {"role": "user"}, {"refusal": None}, {"tool_calls": []}, {"channel": "a"}]
)


def detail(text: str, **members: Any) -> dict[str, Any]:
    return {"reasoning_details": [{"type": "reasoning.text", "text": text, "index": 0} | members]}


DELTAS: dict[str, Any] = {
    **{key: lambda text, key=key: {key: text} for key in ("content", "reasoning_content", "x", "role")},
    "calls": lambda text: {"tool_calls": [{"index": 0, "function": {"arguments": text}}]},
    "parts": lambda text: {"content": [{"type": "text", "text": text}]},
    "thinking": lambda text: {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]},
    "details": detail,
    "details with data": lambda text: detail(text, data="a"),
    "details with another key": lambda text: detail("", x=text),
    "details and their text": lambda text: {"reasoning": text, **detail(text)},
    "details and another text": lambda text: {"reasoning": text, **detail(f"{text}!")},
    "two texts": lambda text: {"content": text, "reasoning": text},
    "nothing": lambda _text: {"content": "", "reasoning_details": []},
}
"""Deltas with a text, in the forms that providers send and in some that they do not."""
USUAL = {"calls", "content", "details", "details and their text", "nothing", "parts", "reasoning_content", "thinking"}
"""The forms of which chunks repeat another; the others begin something new with each chunk, or have several texts."""


@st.composite
def repetitive(draw: st.DrawFn) -> list[Any]:
    """Draw a stream in which many chunks repeat another but for a text, in any of the notations that servers use."""
    items: list[Any] = said({})[:1]
    for _ in range(draw(st.integers(1, 4))):
        others: dict[str, Any]
        extra: dict[str, Any]
        make, others = DELTAS[draw(st.sampled_from(sorted(DELTAS)))], draw(OTHER_KEYS)
        extra = draw(st.sampled_from([{}, {"usage": None}, {"created": None}, {"error": None}, {"id": "b"}]))
        finish = {"finish_reason": draw(st.sampled_from([None, None, None, "stop"]))}
        is_doubled, name = draw(st.booleans()), draw(st.sampled_from(["", "", "event: message\n", "event: x\n"]))
        for text in draw(st.lists(TEXTS, max_size=5)):
            value = chunk(others | make(text)) | extra | draw(PADDING)
            value["choices"][0] |= finish | ({"text": text} if is_doubled else {})
            data = orjson.dumps(value).decode()
            data = data.replace("},", "}, ") if draw(st.booleans()) else data
            items.append(f"{name if draw(st.booleans()) else ''}data: {data}\n\n")
    return [*items, DONE]


@pytest.mark.slow
@settings(deadline=None)
@given(repetitive())
def test_streams_of_repeated_chunks_are_assembled_as_if_each_were_parsed(items: list[Any]) -> None:
    reading = read(render(items))
    stream = assemble(reading)
    others = {kind: found for kind, found in stream.anomalies.items() if kind != "event-named"}
    assert assemble_slowly(reading.data) == stream._replace(anomalies=others)
    assert [orjson.loads(data) for data in reading.data[:-1]] == stream.chunks[:-1]


@settings(deadline=None)
@given(repetitive())
def test_a_repeated_chunk_is_as_valid_as_the_one_it_repeats(items: list[Any]) -> None:
    chunks = assemble(read(render(items))).chunks
    is_valid = validator("canonical/chunk").is_valid
    expected = True
    for number in range(len(chunks) - 1):
        expected = is_valid(chunks[number]) if number in chunks.special else expected
        assert expected == is_valid(chunks[number])


@every("name", sorted(DELTAS))
def test_chunks_of_the_usual_forms_repeat_one(name: str) -> None:
    items = said(*[DELTAS[name](text) for text in ["a", "b", "c", ",", "d", "e"]])
    chunks = assemble(read(render(items))).chunks
    assert (name in USUAL) is (len(chunks) - len(chunks.special) > 4)


@every(("padding", "repeats"), [(["ab", "c", "defg", "", "h"], True), ([1, 2, 3, 4, 5], False)])
def test_chunks_with_a_text_as_padding_repeat_one(padding: list[Any], repeats: bool) -> None:  # noqa: FBT001
    items = [chunk({"content": text}) | {"obfuscation": each} for text, each in zip("abcde", padding, strict=True)]
    stream = assemble(read(render([*said({})[:1], *items, DONE])))
    assert repeats is (len(stream.chunks) - len(stream.chunks.special) > 2)
    assert padding == [each["obfuscation"] for each in stream.chunks if each and "obfuscation" in each]


@every("role", [5, True, {"a": "b"}])
def test_chunks_whose_role_is_not_a_string_are_assembled_as_if_each_were_parsed(role: Any) -> None:
    items = said({}, *[{"role": "assistant", "content": "a"}], *[{"role": role, "content": text} for text in "bcd"])
    reading = read(render(items))
    stream = assemble(reading)
    assert assemble_slowly(reading.data) == stream
    assert ["abcd"] == [found.message["content"] for found in stream.choices]


@pytest.mark.slow
def test_most_recorded_chunks_repeat_another(shared: Path) -> None:
    special = total = 0
    for text in recorded(shared):
        chunks = assemble(read(text)).chunks if "chat.completion.chunk" in text else ()
        special, total = special + len(getattr(chunks, "special", ())), total + len(chunks)
    assert special < total / 6


@pytest.mark.parametrize("text", ["a\u0001b", "\ud800", 'a"b', "a\\"])
def test_what_is_no_string_between_the_quotes_is_bad_json(text: str) -> None:
    first, second = (orjson.dumps(chunk({"content": each})).decode() for each in ("Hello", "WORLD"))
    data = f"data: {first}\n\ndata: {second.replace('WORLD', text)}\n\n"
    stream = assemble(read(data))
    assert [None] == stream.chunks[1:]
    assert {"bad-json"} <= set(stream.anomalies)


def test_every_repetition_of_an_invalid_chunk_is_reported() -> None:
    frame = {"object": "chat.completion.chunk", "created": "now"}
    items = [item | frame if isinstance(item, dict) else item for item in said(*[{"content": "a"}] * 5)]
    (outcome,) = check(Exchange({"model": "m", "messages": []}, render(items), 200), rules="shape/chunk")
    assert [f"/0/response/{number}/created" for number in range(7)] == [finding.at for finding in outcome.findings]
