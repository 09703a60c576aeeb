"""Cassettes of engines: what they say about the engine, how they replay, and what has changed since."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from conformance import environments
from conformance.cli import main
from conformance.documents import read_yaml
from conformance.engines.definition import load
from conformance.engines.recording import snapshot
from conformance.resources import folder
from conformance.results import Evidence
from conformance.suite.cassettes import record, simulated_models
from conformance.suite.options import Options, with_environment
from conformance.suite.run import Run
from conformance.transport.shelf import CassetteFolder
from tests.fake_engine import define, weights

pytestmark = pytest.mark.slow

MODEL = "scripted-qwen3-0.002b"
COMMAND = ["{python}", "{package}/simulator.py", "{port}", "{flags}"]


def words(place: Path, action: str, *more: str, fault: str = "none") -> list[str]:
    define(place, fault=fault, command=COMMAND)
    known = {"--definitions": place, "--weights": weights(place / "w"), "--cassettes": place / "cassettes"}
    return ["engine", action, "fake", *(str(word) for pair in known.items() for word in pair), *more]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("recorded")
    # These simulated cassettes are replaced.
    record(Options("llamacpp", place / "cassettes", "2026-01-01"))
    assert 0 == main(words(place, "record"))
    return place / "cassettes"


def test_cassettes_of_an_engine_describe_its_setup(recorded: Path) -> None:
    ((model, entry),) = CassetteFolder(recorded, "llamacpp").manifest().items()
    assert (MODEL, Evidence.ENGINE) == (model, entry.evidence)
    assert entry.engine is not None
    assert {"name", "versions", "weights", "template", "flags", "default"} == set(entry.engine)
    assert ("fake", "qwen3", ["none"]) == tuple(entry.engine[key] for key in ("name", "template", "flags"))
    assert "conformance engine record fake --template qwen3" == entry.again
    assert "pytest" in entry.versions


def test_cassettes_of_an_engine_replace_simulated_ones(recorded: Path) -> None:
    assert [MODEL] == [path.name for path in (recorded / "llamacpp").iterdir() if path.is_dir()]
    assert "llamacpp" not in [provider for provider, _ in simulated_models(recorded)]


def test_a_replay_uses_the_cassettes_of_the_engine(recorded: Path) -> None:
    run = Run(Options("llamacpp", recorded, ""))
    try:
        cases = [run.case(scenario, variant) for scenario, variant in run.cases()]
    finally:
        run.close()
    assert MODEL == run.model
    assert {Evidence.ENGINE} == {case.evidence for case in cases}
    assert any(case.outcomes for case in cases)


def test_an_unchanged_engine_has_no_drift(recorded: Path, tmp_path: Path) -> None:
    assert 0 == main([*words(tmp_path, "drift")[:-1], str(recorded)])


@pytest.mark.exhaustive
def test_each_change_is_reported(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main([*words(tmp_path, "drift", fault="breaks")[:-1], str(recorded)])
    out = capsys.readouterr().out
    assert "one-tool-call.plain: note: was absent, is ended at turn 2: HTTP 500" in out
    assert "parallel-tool-calls.plain: wire /error/message str: was absent, is present" in out
    # Folders of this machine are replaced.
    assert "cannot read /work/x" in out


LIMITS = ("--request-timeout", "0.2", "--max-time", "1")


def test_a_recording_of_an_engine_that_hangs_ends_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == main(words(tmp_path, "record", *LIMITS, fault="hangs"))
    assert "nothing more is sent; the last one: " in capsys.readouterr().err
    assert {} == CassetteFolder(tmp_path / "cassettes", "llamacpp").manifest()


@pytest.mark.exhaustive
def test_drift_of_an_engine_that_hangs_compares_nothing(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main([*words(tmp_path, "drift", *LIMITS, fault="hangs"), "--cassettes", str(recorded)])
    output = capsys.readouterr()
    assert ("", True) == (
        output.out,
        "nothing was compared, since the time of the run (--max-time) is over" in output.err,
    )


def test_drift_without_cassettes_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(words(tmp_path, "drift"))
    assert f"there are no cassettes of llamacpp's {MODEL}" in capsys.readouterr().err


@pytest.mark.exhaustive
def test_ids_and_dates_are_not_part_of_a_snapshot(recorded: Path, tmp_path: Path) -> None:
    (folder,) = [path for path in (recorded / "llamacpp").iterdir() if path.is_dir()]
    for path in folder.iterdir():
        changed = tmp_path / "llamacpp" / MODEL / path.name
        changed.parent.mkdir(parents=True, exist_ok=True)
        document = yaml.safe_load(path.read_text())
        for each in document["interactions"]:
            text = each["response"]["body"]["string"]
            each["response"]["body"]["string"] = text.replace('"created":1', '"created":2')
        changed.write_text(yaml.safe_dump(document))
    (tmp_path / "llamacpp" / "manifest.yaml").write_text((recorded / "llamacpp" / "manifest.yaml").read_text())
    assert snapshot("llamacpp", MODEL, recorded) == snapshot("llamacpp", MODEL, tmp_path)


@pytest.mark.exhaustive
def test_a_simulator_is_never_recorded_as_an_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulated = COMMAND[1].replace("simulator", "named")
    define(tmp_path, command=["{python}", simulated, "{port}", "{flags}"])
    (tmp_path / "named.py").write_text(
        (tmp_path / "simulator.py").read_text().replace('"fake"', "found.headers['server']")
    )
    folders = ["--definitions", str(tmp_path), "--weights", str(weights(tmp_path / "w"))]
    assert 2 == main(["engine", "record", "fake", *folders, "--cassettes", str(tmp_path / "cassettes")])
    assert "answers like this project's simulator" in capsys.readouterr().err
    assert {} == CassetteFolder(tmp_path / "cassettes", "llamacpp").manifest()


@pytest.fixture
def handed_over_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("CONFORMANCE_MODEL", "m")
    monkeypatch.setenv("CONFORMANCE_ENGINE", json.dumps({"engine": {"name": "fake"}, "hidden": {"/a": "/b"}}))


@pytest.mark.usefixtures("handed_over_variables")
def test_a_live_run_beside_an_engine_uses_its_address() -> None:
    options = with_environment(Options("llamacpp", Path(), "", live=True))
    assert ("http://127.0.0.1:1/v1", "m", {"name": "fake"}) == (options.base_url, options.model, options.engine)


@pytest.mark.usefixtures("handed_over_variables")
@pytest.mark.parametrize("live", [True, False])
def test_options_of_the_user_take_precedence(live: bool) -> None:  # noqa: FBT001 — a parameter of the test
    options = Options("llamacpp", Path(), "", live=live, base_url="http://127.0.0.1:2/v1" if live else "")
    assert options == with_environment(options)


def test_the_embedded_engine_is_tested_live_if_it_is_installed(tmp_path: Path) -> None:
    definition = load("llamacpp")
    if not environments.has_packages(definition.packages):
        pytest.skip("NOT RUN: llama.cpp is not installed here, so no real server was asked; pip install -e '.[engine]'")
    results = tmp_path / "results"
    expected = f"--expected={folder('docs') / 'examples' / 'llamacpp-expected.yaml'}"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--provider=llamacpp",
        "--live",
        expected,
    ]
    assert 0 == main(["engine", "run", "llamacpp", "--", *command, f"--results={results}"])
    value = read_yaml(results / "llamacpp.json").value
    assert (MODEL, {"live"}) == (value["model"], {case["evidence"] for case in value["cases"]})
