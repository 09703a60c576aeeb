"""Client, server and cassettes: replies arrive unchanged, and secrets are not recorded."""

import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import pytest

from conformance.errors import InvalidDocument, Unusable
from conformance.results import Evidence
from conformance.transport import client as transport
from conformance.transport.cassette import END, START, interaction_text, replaying
from conformance.transport.client import Client, Endpoint, Inconclusive
from conformance.transport.http import MAX_BODY, HttpReply, HttpRequest
from conformance.transport.interaction import RawInteraction
from conformance.transport.server import serving
from conformance.transport.shelf import CassetteFolder, ManifestEntry

SECRET = "sk-secret-0123456789"
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
STREAM = {"content-type": "text/event-stream"}


class Scripted:
    """A server that sends the replies set by the test and records the requests."""

    def __init__(self) -> None:
        self.answers: list[HttpReply] = []
        self.asked: list[HttpRequest] = []

    def answer(self, asked: HttpRequest) -> HttpReply:
        self.asked.append(asked)
        return self.answers.pop(0)


@pytest.fixture
def server() -> Iterator[tuple[Scripted, str]]:
    scripted = Scripted()
    with serving(scripted.answer) as url:
        yield scripted, url


def client(stack: ExitStack, url: str, key: str = "") -> Client:
    return stack.enter_context(Client(Endpoint(url, key, seconds=5)))


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_a_stream_is_returned_unchanged(server: tuple[Scripted, str], stack: ExitStack) -> None:
    scripted, url = server
    scripted.answers = [HttpReply(200, (b": wait\r\n\r\n", b'data: {"a"', b': "\xc3', b'\xa9"}\n\n'), STREAM)]
    exchange = client(stack, url).send(BODY)
    assert (': wait\r\n\r\ndata: {"a": "é"}\n\n', True) == (exchange.response, exchange.streamed)


def test_a_reply_that_is_not_valid_json_stays_text(server: tuple[Scripted, str], stack: ExitStack) -> None:
    scripted, url = server
    scripted.answers = [HttpReply(200, b'{"id": 1, "id": 2}')]
    assert '{"id": 1, "id": 2}' == client(stack, url).send(BODY).response


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (401, Unusable, "refuses the key"),
        (403, Unusable, "refuses the key"),
        (404, Unusable, "does not exist"),
        (500, Inconclusive, "says nothing about the request"),
    ],
)
def test_a_status_that_says_nothing_about_the_request_raises(
    server: tuple[Scripted, str], stack: ExitStack, status: int, error: type[Unusable], words: str
) -> None:
    scripted, url = server
    scripted.answers = [HttpReply(status, b"{}")]
    with pytest.raises(error, match=words):
        client(stack, url).send(BODY)


def test_a_busy_provider_is_asked_again_after_the_time_that_it_names(
    server: tuple[Scripted, str], stack: ExitStack
) -> None:
    scripted, url = server
    busy = HttpReply(429, b"{}", {"retry-after": "0"})
    scripted.answers = [busy, busy, HttpReply(200, b"{}")]
    assert 200 == client(stack, url).send(BODY).status
    assert 3 == len(scripted.asked)


def test_a_refusal_is_an_exchange_and_not_retried(server: tuple[Scripted, str], stack: ExitStack) -> None:
    scripted, url = server
    scripted.answers = [HttpReply(400, b'{"error": {"message": "no"}}')]
    exchange = client(stack, url).send(BODY)
    assert (400, {"error": {"message": "no"}}, 1) == (exchange.status, exchange.response, len(scripted.asked))


def test_a_key_is_sent_and_never_appears_in_errors(server: tuple[Scripted, str], stack: ExitStack) -> None:
    scripted, url = server
    scripted.answers = [HttpReply(401, b"{}")]
    with pytest.raises(Unusable) as caught:
        client(stack, url, SECRET).send(BODY)
    assert f"Bearer {SECRET}" == scripted.asked[0].headers["authorization"]
    assert SECRET not in str(caught.value)


def test_a_cassette_replays_what_it_recorded_and_holds_no_secret(
    server: tuple[Scripted, str], stack: ExitStack, tmp_path: Path
) -> None:
    scripted, url = server
    headers = {"content-type": "application/json", "set-cookie": f"session={SECRET}", "x-org": SECRET}
    scripted.answers = [HttpReply(200, b'{"n": 1}', headers), HttpReply(400, b'{"n": 2}', headers)]
    path = tmp_path / "case.yaml"
    asking = client(stack, url, SECRET)
    kept: list[RawInteraction] = []
    recorded = [asking.send(BODY, kept.append), asking.send(BODY | {"n": 2}, kept.append)]
    path.write_text(START + "".join([interaction_text(each, {}) for each in kept]) + END, "utf-8")
    with replaying(path):
        replayed = [asking.send(BODY), asking.send(BODY | {"n": 2})]
    assert [(each.status, each.response) for each in recorded] == [(each.status, each.response) for each in replayed]
    assert SECRET not in path.read_text()
    assert url.rpartition(":")[2] not in path.read_text()


def test_a_cassette_that_lacks_a_request_says_to_record_again(
    server: tuple[Scripted, str], stack: ExitStack, tmp_path: Path
) -> None:
    scripted, url = server
    scripted.answers = [HttpReply(200, b"{}")]
    path = tmp_path / "case.yaml"
    asking = client(stack, url)
    kept: list[RawInteraction] = []
    asking.send(BODY, kept.append)
    path.write_text(START + "".join([interaction_text(each, {}) for each in kept]) + END, "utf-8")
    with pytest.raises(InvalidDocument, match="record it again"), replaying(path):
        asking.send(BODY | {"other": True})
    with (
        pytest.raises(InvalidDocument, match="there is no such cassette"),
        replaying(tmp_path / "other.yaml"),
    ):
        asking.send(BODY)


def test_a_cassette_answers_only_the_method_that_it_recorded(
    server: tuple[Scripted, str], stack: ExitStack, tmp_path: Path
) -> None:
    scripted, url = server
    scripted.answers = [HttpReply(200, b"{}")]
    path = tmp_path / "case.yaml"
    kept: list[RawInteraction] = []
    asking = stack.enter_context(Client(Endpoint(url, wire="messages")))
    asking.send(BODY, kept.append)
    moved = replace(kept[0], url=kept[0].url.replace("/messages", "/messages:stream"))
    path.write_text(START + interaction_text(moved, {}) + END, "utf-8")
    with pytest.raises(InvalidDocument, match="record it again"), replaying(path):
        asking.send(BODY)


def test_a_manifest_states_what_its_cassettes_are_evidence_of(tmp_path: Path) -> None:
    cassette_folder = CassetteFolder(tmp_path, "deepseek")
    entry = ManifestEntry(Evidence.SIMULATED, "2026-11-21", {"wire-conformance": "0.1.0"}, "pytest --record")
    cassette_folder.add("a/b", entry)
    cassette_folder.add("c", entry)
    assert {"a/b": entry, "c": entry} == cassette_folder.manifest()
    assert tmp_path / "deepseek" / "a--b" / "x.plain.yaml" == cassette_folder.path("a/b", "x.plain")


def test_a_manifest_with_another_kind_of_evidence_is_refused_with_its_line(tmp_path: Path) -> None:
    cassette_folder = CassetteFolder(tmp_path, "deepseek")
    cassette_folder.add("m", ManifestEntry(Evidence.SIMULATED, "2026-11-21", {}, "again"))
    text = cassette_folder.manifest_path.read_text()
    cassette_folder.manifest_path.write_text(text.replace("simulated", "hearsay"))
    with pytest.raises(InvalidDocument, match=r"manifest.yaml:3: at /models/m/evidence: expected"):
        cassette_folder.manifest()


def test_a_body_over_the_limit_is_not_read(server: tuple[Scripted, str]) -> None:
    _, url = server
    connection = HTTPConnection(url.removeprefix("http://"), timeout=5)
    connection.putrequest("POST", "/")
    connection.putheader("content-length", str(MAX_BODY + 1))
    connection.endheaders()
    assert 413 == connection.getresponse().status
    connection.close()


def test_an_address_that_cannot_be_bound_is_named(server: tuple[Scripted, str]) -> None:
    scripted, url = server
    port = int(url.rpartition(":")[2])
    with pytest.raises(Unusable, match=f"cannot bind 127.0.0.1:{port}"), serving(scripted.answer, port=port):
        pass


@pytest.mark.parametrize(
    ("url", "proxies", "secure"),
    [
        ("http://127.0.0.1:8000/v1", {}, False),
        ("HTTP://127.0.0.1:8000/v1", {}, False),
        ("https://api.openai.com/v1", {}, True),
        ("http://127.0.0.1:8000/v1", {"http": "https://proxy.test"}, True),
    ],
)
def test_certificates_are_read_where_tls_may_be_spoken(
    url: str, proxies: dict[str, str], secure: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def certificates(*, secure: bool) -> ssl.SSLContext:
        asked.append(secure)
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    monkeypatch.setattr(transport, "getproxies", lambda: proxies)
    monkeypatch.setattr(transport, "_certificates", certificates)
    with Client(Endpoint(url)) as client:
        assert client._http
    assert [secure] == asked
