"""What others put into profiles and behind addresses: it is bounded, stays where it is, and is never quoted."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from conformance import profiles, urls
from conformance.errors import InvalidDocument, Unusable
from conformance.evidence.fetching import Raw
from conformance.evidence.index import PublicFile
from tests.loops import every

PRIVATE = (
    "127.0.0.1",
    "127.1",
    "127.0.0.1.",
    "①②⑦.0.0.1",
    "ⓛocalhost",
    "017700000001",
    "[::ffff:7f00:1]",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "10.0.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",  # noqa: S104 - nothing is bound
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[fe80::1]",
    "[fd00::1]",
    "localhost",
    "LOCALHOST.",
    "a.localhost",
    "printer.local",
    "metadata.google.internal",
)
PUBLIC = ("example.com", "1.1.1.1", "[2606:4700:4700::1111]", "beef.cafe", "local.example.com", "16843009")


def test_a_private_host_is_known_in_every_spelling() -> None:
    assert [] == [each for each in (*PRIVATE, "") if not urls.is_private(each)]
    assert [] == [each for each in PUBLIC if urls.is_private(each)]


PLACE = PublicFile("a/b", "0" * 40, "c.json")


def client(answer: Callable[[httpx.Request], httpx.Response]) -> httpx.Client:
    return httpx.Client(transport=httpx.MockTransport(answer))


@every("host", PRIVATE)
def test_a_redirect_to_a_private_address_is_refused_wherever_redirects_are_followed(host: str) -> None:
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(302, headers=[(b"location", f"http://{host}/latest/meta-data".encode())])

    with pytest.raises(Unusable, match=r"redirects to a private address|Invalid IDNA hostname"):
        Raw(client(answer), "https://public.example").get(PLACE)
    assert ["public.example"] == asked


def test_a_redirect_to_a_public_address_is_followed_a_few_times() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "other.example":
            return httpx.Response(200, content=b"content")
        return httpx.Response(301, headers={"location": "//other.example/x"})

    assert b"content" == Raw(client(answer), "https://public.example").get(PLACE)
    with pytest.raises(Unusable, match="redirects more than 5 times"):
        Raw(client(lambda _: httpx.Response(302, headers={"location": "/x"})), "https://public.example").get(PLACE)


SECRET = "hunter2"
FOREIGN = {
    "secrets.env": f"PASSWORD={SECRET}\n",
    "secrets.yaml": f"password: {SECRET}\n",
    "list.yaml": f"- {SECRET}\n",
    "text.yaml": f"{SECRET}\n",
    "broken.yaml": f"password: [{SECRET}\n  : {{\n",
    "binary.yaml": f"\x00{SECRET}",
    "id_ed25519": f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n",
}


@every(("name", "text"), FOREIGN.items(), FOREIGN.keys())
def test_extends_names_a_profile_and_quotes_no_other_file(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    given = tmp_path / "mine.yaml"
    for base in (f"./{name}", str(tmp_path / name)):
        given.write_text(f"title: Mine\nkind: host\nextends: {base}\nclaims: {{}}\n")
        with pytest.raises(InvalidDocument) as raised:
            profiles.load_profile(given)
        assert ("/extends", str(given)) == (raised.value.pointer, raised.value.file)
        assert "expected a provider or the YAML file of a profile" in str(raised.value)
        assert SECRET not in str(raised.value)


def test_a_profile_that_is_too_large_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    with pytest.raises(InvalidDocument, match="expected at most 2097152 bytes, got more"):
        profiles.load_profile(path)
    with pytest.raises(InvalidDocument, match="expected at most 2097152 bytes, got more"):
        profiles.errors(path)
