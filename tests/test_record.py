"""Recording: the same input gives the same bytes, and simulated replies never replace real ones."""

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import Unusable
from conformance.results import Evidence
from conformance.suite.cassettes import record, simulated_models
from conformance.suite.options import Options
from conformance.transport.shelf import CassetteFolder, ManifestEntry


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.yaml")}


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Options:
    options = Options("baidu", tmp_path_factory.mktemp("cassettes"), "2026-01-01")
    record(options)
    return options


def test_unchanged_input_gives_the_same_files_on_any_day(options: Options) -> None:
    before = files(options.cassettes)
    record(replace(options, today="2027-01-01"))
    assert before == files(options.cassettes)


def test_a_recording_is_labelled_and_names_the_command_to_repeat_it(options: Options) -> None:
    ((model, entry),) = CassetteFolder(options.cassettes, "baidu").manifest().items()
    assert (Evidence.SIMULATED, "2026-01-01") == (entry.evidence, entry.date)
    assert f"conformance provider record --provider baidu --model {model}" == entry.again


def test_cassettes_of_removed_scenarios_are_removed(options: Options) -> None:
    folder = CassetteFolder(options.cassettes, "baidu").path("ernie-4.5-turbo-128k", "gone.plain")
    folder.write_text("interactions: []\n")
    record(options)
    assert not folder.exists()


def test_simulated_replies_do_not_replace_real_ones(tmp_path: Path) -> None:
    CassetteFolder(tmp_path, "baidu").add("m", ManifestEntry(Evidence.RECORDED, "2026-01-01"))
    with pytest.raises(Unusable, match="hold real replies"):
        record(Options("baidu", tmp_path, "2026-01-02", model="m"))
    assert ("baidu", "m") not in [*simulated_models(tmp_path)]


def test_each_case_is_logged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["provider", "record", "--provider", "baidu", "--cassettes", str(tmp_path)])
    assert "plain-answer.plain: 12 probes\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--all", "--live"], "use --provider with --live"),
        (["--provider", "deepseek", "--live"], "set DEEPSEEK_API_KEY"),
        (["--provider", "deepsek"], "did you mean deepseek"),
    ],
)
def test_a_recording_that_is_not_possible_says_why(
    arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    assert 2 == main(["provider", "record", *arguments])
    assert words in capsys.readouterr().err
