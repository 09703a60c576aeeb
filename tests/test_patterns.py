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
from tests.test_assemble import DONE, chunk, said
from tests.test_assemble_any import assemble_slowly, recorded

TEXTS = st.text(max_size=3) | st.sampled_from(["content", "}", '"', "\\", '"delta":{"content":"x"}', "\u2028", "stop"])
OTHER_KEYS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"role": "assistant"}, {"role": "user"}, {"refusal": None}, {"tool_calls": []}, {"channel": "a"}]
)


@st.composite
def repetitive(draw: st.DrawFn) -> list[Any]:
    """Draw a stream in which many chunks repeat another but for a text, in any of the notations that servers use."""
    items: list[Any] = said({})[:1]
    for _ in range(draw(st.integers(1, 4))):
        others: dict[str, Any]
        extra: dict[str, Any]
        key, others = draw(st.sampled_from(["content", "reasoning_content", "x", "calls", "role"])), draw(OTHER_KEYS)
        extra = draw(st.sampled_from([{}, {"usage": None}, {"created": None}, {"error": None}, {"id": "b"}]))
        finish = {"finish_reason": draw(st.sampled_from([None, None, None, "stop"]))}
        for text in draw(st.lists(TEXTS, max_size=5)):
            delta = others | {key: text}
            if key == "calls":
                delta = others | {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
            value = chunk(delta) | extra | draw(st.fixed_dictionaries({}, optional={"obfuscation": TEXTS}))
            value["choices"][0] |= finish
            data = orjson.dumps(value).decode()
            items.append(f"data: {data.replace('},', '}, ') if draw(st.booleans()) else data}\n\n")
    return [*items, DONE]


@settings(deadline=None)
@given(repetitive())
def test_streams_of_repeated_chunks_are_assembled_as_if_each_were_parsed(items: list[Any]) -> None:
    reading = read(render(items))
    stream = assemble(reading)
    assert assemble_slowly(reading.data) == stream
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


def test_most_recorded_chunks_repeat_another(shared: Path) -> None:
    special = total = 0
    for text in recorded(shared):
        chunks = assemble(read(text)).chunks if "chat.completion.chunk" in text else ()
        special, total = special + len(getattr(chunks, "special", ())), total + len(chunks)
    assert special < total / 2


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
