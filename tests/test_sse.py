"""How the SSE reader reads texts, bytes and split bytes."""

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.wire.sse import BOUNDS, Decoder, Event, Reading, StreamBounds, read, render
from tests.loops import every

STREAMS = sorted((Path(__file__).parents[1] / "fixtures" / "streams").glob("*.sse"))


def feed(blocks: Iterable[bytes], bounds: StreamBounds = BOUNDS) -> tuple[list[Event], Reading]:
    decoder = Decoder(bounds)
    events = [event for block in blocks for event in decoder.feed(block)]
    return events, decoder.close()


@every(
    ("expected", "text"),
    [
        ([], ""),
        ([], "\n\n\n"),
        ([], "data: never dispatched\n"),
        ([], "event: empty\n\n"),
        ([Event("")], "data\n\n"),
        ([Event("")], "data:\n\n"),
        ([Event("a")], "data:a\n\n"),
        ([Event("a")], "data: a\n\n"),
        ([Event(" a ")], "data:  a \n\n"),
        ([Event("a:b: c")], "data: a:b: c\n\n"),
        ([Event("a")], "data: a\r\n\r\n"),
        ([Event("a")], "data: a\r\r"),
        ([Event("a")], "data: a\n\r\n"),
        ([Event("a")], "data: a\r\n\n"),
        ([Event("a\nb\n")], "data: a\ndata: b\ndata\n\n"),
        ([Event("a"), Event("b")], "data: a\n\n\n\ndata: b\n\n"),
        ([Event("a"), Event("\n")], "data: a\n\ndata\ndata\n\ndata:"),
        ([Event("a")], "\ufeffdata: a\n\n"),
        ([], "\ufeff\ufeffdata: a\n\n"),
        ([Event("a\u2028b\x85c")], "data: a\u2028b\x85c\n\n"),
        ([Event("a", "error")], "event: error\ndata: a\n\n"),
        ([Event("a", "x"), Event("b", "y")], "event: x\ndata: a\n\nevent: y\ndata: b\n\n"),
        ([Event("a", "x"), Event("b")], "event: x\ndata: a\n\ndata: b\n\n"),
        ([Event("a", "x"), Event("b")], "event: x\r\ndata: a\r\n\r\nevent: message\r\ndata: b\r\n\r\n"),
        ([Event("a", "x"), Event("b")], "event: x\ndata: a\n\nevent: \ndata: b\n\n"),
        ([Event("a", "x"), Event("c", "z")], "event: x\ndata: a\n\nevent: y\n\nevent: z\ndata: c\n\n"),
        ([Event("a", "x"), Event("b\nc", "y")], "event: x\ndata: a\n\nevent: y\ndata: b\ndata: c\n\n"),
        ([Event("a", "x"), Event("b", "y")], "event: x\ndata: a\n\n: ping\n\nevent: y\ndata: b\n\n"),
        ([Event("a"), Event("b")], "event: x\nevent\ndata: a\n\ndata: b\n\n"),
        ([Event("a", id="1"), Event("b", id="1"), Event("c")], "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n"),
        ([Event("a", id="1")], "id: 1\n\nid: 2\0\ndata: a\n\n"),
        ([], "Data: a\n\n data: b\n\n"),
    ],
)
def test_events_follow_the_standard(expected: list[Event], text: str) -> None:
    assert tuple(expected) == read(text).events
    assert tuple(expected) == read(text.encode()).events


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("", ": only\n: comments"),
        ("", "data: a\n\n: ping\r\n"),
        ("data: a", "data: a"),
        ("data: b\n", "data: a\n\ndata: b\n"),
        ("data: b\r\n", "data: a\r\n\r\n\r\ndata: b\r\n"),
        (": ping\ndata: b", "data: a\n\n: ping\ndata: b"),
    ],
)
def test_the_tail_is_the_raw_text_after_the_last_blank_line(expected: str, text: str) -> None:
    assert expected == read(text).tail


def test_comments_retry_and_ignored_lines_are_recorded() -> None:
    reading = read(": one\nretry: 3000\n\nretry: x\nretry: -1\n<html>\ndata: a\n:\n\n: three")
    expected = (3, 3000, ("<html>",))
    assert expected == (reading.comments, reading.retry, reading.ignored)


def test_an_id_applies_to_events_fed_later() -> None:
    decoder = Decoder()
    assert [Event("a", id="7")] == decoder.feed(b"id: 7\ndata: a\n\n")
    assert [Event("b", id="7")] == decoder.feed(b"data: b\n\n")


def test_an_event_is_dispatched_as_soon_as_its_blank_line_arrives() -> None:
    decoder = Decoder()
    expected = [[Event("a")], [], [], [Event("b")]]
    assert expected == [decoder.feed(block) for block in (b"data: a\r\r", b"\ndata: b\r", b"\n", b"\r")]


@pytest.mark.parametrize(
    ("expected", "data"),
    [
        (("é\ufffd", 0), "é\ufffd".encode()),
        (("\ufffd", 1), b"\xff"),
        (("\ufffd\ufffd", 2), b"\xff\xef\xbf"),
        (("\ufffd\ufffd", 1), b"\xe2\xef\xbf\xbd"),
        (("\ufffdA", 1), b"\xf0\x9f\x98A"),
    ],
)
def test_invalid_utf8_is_replaced_and_counted(expected: tuple[str, int], data: bytes) -> None:
    reading = read(b"data: " + data + b"\n\n")
    assert expected == (reading.data[0], reading.invalid_utf8)


def test_a_truncated_character_at_the_end_is_not_invalid_utf8() -> None:
    reading = read("data: é".encode()[:-1])
    expected = ("data: ", 0)
    assert expected == (reading.tail, reading.invalid_utf8)


BOUNDED = [
    ("", ("a", "b"), "data: a\n\ndata: b\n\n", StreamBounds(length=7, events=2)),
    ("more than 2 events", ("a", "b"), "data: a\n\ndata: b\n\ndata: c\n\n: never counted\n\n", StreamBounds(events=2)),
    ("an event of more than 7 characters", ("a",), "data: a\n\ndata: bc\n\ndata: d\n\n", StreamBounds(length=7)),
    ("an event of more than 7 characters", ("a",), "data: a\n\ndata: bc", StreamBounds(length=7)),
    ("an event of more than 7 characters", ("a",), "data: a\n\n" + "x" * 100, StreamBounds(length=7)),
]


@pytest.mark.parametrize(("bound", "data", "text", "bounds"), BOUNDED)
def test_an_exceeded_bound_is_named_and_nothing_beyond_it_is_read(
    bound: str, data: tuple[str, ...], text: str, bounds: StreamBounds
) -> None:
    reading = read(text, bounds)
    assert (bound, data, "", 0) == (reading.bound, reading.data, reading.tail, reading.comments)
    assert reading == feed((bytes([byte]) for byte in text.encode()), bounds)[1]


def test_rendered_items_are_read_back() -> None:
    chunk = '{"id":"é","n":[1,null]}'
    text = render([{"id": "é", "n": [1, None]}, ": ping\n\n", "data: [DONE]\n\n"])
    assert f"data: {chunk}\n\n: ping\n\ndata: [DONE]\n\n" == text
    assert (chunk, "[DONE]") == read(text).data


TOKENS = st.sampled_from(
    ["data: ", "data", "data:", '{"a":"é😀"}', "id: 1", "id: \0", "event: error", "retry: 10", ": ping", ":", "x", " ",
     "\n", "\n", "\n", "\n\n", "\r", "\r\n", "\r\n\r\n", "\ufeff", "\n\ndata: ", "[DONE]", "\u2028", "\x0b"]
)  # fmt: skip
TEXTS = st.lists(TOKENS, max_size=24).map("".join)
SIMPLE = st.lists(st.text('ab{"\\é\r\n:', max_size=4).map(lambda data: f"data: {data}\n\n"), max_size=6).map("".join)


def read_by_line(text: str) -> Reading:
    """Read a stream line by line, literally as in the standard; all line ends in the result are LF."""
    data: list[str] = []
    ids: dict[int, str] = {}
    names: dict[int, str] = {}
    ignored: list[str] = []
    comments, retry = 0, None
    value, name, known_id, last_id = "", "", "", ""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    # The text after the last line end is not a line.
    blank = max((number for number, line in enumerate(lines[:-1]) if not line), default=-1)
    for line in lines[: blank + 1]:
        field, _, rest = line.partition(":")
        rest = rest[1:] if rest.startswith(" ") else rest
        if not line:
            if value:
                names.update({len(data): name} if name not in ("", "message") else {})
                ids.update({len(data): last_id} if last_id != known_id else {})
                known_id = last_id
                data.append(value[:-1])
            value, name = "", ""
        elif line.startswith(":"):
            comments += 1
        elif field == "data":
            value += rest + "\n"
        elif field == "event":
            name = rest
        elif field == "id":
            last_id = last_id if "\0" in rest else rest
        elif field == "retry":
            retry = int(rest) if re.fullmatch("[0-9]+", rest) else retry
        else:
            ignored.append(line)
    tail = [line for line in lines[blank + 1 :] if line]
    comments += sum(line.startswith(":") for line in tail)
    rest = "" if all(line.startswith(":") for line in tail) else "\n".join(lines[blank + 1 :])
    return Reading(tuple(data), names, ids, comments, rest, tuple(ignored), retry, 0, "")


@settings(deadline=None)
@given(TEXTS | SIMPLE)
def test_every_text_is_read_as_the_line_by_line_oracle_reads_it(text: str) -> None:
    reading, expected = read(text), read_by_line(text)
    assert expected.events == reading.events
    tail = reading.tail.replace("\r\n", "\n").replace("\r", "\n")
    assert expected._replace(ids={}, tail=tail) == reading._replace(ids={}, tail=tail)
    assert expected.tail == tail


def splits(data: bytes) -> st.SearchStrategy[list[bytes]]:
    def cut(places: list[int]) -> list[bytes]:
        edges = [0, *sorted(places), len(data)]
        return [data[start:end] for start, end in pairwise(edges)]

    return st.lists(st.integers(0, len(data)), max_size=8).map(cut)


@settings(deadline=None)
@given(st.data(), TEXTS | SIMPLE | st.binary(max_size=40).map(lambda data: data.decode("latin-1")))
def test_any_split_of_the_bytes_gives_the_same_reading(data: st.DataObject, text: str) -> None:
    whole = text.encode()
    events, reading = feed(data.draw(splits(whole)))
    assert read(text) == reading
    assert list(reading.events) == events


@settings(deadline=None)
@given(st.data(), st.lists(st.sampled_from([b"data: ", b"\n\n", b"\r\n", b"\xc3", b"\xa9", b"\xff", b"\xf0\x9f\x98"])))
def test_any_split_of_invalid_bytes_gives_the_same_reading(data: st.DataObject, tokens: list[bytes]) -> None:
    whole = b"".join(tokens)
    assert read(whole) == feed(data.draw(splits(whole)))[1]


@every("path", STREAMS, ids=lambda path: path.stem)
def test_a_stream_fed_byte_by_byte_equals_one_read_whole(path: Path) -> None:
    whole = path.read_bytes()
    events, reading = feed(bytes([byte]) for byte in whole)
    assert read(whole) == reading
    assert list(read(whole).events) == events
