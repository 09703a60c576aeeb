"""`conformance provider watch`: what an endpoint does differently than recorded, or than its profile claims."""

import argparse
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import load_profile
from conformance.cli import main
from conformance.cli.providers.provider import watch
from conformance.discovery.interview import Interview
from conformance.discovery.recording import write_exchanges
from conformance.discovery.watching import Drift, drifts, observe
from conformance.documents import read_yaml
from conformance.profiles import Profile
from conformance.simulator import Simulator, simulated

ROOT = Path(__file__).parents[1]
DAY = "2026-11-22"
MODEL = "gpt-5.4-mini"
CHANGES: Mapping[str, Any] = {
    "stream.done": False,
    "results.missing-at-end": "accepted",
    "results.missing": "accepted",
    "ids.format": "toolu_[0-9]{12}",
}

PROFILE = "title: Mine\nkind: host\nextends: openai\nclaims: {}\n"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile of one's own, with the exchanges of an endpoint that is as it claims."""
    path = tmp_path_factory.mktemp("mine") / "mine.yaml"
    path.write_text(PROFILE, "utf-8")
    session = Interview(Simulator(load_profile(path)).send, 600)
    observe(session, load_profile(path), MODEL)
    write_exchanges(path.with_suffix(".exchanges.jsonl"), session.exchanges, DAY)
    return path


def changed(path: Path) -> Profile:
    return load_profile(path).with_claims(CHANGES)


def watched(path: Path, profile: Profile, *options: str) -> int:
    with simulated(profile) as url:
        return main(["provider", "watch", "--provider", str(path), "--base-url", f"{url}/v1", *options])


@pytest.mark.slow
def test_an_endpoint_that_is_as_recorded_has_not_changed(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == watched(recorded, load_profile(recorded))
    out = capsys.readouterr().out
    assert "claims observed, compared with exchanges recorded on 2026-11-22" in out
    assert out.endswith("0 changes\n")


@pytest.mark.slow
def test_a_change_is_shown_with_the_day_and_both_exchanges(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == watched(recorded, changed(recorded), "--results", str(tmp_path))
    out = capsys.readouterr().out
    assert "stream.done:\n  before   true (recorded 2026-11-22)\n  claimed  true" in out
    assert "  now      false\n  before: the request ended with" in out
    drift = json.loads((tmp_path / "mine.drift.json").read_text("utf-8"))
    assert {"ids.format", "results.missing-at-end", "stream.done"} <= {each["claim"] for each in drift["changes"]}
    assert all(each["before"]["request"] and each["after"]["request"] for each in drift["changes"])
    assert (DAY, "mine") == (drift["recorded"], drift["provider"])


@pytest.fixture(scope="module")
def against_claims(recorded: Path) -> Mapping[str, Drift]:
    """What differs from the claims of the profile alone, where nothing was recorded."""
    profile = load_profile(recorded)
    now = observe(Interview(Simulator(changed(recorded)).send, 600), profile, MODEL)
    return {each.claim: each for each in drifts(profile, MODEL, None, now)}


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["stream.done", "ids.format", "results.missing"])
def test_without_a_recording_the_claims_are_what_is_compared_with(
    claim: str, against_claims: Mapping[str, Drift]
) -> None:
    drift = against_claims[claim]
    assert (None, None) == (drift.recorded, drift.before)
    assert drift.claimed is not None
    assert drift.after is not None


CALLS = [
    (("--provider", "openai"), "add --live"),
    (("--provider", "opnai", "--live"), "did you mean openai"),
    (("--provider", "openai", "--base-url", "http://127.0.0.1:9/v1"), "cannot connect"),
    (("--provider", "openai", "--base-url", "http://127.0.0.1:9/v1", "--recorded", "/no/such/file"), "cannot be read"),
    (("--provider", "openai", "--live"), "OPENAI_API_KEY"),
]


@pytest.mark.parametrize(("options", "message"), CALLS)
def test_a_call_that_cannot_work_is_refused(
    options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert (2, True) == (main(["provider", "watch", *options]), message in capsys.readouterr().err)


def test_recordings_that_cannot_be_read_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"request": ', "utf-8")
    call = ["provider", "watch", "--provider", "openai", "--base-url", "http://127.0.0.1:9/v1", "--recorded", str(path)]
    assert (2, True) == (main(call), str(path) in capsys.readouterr().err)


def test_the_commands_of_the_workflow_template_exist() -> None:
    steps = read_yaml(ROOT / "docs" / "examples" / "watch.yml").value["jobs"]["watch"]["steps"]
    (command,) = [each["run"] for each in steps if each.get("run", "").startswith("conformance ")]
    parser = argparse.ArgumentParser(exit_on_error=False)
    watch.configure(parser)
    assert parser.parse_args(shlex.split(command)[3:]).live


def traffic_of(profile: Profile, path: Path) -> Path:
    """Write what the simulator of a profile answers to a session, without the header that names it."""
    lines, messages = [], [{"role": "user", "content": "What is the weather?"}]
    for stream in (False, True):
        body = {"model": MODEL, "messages": messages, "stream": stream, "tools": [TOOL]}
        exchange = Simulator(profile).send(body)
        record = {"request": body, "response": exchange.response, "status": 200, "date": DAY}
        lines.append(json.dumps(record | {"headers": {"content-type": exchange.headers["content-type"]}}))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}


def test_recorded_traffic_is_compared_with_the_claims_and_with_earlier_traffic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    openai = load_profile("openai")
    before = traffic_of(openai, tmp_path / "before.jsonl")
    now = traffic_of(openai.with_claims({"ids.format": "toolu_[0-9]{12}"}), tmp_path / "now.jsonl")
    words = ["provider", "watch", "--provider", "openai", "--model", MODEL, "--seen"]
    assert 0 == main([*words, str(before)])
    assert "compared with the claims of its profile" in capsys.readouterr().out
    assert 1 == main([*words, str(now), "--recorded", str(before), "--results", str(tmp_path / "drift")])
    out = capsys.readouterr().out
    assert f"compared with exchanges recorded on {DAY}" in out
    assert "ids.format:\n  before" in out
    assert out.endswith("1 change\n")
    (change,) = json.loads((tmp_path / "drift" / "openai.drift.json").read_text())["changes"]
    assert ("ids.format", 200, 200) == (change["claim"], change["before"]["status"], change["after"]["status"])


def test_traffic_of_the_simulator_or_of_another_model_shows_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = traffic_of(load_profile("openai"), tmp_path / "now.jsonl")
    assert 2 == main(["provider", "watch", "--provider", "openai", "--model", "other", "--seen", str(path)])
    assert f"shows no claim about other; it holds exchanges with {MODEL}" in capsys.readouterr().err
    path.write_text(path.read_text("utf-8").replace('"headers": {', '"headers": {"server": "conformance-simulator", '))
    assert 2 == main(["provider", "watch", "--provider", "openai", "--model", MODEL, "--seen", str(path)])
    assert "replies of this project's simulator" in capsys.readouterr().err
