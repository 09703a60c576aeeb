"""The commands about gateways: a run at a URL, its results, baseline, table and bug report; headers of one's own."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.engines.process import free_port
from conformance.errors import UnknownName, Unusable
from conformance.gateways import definition
from conformance.gateways.loss import find
from conformance.reporting.renderers import gateways
from conformance.resources import checkout_folder
from conformance.results.files import read
from conformance.suite.options import headers_of
from conformance.transport.client import Client, Endpoint
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from tests.gateways import MadeGateway, made_gateway
from tests.planted_losses import PLANTED

LOSES = next(each for each in PLANTED if each.case == "single/tools" and each.fact == "tools-kept").does


def run(results: Path, *more: str, **does: Any) -> int:
    """Run the command against a gateway of our own, whose provider is at a port that it knows beforehand."""
    port = free_port()
    gateway = MadeGateway("chat", "chat", f"http://127.0.0.1:{port}/v1", translates=bool(does), **does)
    with made_gateway(gateway) as url:
        given = ["--base-url", url, "--front", "chat", "--back", "deepseek", "--upstream-port", str(port)]
        return main(["gateway", "run", *given, "--scenario", "single/tools", "--results", str(results), *more])


@pytest.mark.slow
def test_a_transparent_gateway_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 0
    assert capsys.readouterr().out.endswith("2 cases played, 15 facts: 15 kept, 0 lost, 0 changed or said\n")


def test_a_loss_ends_with_1_and_is_shown_with_both_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, **LOSES) == 1
    out = capsys.readouterr().out
    assert "MUST gateway/tools-kept: Every tool of a request arrives" in out
    assert "expected the tool get_time, got none of that name" in out
    assert "before gateway: /0/front/request/tools/1: " in out
    assert "after it:       /0/back/request/tools\n" in out


@pytest.mark.slow
def test_results_hold_the_four_bodies_and_make_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, **LOSES)
    capsys.readouterr()
    (path,) = tmp_path.glob("*.json")
    loss = find([read(path, [])], "gateway", "gateway/tools-kept")
    assert list(loss.bodies) == ["front/request", "front/response", "back/request", "back/response"]
    sent, passed = loss.bodies["front/request"]["tools"], loss.bodies["back/request"]["tools"]
    assert ([each["function"]["name"] for each in sent], len(passed)) == (["get_weather", "get_time"], 1)
    assert main(["gateway", "issue", "gateway", "--fact", "gateway/tools-kept", "--results", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "## What the gateway sends to the provider" in out
    assert "curl -sN http://127.0.0.1:4000/v1/chat/completions" in out
    assert len(out.partition("```python\n")[2].partition("```")[0].splitlines()) <= 30


@pytest.mark.slow
def test_a_baseline_covers_what_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    baseline = str(tmp_path / "gateway.yaml")
    assert run(tmp_path, "--write-baseline", baseline, **LOSES) == 0
    assert run(tmp_path, "--baseline", baseline, "--allow-wide-baseline", **LOSES) == 0
    gate = ["gate", *map(str, tmp_path.glob("*.json")), "--expected", baseline, "--partial", "--allow-wide-baseline"]
    assert main(gate) == 0
    assert run(tmp_path, "--baseline", baseline, "--allow-wide-baseline") == 1
    assert "stale" in capsys.readouterr().out.lower()
    assert main(gate) == 1


@pytest.mark.slow
def test_the_table_says_what_becomes_of_each_fact(tmp_path: Path) -> None:
    run(tmp_path, **LOSES)
    (path,) = tmp_path.glob("*.json")
    page = gateways.render([read(path, [])], definition.unable())
    assert "| `tools-kept` | **lost** |" in page
    assert "| `calls-kept` | kept |" in page
    assert "| copilot-api@0.7.0 |" in page


def test_facts_about_gateways_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "gateway/tools-kept", "gateway/back-request-valid"]) == 0
    out = capsys.readouterr().out
    assert "checks  the requests that pass a gateway, for each tool" in out
    assert "  A model cannot call a tool that it was not offered" in out
    assert "What the gateway sends is what the provider accepts." in out


@pytest.mark.slow
def test_the_published_table_is_that_of_the_results(tmp_path: Path) -> None:
    published = checkout_folder("reports", "the table")
    copied = tmp_path / "results" / "gateways"
    shutil.copytree(published / "results" / "gateways", copied)
    assert main(["gateway", "matrix", "--page", "--results", str(copied)]) == 0
    assert (copied / "gateways.md").read_text() == (published / "gateways.md").read_text()


@pytest.mark.parametrize("name", definition.names())
def test_a_definition_can_be_read_and_pins_its_version(name: str) -> None:
    found = definition.load(name)
    assert found.version
    assert list(found.ends())
    for back in found.backs:
        assert definition.profile_of(back).model


@pytest.mark.slow
def test_a_gateway_that_refuses_everything_does_not_pass(tmp_path: Path) -> None:
    with serving(lambda _: HttpReply(404, b"{}", {"content-type": "application/json"})) as url:
        given = ["--base-url", url, "--front", "chat", "--back", "deepseek", "--upstream-port", str(free_port())]
        assert main(["gateway", "run", *given, "--scenario", "single/tools", "--results", str(tmp_path)]) == 1


def test_headers_are_sent_and_not_shown() -> None:
    seen: list[str] = []

    def answer(request: HttpRequest) -> HttpReply:
        seen.append(request.headers.get("x-portkey-provider", ""))
        return HttpReply(200, b'{"choices": []}', {"content-type": "application/json"})

    headers = headers_of(["x-portkey-provider: openai"])
    assert headers == (("x-portkey-provider", "openai"),)
    with serving(answer) as url:
        endpoint = Endpoint(url, headers=headers)
        assert "openai" not in repr(endpoint)
        with Client(endpoint) as client:
            client.send({"model": "m", "messages": []})
    assert seen == ["openai"]


def test_headers_of_a_recording_are_sent_and_written_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    def answer(request: HttpRequest) -> HttpReply:
        seen.append(request.headers.get("x-route", ""))
        # A gateway may repeat what it was sent.
        body = b'{"error": {"message": "no route for secret-route-77", "type": "invalid_request_error"}}'
        return HttpReply(400, body, {"content-type": "application/json", "x-route": "secret-route-77"})

    with serving(answer) as url:
        profile = tmp_path / "mine.yaml"
        profile.write_text(f"title: Mine\nkind: gateway\nbase_url: {url}/v1\nmodel: m\nclaims: {{}}\n")
        given = ["--provider", str(profile), "--cassettes", str(tmp_path / "cassettes")]
        assert main(["provider", "record", *given, "--header", "x-route: secret-route-77"]) == 2
        assert "add --live" in capsys.readouterr().err
        main(["provider", "record", *given, "--live", "--max-requests", "4", "--header", "x-route: secret-route-77"])
    printed = capsys.readouterr()
    assert set(seen) == {"secret-route-77"}
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert "secret-route" not in "".join([*written, printed.out, printed.err])
    assert len(written) > 1


@pytest.mark.parametrize("text", ["no colon", ": value", "name: välue", "name: a\nb: c"])
def test_a_header_that_is_none_is_refused_without_its_value(text: str) -> None:
    with pytest.raises(Unusable, match="expected NAME:VALUE"):
        headers_of([text])


def test_a_provider_that_a_front_reaches_on_another_wire_is_taken_there() -> None:
    litellm = definition.load("litellm")
    assert litellm.back_behind("messages", "deepseek") == "deepseek.messages"
    assert litellm.back_behind("chat", "deepseek") == "deepseek"
    with pytest.raises(UnknownName, match="unknown back of litellm behind its front messages 'groq'"):
        litellm.back_behind("messages", "groq")
