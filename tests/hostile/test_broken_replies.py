"""Broken replies: each is a finding or costs one probe, in words that are true, and never ends the run."""

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance import profiles, scenarios
from conformance.errors import Unusable
from conformance.formats import read_path
from conformance.judge import check
from conformance.results import Status
from conformance.suite.probes import run_probe
from conformance.transport import unreachable
from conformance.transport.cassette import END, START, interaction_text, replaying
from conformance.transport.client import Client, Endpoint, Inconclusive
from conformance.transport.interaction import RawInteraction
from conformance.wire.exchange import CUT, Exchange
from tests.hostile.peer import KEEP, Answer, Asked, completion, conforming, ended, serving, start
from tests.loops import every

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
EVENT = b'data: {"a": 1}\n\n'
RAW_DEFLATE = zlib.compressobj(wbits=-zlib.MAX_WBITS)
PACKED = gzip.compress(completion())


def raw(data: bytes) -> Answer:
    return lambda asked: asked.send(data)


def ask(answer: Answer, body: object = BODY) -> Exchange:
    with serving(answer) as peer, Client(Endpoint(peer.url, seconds=10)) as client:
        return client.send(body)  # type: ignore[arg-type]


def cut_chunks(asked: Asked) -> None:
    asked.start_stream()
    asked.chunk(EVENT)


def broken_chunks(asked: Asked) -> None:
    asked.start_stream()
    asked.send(b"zz\r\nabc")


def reset_in_the_middle(asked: Asked) -> None:
    asked.start_stream()
    asked.chunk(EVENT)
    asked.wait(0.2)
    asked.reset()


CUT_BODIES: dict[str, tuple[Answer, str]] = {
    "shorter than its length": (lambda asked: asked.reply(completion(), length=5000), "after 258 of 5,000 bytes"),
    "without a last chunk": (cut_chunks, "ended early, after 16 bytes"),
    "with a broken chunk": (broken_chunks, "illegal chunk header"),
    "reset in the middle": (reset_in_the_middle, "ended early, after 16 bytes"),
    "not the gzip it claims": (lambda asked: asked.reply(completion(), "Content-Encoding: gzip"), "cannot be unpacked"),
    "half of its gzip": (lambda asked: asked.reply(PACKED[:-30], "Content-Encoding: gzip"), "gzip data that ended"),
    "packed as nobody asked": (lambda asked: asked.reply(b"x", "Content-Encoding: br"), "encoded as 'br'"),
}


@pytest.mark.parametrize("name", CUT_BODIES)
def test_a_cut_body_is_noted_on_the_exchange_and_judged_as_cut(name: str) -> None:
    answer, words = CUT_BODIES[name]
    exchange = ask(answer)
    assert words in exchange.headers[CUT]
    (outcome,) = [each for each in check((exchange,), None) if each.rule == "http/body-complete"]
    assert Status.FAILED is outcome.status
    assert words in outcome.findings[0].message


@pytest.mark.parametrize("name", CUT_BODIES)
def test_a_cut_body_is_as_cut_in_its_recording(name: str, tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    with serving(CUT_BODIES[name][0]) as peer, Client(Endpoint(peer.url, seconds=10)) as client:
        kept: list[RawInteraction] = []
        seen = client.send(BODY, kept.append)
        path.write_text(START + "".join([interaction_text(each, {}) for each in kept]) + END, "utf-8")
        with replaying(path):
            replayed = client.send(BODY)
    ((read,),) = [each.conversation for each in read_path(path)]
    assert (seen.response, seen.headers[CUT]) == (replayed.response, replayed.headers[CUT])
    assert seen.headers[CUT] == read.headers[CUT]


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", PACKED),
        ("gzip", PACKED + gzip.compress(b"  ")),
        ("GZIP", PACKED + bytes(10)),
        ("deflate", zlib.compress(completion())),
        ("deflate", RAW_DEFLATE.compress(completion()) + RAW_DEFLATE.flush()),
        ("identity", completion()),
    ],
)
def test_a_whole_packed_body_is_unpacked(encoding: str, packed: bytes) -> None:
    def one_byte_at_a_time(asked: Asked) -> None:
        asked.start_stream(f"Content-Encoding: {encoding}")
        for number in range(len(packed)):
            asked.chunk(packed[number : number + 1])
        asked.send(b"0\r\n\r\n")

    for answer in (lambda asked: asked.reply(packed, f"Content-Encoding: {encoding}"), one_byte_at_a_time):
        exchange = ask(answer)
        assert CUT not in exchange.headers
        text = exchange.response if isinstance(exchange.response, str) else "hello"
        assert "hello" in text


def switching(asked: Asked) -> None:
    asked.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n")


BROKEN_HTTP: dict[str, tuple[Answer, str]] = {
    "a header without a colon": (raw(b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n{}"), "illegal header line"),
    "a header with a null": (raw(b"HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n{}"), "illegal header line"),
    "a length that is not a number": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}"), "bad Content-Length"),
    "a length below zero": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"), "bad Content-Length"),
    "a length of 5000 digits": (
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n{}"),
        "bad Content-Length",
    ),
    "two lengths": (
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"),
        "conflicting Content-Length",
    ),
    "no status": (raw(b"HTTP/1.1 000 Odd\r\n\r\n"), "gave no HTTP reply"),
    "another protocol": (raw(b"SSH-2.0-OpenSSH_9.9\r\n\r\n"), "illegal status line"),
    "switching protocols": (switching, "HTTP 101"),
    "nothing": (lambda _: None, "without sending a response"),
    "a reset": (lambda asked: asked.reset(), "gave no HTTP reply"),
    "headers without an end": (
        raw(b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 200_000),
        "gave no HTTP reply",
    ),
}


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait only briefly for an answer in TLS, which these peers do not give."""
    monkeypatch.setattr(unreachable, "_SECONDS", 0.1)


@every("name", BROKEN_HTTP)
def test_broken_http_is_inconclusive_with_its_cause(name: str) -> None:
    answer, words = BROKEN_HTTP[name]
    with pytest.raises(Inconclusive, match=words):
        ask(answer)


def test_a_connection_that_breaks_once_is_asked_again() -> None:
    def broken_once(asked: Asked) -> None:
        if asked.number > 1:
            asked.reply(completion())

    assert 200 == ask(broken_once).status


@pytest.mark.parametrize("status", ["999 Odd", "500 Internal", "429 Busy"])
def test_a_status_that_says_nothing_is_inconclusive(status: str) -> None:
    with pytest.raises(Inconclusive, match=f"HTTP {status[:3]}, which says nothing about the request"):
        # A connection that is closed without a word may break the next try.
        ask(lambda asked: asked.reply(b"{}", "Retry-After: 0", "Connection: close", status=status))


def test_headers_that_are_no_text_are_kept_as_they_can_be_read() -> None:
    exchange = ask(lambda asked: asked.reply(completion(), "X-Odd: \xff\xfe"))
    assert (200, "ÿþ") == (exchange.status, exchange.headers["x-odd"])


def test_half_a_surrogate_pair_goes_back_as_it_came() -> None:
    sent: list[bytes] = []

    def note(asked: Asked) -> None:
        sent.append(asked.body)
        asked.reply(completion())

    ask(note, {"model": "m", "messages": [{"role": "user", "content": "\ud800"}]})
    assert rb'"content":"\ud800"' in sent[0]


Break = Callable[[Asked], None]
LATE: dict[str, tuple[Break, str]] = {
    "refuses the key": (lambda asked: asked.reply(b"{}", status="401 No"), "refuses the key"),
    "does not exist": (lambda asked: asked.reply(b"{}", status="404 No"), "does not exist"),
    "is a page": (lambda asked: asked.reply(b"<!doctype html>"), "HTML page"),
    "redirects": (lambda asked: asked.reply(b"", "Location: /x", status="302 Found"), "redirects to /x"),
}


@pytest.mark.parametrize("name", LATE)
def test_what_stops_a_run_at_its_start_costs_one_request_after_good_answers(name: str) -> None:
    answer, words = LATE[name]

    def later(asked: Asked) -> None:
        if asked.number in (1, 2, 4):
            asked.reply(completion())
        else:
            answer(asked)

    with pytest.raises(Unusable, match=words) as stopped:
        ask(answer)
    assert not isinstance(stopped.value, Inconclusive)
    with serving(later) as peer, Client(Endpoint(peer.url, seconds=10)) as client:
        assert [200, 200] == [client.send(BODY).status, client.send(BODY).status]
        with pytest.raises(Inconclusive, match=f"{words}.*it had given 2 good answers before"):
            client.send(BODY)
        assert 200 == client.send(BODY).status


def test_a_dead_port_is_unusable_at_once_and_inconclusive_after_good_answers() -> None:
    with serving(lambda asked: asked.reply(completion())) as peer:
        client = Client(Endpoint(peer.url, seconds=10))
        assert 200 == client.send(BODY).status
    with client:
        with pytest.raises(Inconclusive, match=r"cannot be connected to any more.*it had answered before"):
            client.send(BODY)
        with Client(Endpoint(peer.url)) as other, pytest.raises(Unusable, match="cannot connect") as stopped:
            other.send(BODY)
    assert not isinstance(stopped.value, Inconclusive)


def test_several_replies_on_one_connection_stay_apart() -> None:
    def keep(asked: Asked) -> str:
        asked.reply(b'{"number": %d}' % asked.number)
        return KEEP

    with serving(keep) as peer, Client(Endpoint(peer.url, seconds=10)) as client:
        assert [{"number": 1}, {"number": 2}] == [client.send(BODY).response, client.send(BODY).response]
        assert 1 == len(peer.connections)


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines", "null\0"])
def test_a_key_that_no_header_can_hold_is_an_error(key: str) -> None:
    with pytest.raises(Unusable, match="the key holds characters"):
        Client(Endpoint("http://127.0.0.1:9/v1", key))


def test_a_probe_whose_reply_is_cut_is_inconclusive() -> None:
    exchange = ask(CUT_BODIES["shorter than its length"][0])
    scenario = scenarios.load("plain-answer")
    probe = next(each for each in scenario.probes if each.name == "calls-empty")
    before = Exchange(request={"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "Hi"}]})
    result = run_probe(
        probe, (before,), [{"role": "user", "content": "Hi"}], profiles.load("openai"), lambda _: exchange
    )
    assert result is not None
    assert result.is_inconclusive
    assert "the reply has no whole body, but one that ended after 258 of 5,000 bytes" in result.observed


@pytest.mark.slow
def test_a_run_against_a_peer_that_breaks_every_second_reply_ends_with_findings(tmp_path: Path) -> None:
    conform = conforming("openai")
    broken = [answer for answer, _ in (*CUT_BODIES.values(), *BROKEN_HTTP.values(), *LATE.values())]

    def every_second(asked: Asked) -> str | None:
        is_good = asked.number < 6 or asked.number % 2
        return conform(asked) if is_good else broken[asked.number // 2 % len(broken)](asked)

    with serving(every_second) as peer:
        code, text = ended(start(peer, tmp_path))
    assert 1 == code
    assert "the wire is broken" in text
    assert "cannot connect" not in text
    assert 50 < peer.requests
