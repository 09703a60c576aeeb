"""Properties of every stream: generated ones, however they are split, and recorded ones."""

import gzip
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.wire.anomalies import KINDS
from conformance.wire.assemble import Stream, assemble
from conformance.wire.sse import Decoder, Event, read, render
from tests.test_assemble import ANOMALIES, DONE, FOLDER, call, chunk, said


def split_text(text: str) -> st.SearchStrategy[list[str]]:
    def cut(places: list[int]) -> list[str]:
        return [text[start:end] for start, end in pairwise([0, *sorted(places), len(text)])]

    return st.lists(st.integers(0, len(text)), max_size=5).map(cut)


TEXT = st.text(min_size=1, max_size=20)
MESSAGE = st.fixed_dictionaries(
    {"content": TEXT},
    optional={"reasoning_content": TEXT, "refusal": TEXT, "tool_calls": st.lists(TEXT, min_size=1, max_size=3)},
)


@settings(deadline=None)
@given(st.data(), MESSAGE)
def test_a_message_split_into_deltas_anywhere_is_assembled_again(data: st.DataObject, drawn: dict[str, Any]) -> None:
    message = {"role": "assistant", **drawn}
    deltas: list[dict[str, Any]] = []
    for key in ("reasoning_content", "content", "refusal"):
        deltas += [{key: text} for text in data.draw(split_text(message[key]))] if key in message else []
    if "tool_calls" in message:
        message["tool_calls"] = [call(n, arguments) for n, arguments in enumerate(message["tool_calls"])]
        for index, each in enumerate(message["tool_calls"]):
            first, *rest = data.draw(split_text(each["function"]["arguments"]))
            opened = {**each, "index": index, "function": {"name": each["function"]["name"], "arguments": first}}
            deltas.append({"tool_calls": [opened]})
            deltas += [{"tool_calls": [{"index": index, "function": {"arguments": text}}]} for text in rest]
    stream = assemble(read(render(said(*deltas))))
    assert [message] == [choice.message for choice in stream.choices]
    assert {"finish"} == set(stream.anomalies)


def assemble_slowly(data: Sequence[str]) -> Stream:
    """Assemble a stream without the fast path for ordinary chunks, which named events do not take."""
    stream = assemble(Event(each, "chunk") for each in data)
    return stream._replace(anomalies={kind: found for kind, found in stream.anomalies.items() if kind != "event-named"})


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False) | st.sampled_from(["", "a", "stop"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["index", "type", "x"]), inner, max_size=3)
    ),
    max_leaves=4,
)


def maybe(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw an object that may lack any key and have any value under it."""
    return st.fixed_dictionaries({}, optional={key: value | JSON_VALUES for key, value in keys.items()})


SHORT = st.sampled_from(["", "a", "b"])
FUNCTION = maybe(name=SHORT, arguments=SHORT, extra=SHORT)
FRAGMENT = maybe(index=st.integers(0, 1), id=SHORT, type=st.just("function"), function=FUNCTION)
DETAIL = maybe(index=st.integers(0, 1), id=SHORT, type=SHORT, text=SHORT, data=SHORT, signature=SHORT)
PART = maybe(type=st.sampled_from(["text", "thinking"]), text=SHORT, thinking=st.lists(maybe(type=SHORT, text=SHORT)))
DELTA = maybe(
    role=st.just("assistant"),
    content=SHORT | st.lists(PART, max_size=2),
    reasoning=SHORT,
    reasoning_content=SHORT,
    reasoning_details=st.lists(DETAIL, max_size=2),
    tool_calls=st.lists(FRAGMENT, max_size=2),
    function_call=FUNCTION,
    audio=maybe(data=SHORT),
)
CHOICE = maybe(index=st.integers(0, 1), delta=DELTA, finish_reason=st.just("stop"), error=SHORT)
CHUNK = maybe(id=SHORT, model=SHORT, choices=st.lists(CHOICE, max_size=2), usage=maybe(n=SHORT), error=SHORT)
ORDINARY = DELTA.map(chunk)
ITEMS = st.lists(ORDINARY | CHUNK | JSON_VALUES.map(lambda value: [value]) | st.just(DONE), max_size=8)


@settings(deadline=None)
@given(ITEMS)
def test_any_stream_is_assembled_without_changing_its_chunks(items: list[Any]) -> None:
    reading = read(render(items))
    stream = assemble(reading)
    parsed = [None if data == "[DONE]" else orjson.loads(data) for data in reading.data]
    assert [each if type(each) is dict else None for each in parsed] == list(stream.chunks)
    assert set(stream.anomalies) <= set(KINDS)
    assert all(stream.anomalies.values())
    orjson.dumps([choice.message for choice in stream.choices])


@settings(deadline=None)
@given(ITEMS)
def test_the_fast_path_for_ordinary_chunks_equals_the_slow_path(items: list[Any]) -> None:
    reading = read(render(items))
    assert assemble_slowly(reading.data) == assemble(reading)


@settings(deadline=None)
@given(st.data())
def test_any_split_of_the_bytes_gives_the_same_message(data: st.DataObject) -> None:
    whole = (FOLDER / f"{data.draw(st.sampled_from(list(ANOMALIES)))}.sse").read_bytes()
    decoder = Decoder()
    for start, end in pairwise([0, *sorted(data.draw(st.lists(st.integers(0, len(whole))))), len(whole)]):
        decoder.feed(whole[start:end])
    assert assemble(read(whole)) == assemble(decoder.close())


@settings(deadline=None)
@given(st.data(), st.sampled_from(["plain", "tool-calls-parallel", "crlf", "two-choices", "usage"]))
def test_a_cut_stream_is_never_done(data: st.DataObject, name: str) -> None:
    whole = (FOLDER / f"{name}.sse").read_bytes()
    mark = whole.index(b"[DONE]") + len(b"[DONE]")
    stream = assemble(read(whole[: data.draw(st.integers(0, mark))]))
    assert not stream.done
    assert "done-missing" in stream.anomalies


def recorded(shared: Path) -> Iterator[str]:
    for path in sorted((shared / "recordings").glob("*.jsonl.gz")):
        with gzip.open(path) as lines:
            for line in lines:
                response = orjson.loads(line).get("response")
                if isinstance(response, str) and "data:" in response[:2000]:
                    yield response


def rendered_differently(data: Sequence[str], names: dict[int, str]) -> str:
    """Render the events of a stream with other line ends, comments and ids, which change no message."""
    lines = ["\ufeff: other"]
    for number, each in enumerate(data):
        lines += [f"id: {number}", f"event:{names[number]}"] if number in names else [f"id:{number}", ": ping"]
        lines += [f"data:{' ' * (number % 2 or each.startswith(' '))}{part}" for part in each.split("\n")]
        lines.append("")
    return "\r\n".join([*lines, ""])


@pytest.mark.exhaustive
def test_every_recorded_stream_is_assembled_alike_in_any_notation(shared: Path) -> None:
    count = 0
    for text in recorded(shared):
        reading = read(text)
        stream = assemble(reading)
        again = assemble(read(rendered_differently(reading.data, dict(reading.names))))
        assert again.choices == stream.choices
        assert assemble_slowly(reading.data).choices == stream.choices
        assert set(stream.anomalies) <= set(KINDS)
        cut = assemble(read(text[: text.rfind("data:")]))
        assert not cut.done or "after-done" in stream.anomalies
        count += 1
    assert count > 700
