"""A secret is removed from texts and bodies in whatever form it comes, and nothing else is changed."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.secrets import REDACTED, Scrubber, Unscrubbable, scrubber
from conformance.secrets.bodies import scrub
from conformance.secrets.urls import shown_url
from conformance.wire import sse
from tests.hostile.planted import CHANNELS, ENCODINGS, KEY, SHAPES, chunk, content, event, leaks, stream
from tests.loops import every

KNOWN = Scrubber((KEY,))
NOTHING = Scrubber()


@every("encoding", ENCODINGS)
def test_a_known_secret_is_removed_in_every_encoding(encoding: str) -> None:
    text = KNOWN.text(f"before {ENCODINGS[encoding](KEY)} after")
    assert [] == leaks(text, KEY)
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert REDACTED in text


def joined(text: str, channel: str) -> str:
    """Return the text of a channel of a stream."""
    events = [json.loads(each.data) for each in sse.read(text).events if each.data != "[DONE]"]
    deltas = [each["choices"][0]["delta"] for each in events]
    if channel == "arguments":
        return "".join([each["tool_calls"][0]["function"]["arguments"] for each in deltas if "tool_calls" in each])
    return "".join([each.get("content" if channel == "content" else "reasoning_content") or "" for each in deltas])


@given(st.sampled_from(sorted(ENCODINGS)), st.sampled_from(sorted(CHANNELS)), st.lists(st.integers(0, 60), max_size=12))
def test_a_secret_that_is_split_between_deltas_is_removed(encoding: str, channel: str, cuts: list[int]) -> None:
    whole = f"before {ENCODINGS[encoding](KEY)} after"
    bounds = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    pieces = [whole[start:end] for start, end in pairwise(bounds)]
    sent = stream(pieces, channel)
    found = scrub(KNOWN, sent.encode()).decode()
    assert [] == leaks(joined(found, channel), KEY)
    assert KNOWN.text(whole) == joined(found, channel)
    assert len(sse.read(sent).events) == len(sse.read(found).events)


@every("host", SHAPES)
def test_what_looks_like_a_key_is_removed(host: str) -> None:
    key = SHAPES[host]
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}."}}).encode()
    assert [] == leaks(scrub(NOTHING, body).decode(), key.removeprefix("Bearer "))
    pieces = [key[:5], key[5:11], key[11:]]
    assert [] == leaks(joined(scrub(NOTHING, stream(["say ", *pieces], "content").encode()).decode(), "content"), key)


@every("host", SHAPES)
def test_what_looks_like_a_key_stays_if_the_request_holds_it(host: str) -> None:
    body = json.dumps({"choices": [{"message": {"content": SHAPES[host]}}]}).encode()
    assert body == scrub(NOTHING, body, asked=f'{{"messages": "{SHAPES[host]}"}}')


HARMLESS = (
    b'{"id": "chatcmpl-9f86d081884c7d659a2feaa0c55ad015", "choices": []}',
    b'{"error": {"message": "Incorrect API key provided: sk-pr**********wxyz."}}',
    b'{"signature": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"}',
    b"a disk-based-approach-to-everything and a task-with-a-long-long-name",
    b"Bearer authentication-is-required-here",
    b'{"a": 1e400, "b": NaN, "c": "\\ud83d", "d": 12345678901234567890123}',
    b"\xff\xfe not UTF-8 \xed\xa0\x80",
    b'data: {"a": 1}\r\n\r\ndata: {"b": \r\ndata: 2}\r\n\r\n: comment\n\ndata: cut',
    b"",
    b"[" * 100_000,
)


@every("body", HARMLESS)
def test_a_body_without_secrets_keeps_its_bytes(body: bytes) -> None:
    assert body == scrub(KNOWN, body)


def test_events_without_a_part_of_the_secret_keep_their_bytes() -> None:
    quiet = 'data: {"choices": [ {"index": 0,  "delta": {"content": "quiet"}}]}\r\n\r\n'
    found = scrub(KNOWN, (quiet + event(chunk(content(KEY[:9]))) + event(chunk(content(KEY[9:]))) + quiet).encode())
    assert found.decode().startswith(quiet)
    assert found.decode().endswith(quiet)
    assert ["quiet", REDACTED, "", "quiet"] == [
        json.loads(each.data)["choices"][0]["delta"]["content"] for each in sse.read(found).events
    ]


@pytest.mark.parametrize(
    "body",
    [
        '{"content": "KEY", "content": "x"}',
        'data: {"content": "KEY", "content": "x"}\n\n',
        "data: KEY\n\ndata: [DONE]\n\n",
        ": KEY\n\n",
        '{"KEY": 1}',
        "<html>KEY</html>",
        'data: {"choices": [{"index": 0, "delta": {"content": "KE',
        "event: KEY\ndata: {}\n\n",
        'data: {"a":\ndata: "KEY"}\n\n',
    ],
)
def test_a_secret_outside_of_valid_json_is_removed(body: str) -> None:
    sent = body.replace("KEY", "pk-0123456789abcdef").replace("KE", "pk-0123456789abcdef")
    assert b"0123456789" not in scrub(Scrubber(("pk-0123456789abcdef",)), sent.encode())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_what_cannot_be_scrubbed_is_refused(encoding: str) -> None:
    with pytest.raises(Unscrubbable, match="nothing of it was written"):
        scrub(KNOWN, f"x{KEY}".encode(encoding))


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_scrubbing_twice_is_scrubbing_once(body: bytes) -> None:
    once = scrub(KNOWN, body + KEY.encode() + body)
    assert once == scrub(KNOWN, once)


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.text(max_size=9) | st.just(KEY),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=9,
)


@given(JSON)
def test_json_stays_json(value: Any) -> None:
    found = json.loads(scrub(KNOWN, json.dumps(value).encode()))
    assert json.loads(json.dumps(value).replace(json.dumps(KEY)[1:-1], REDACTED)) == found


def test_the_environment_and_urls_hold_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "0123456789abcdef")
    monkeypatch.setenv("SSH_KEY", "/home/someone/.ssh/id")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:of-the-proxy@proxy:3128")
    url = "https://someone:p%40ss-word@host/v1?api-version=2024-10-21&api-key=of-the-query"
    found = scrubber([" quoted-key \n", "EMPTY"], [url]).secrets
    of_urls = {"someone", "p%40ss-word", "p@ss-word", "of-the-query", "of-the-proxy"}
    assert {"0123456789abcdef", "quoted-key", *of_urls} <= set(found)
    assert not {"/home/someone/.ssh/id", "EMPTY", "2024-10-21"} & set(found)
    assert "0123456789" not in repr(scrubber())


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:secret@host:8000/v1/models?key=secret#secret", "https://host:8000/v1/models"),
        ("https://hooks.slack.com/services/T000/B000/abcd1234efgh5678ijkl", "https://hooks.slack.com/services/T000/B000/[redacted]"),
        ("https://api.telegram.org/bot123456:AAHdqTcvCH1vGWJxfS/send", "https://api.telegram.org/[redacted]/send"),
        ("https://host/me:secret@other/x", "https://host/[redacted]/x"),
        ("http://me:secret@[::1/x?secret", "http://[::1/x"),
        ("/v1/models/meta-llama-3.1-70b-instruct-turbo", "/v1/models/meta-llama-3.1-70b-instruct-turbo"),
        ("https://h/v1beta/models/gemini-2.5-pro:generateContent", "https://h/v1beta/models/gemini-2.5-pro:generateContent"),
    ],
)  # fmt: skip
def test_a_url_is_printed_without_its_secrets(url: str, shown: str) -> None:
    assert shown == shown_url(url)
