"""The command `conformance adapter`: exit codes, reports, results, baselines, recordings and the matrix."""

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from conformance import baseline
from conformance.cli import main
from conformance.results.files import read
from conformance.results.runs import Results
from conformance.schemas import validator

pytestmark = pytest.mark.slow

BROKEN_CLIENT = Path(__file__).with_name("broken_client.py")
LOSES = "reasoning/present-on-tool-turns"
OPEN = "the gate is open; covered 1 of 36"


def command(fault: str = "good") -> str:
    return f"'{sys.executable}' '{BROKEN_CLIENT}' {fault}"


class CommandResult(tuple[int, str, str]):
    """Exit code, standard output and standard error."""


@pytest.fixture
def adapter(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> CommandResult:
        code = main(["adapter", *map(str, arguments)])
        out, error = capsys.readouterr()
        assert "Traceback" not in error
        return CommandResult((code, out, error))

    return run


def ran(
    adapter: Any, fault: str, *more: object, scenario: str = "interleaved-thinking", variant: str = "plain"
) -> CommandResult:
    chosen = ("--driver", command(fault), "--provider", "deepseek", "--scenario", scenario, "--variant", variant)
    ended: CommandResult = adapter("run", *chosen, *more)
    return ended


def test_a_clean_client_exits_with_0(adapter: Any) -> None:
    code, out, error = ran(adapter, "good")
    assert (0, "") == (code, error)
    assert out.endswith("1 case played: 1 clean\n")


def test_violations_are_shown_by_rule_with_evidence_and_fix(adapter: Any, golden: Callable[[str, str], None]) -> None:
    code, out, _ = ran(adapter, "drops-reasoning")
    assert 1 == code
    golden("adapter.txt", out)


def test_a_warning_does_not_fail(adapter: Any) -> None:
    code, out, _ = ran(adapter, "asks-for-a-title", scenario="plain-answer")
    assert 0 == code
    assert "WARNS loop/no-extra-requests" in out


def test_a_failure_of_the_driver_exits_with_2(adapter: Any) -> None:
    code, out, _ = adapter("run", "--driver", f"'{sys.executable}' -c 'raise SystemExit(3)'", "--provider", "groq",
                           "--scenario", "plain-answer")  # fmt: skip
    assert 2 == code
    assert "ERRORED loop/every-prompt-answered" in out
    assert "ended with exit code 3" in out


def test_a_driver_that_sends_nothing_fails_as_untested(adapter: Any) -> None:
    code, out, _ = ran(adapter, "sends-nothing")
    assert 1 == code
    assert "UNTESTED loop/every-prompt-answered" in out


def test_strict_rejects_requests_and_names_the_rule(adapter: Any) -> None:
    code, out, _ = ran(adapter, "drops-reasoning", "--strict", "--all")
    assert 1 == code
    assert "refusing requests as the provider would" in out
    assert f"request 1 was refused by {LOSES} with 400: The `reasoning_content`" in out
    assert "to fix it: Keep the reasoning" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "name an adapter"),
        (["run", "reference", "--driver", "x"], "not both"),
        (["run", "--driver", "x"], "--provider is required"),
        (["run", "--driver", "'", "--provider", "groq"], "is not a command"),
        (["run", "--driver", "", "--provider", "groq"], "name an adapter"),
        (["run", "--driver", "x", "--provider", "mistrall"], "did you mean"),
        (["run", "--driver", "x", "--provider", "groq", "--scenario", "no-such"], "unknown scenario 'no-such'"),
        (["run", "--driver", "x", "--provider", "groq", "--env", "NOT_SET_ANYWHERE"], "is not set"),
        (["run", "referenz"], "did you mean reference?"),
        (["run", "reference", "--provider", "vllm"], "unknown provider of reference 'vllm'"),
        (["run", "reference@1.0"], "omit @1.0"),
        (["run", "reference", "--protocol", "messages"], "reference speaks chat"),
        (["run", "--driver", "x", "--provider", "groq", "--protocol", "messages"], "no claims about 'messages'"),
        (["matrix", "--only", "no-such-*"], "unknown adapter"),
        (["install", "no-such"], "unknown adapter"),
        (["list", "--adapters", "/no/such/folder"], ""),
    ],
)
def test_an_unusable_call_says_what_to_change(arguments: list[str], words: str, adapter: Any) -> None:
    code, out, error = adapter(*arguments)
    assert words in error
    assert (2 if words else 0) == code
    assert "" == out


def test_an_adapter_that_is_not_installed_says_how_to_install_it(
    adapter: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path))
    code, _, error = adapter("run", "pydantic-ai@1.25.0", "--scenario", "plain-answer")
    assert 2 == code
    assert "run `conformance adapter install pydantic-ai@1.25.0`" in error


def test_results_are_the_same_each_time_and_can_be_read_back(adapter: Any, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        ran(adapter, "rewrites-ids", "--results", tmp_path / folder, scenario="parallel-tool-calls")
    one, two = (tmp_path / folder / "driver.deepseek.json" for folder in ("one", "two"))
    document, again = (json.loads(path.read_bytes()) for path in (one, two))
    # The client makes ids of its own in each run, so its requests differ, and with them the digests.
    assert document["run"].pop("exchanges") != again["run"].pop("exchanges")
    assert document | {"digest": ""} == again | {"digest": ""}
    document = json.loads(one.read_bytes())
    assert () == validator("files/results").errors(document)
    results = read(one, [])
    assert ("driver", "deepseek", {"broken-client": "1.0"}) == (
        results.subject,
        results.provider,
        dict(results.versions),
    )
    assert results == Results.from_json(results.to_json())
    rules = [outcome.rule for outcome in results.cases[0].outcomes]
    assert "transcript/result-answers-call" in rules
    assert sorted(rules) == rules
    assert "own_id" not in one.read_text("utf-8")


def test_json_has_what_the_report_shows(adapter: Any) -> None:
    code, out, _ = ran(adapter, "drops-reasoning", "--format", "json")
    report: Mapping[str, Any] = json.loads(out)
    assert 1 == code
    assert {"errored": 0, "fails": 1, "untested": 0, "warns": 0, "differs": 0} == report["grades"]
    (rule,) = [each for each in report["rules"] if each["grade"] == "fails"]
    assert (LOSES, ["interleaved-thinking.plain"]) == (rule["rule"], rule["cases"])


def entry(match: str) -> str:
    until = date.today() + timedelta(days=90)  # noqa: DTZ011 — as the command reads it
    most = "  max: 1\n" if "*" in match else ""
    return f'- match: {match}\n  reason: Known.\n  link: https://example.test/1\n  until: "{until}"\n{most}'


@pytest.mark.parametrize(
    ("fault", "match", "code", "words"),
    [
        ("drops-reasoning", f"driver/deepseek/interleaved-thinking.plain/{LOSES}", 0, OPEN),
        ("drops-reasoning", f"driver/deepseek/*/{LOSES}", 0, OPEN),
        ("drops-reasoning", f"other@1.0/deepseek/*/{LOSES}", 2, "other@1.0"),
        ("good", f"driver/deepseek/interleaved-thinking.plain/{LOSES}", 1, "stale entry"),
    ],
)
def test_a_baseline_covers_only_what_it_names(
    fault: str, match: str, code: int, words: str, adapter: Any, tmp_path: Path
) -> None:
    path = tmp_path / "expected.yaml"
    path.write_text(entry(match), "utf-8")
    ended = ran(adapter, fault, "--baseline", path)
    assert code == ended[0]
    assert words in ended[1] + ended[2]


def test_recorded_sessions_have_the_same_findings_in_check(
    adapter: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(adapter, "drops-reasoning", "--keep", tmp_path)
    (recording,) = tmp_path.iterdir()
    assert "driver.deepseek.interleaved-thinking.plain.jsonl" == recording.name
    assert 1 == main(["check", "--provider", "deepseek", "--format", "json", str(recording)])
    (checked,) = json.loads(capsys.readouterr().out)["inputs"]
    assert LOSES in {outcome["rule"] for outcome in checked["outcomes"] if outcome["status"] == "failed"}
    assert 5 == len(checked["lines"])


def test_a_client_that_cannot_stream_gets_one_error_with_the_advice(adapter: Any, tmp_path: Path) -> None:
    chosen = ("run", "--driver", command("never-streams"), "--provider", "deepseek", "--scenario", "content-*")
    code, out, _ = adapter(*chosen, "--results", tmp_path)
    assert 2 == code
    assert 1 == out.count("use --variant plain if it cannot do that")
    assert "1 errored; 2 more cases with the same error" in out
    cases = [case for case in read(tmp_path / "driver.deepseek.json", []).cases if case.variant == "stream"]
    assert [1, 0, 0] == [len(case.outcomes) for case in cases]
    assert 0 == adapter(*chosen, "--variant", "plain")[0]


def test_a_missing_baseline_is_an_error_before_the_first_case(adapter: Any, tmp_path: Path) -> None:
    code, out, error = ran(adapter, "good", "--baseline", tmp_path / "no.yaml", "--results", tmp_path / "results")
    assert (2, "") == (code, out)
    assert "no.yaml: no such file; to create it, use --write-baseline" in error
    assert not (tmp_path / "results").exists()


def test_a_written_baseline_covers_exactly_the_failures_of_its_run(adapter: Any, tmp_path: Path) -> None:
    path = tmp_path / "new" / "expected.yaml"
    code, _, error = ran(adapter, "drops-reasoning", "--write-baseline", path)
    assert 0 == code
    assert f"1 failure written to {path}; replace each reason" in error
    (written,) = baseline.load(path)
    assert f"driver/deepseek/interleaved-thinking.plain/{LOSES}" == written.match
    assert "expected reasoning_content in this assistant message" in written.reason
    assert written.link.startswith("https://")
    assert 0 == ran(adapter, "drops-reasoning", "--baseline", path)[0]
    assert 1 == ran(adapter, "good", "--baseline", path)[0]


def test_a_baseline_is_not_overwritten(adapter: Any, tmp_path: Path) -> None:
    path = tmp_path / "expected.yaml"
    path.write_text("[]", "utf-8")
    code, out, error = ran(adapter, "drops-reasoning", "--write-baseline", path)
    assert (2, "") == (code, out)
    assert "the file exists" in error
    assert "[]" == path.read_text("utf-8")


def test_an_error_of_the_driver_is_not_written_to_a_baseline(adapter: Any, tmp_path: Path) -> None:
    path = tmp_path / "expected.yaml"
    crash = ("--driver", f"'{sys.executable}' -c 'raise SystemExit(3)'", "--provider", "groq")
    assert 2 == adapter("run", *crash, "--scenario", "plain-answer", "--write-baseline", path)[0]
    assert () == baseline.load(path)


@pytest.fixture
def adapters(tmp_path: Path) -> Path:
    """Return a folder of two adapters that need no packages: a good one, and one that loses reasoning."""
    root = tmp_path / "adapters"
    for name, fault in (("good", "good"), ("lossy", "drops-reasoning")):
        (root / name).mkdir(parents=True)
        source = BROKEN_CLIENT.read_text("utf-8").replace(
            'FAULT = sys.argv[1] if len(sys.argv) > 1 else ""', f'FAULT = "{fault}"'
        )
        (root / name / "driver.py").write_text(source, "utf-8")
        definition = {"title": name, "language": "python", "package": "", "packages": [], "driver": "driver.py"}
        (root / name / "adapter.yaml").write_text(
            json.dumps(definition | {"providers": {"deepseek": {}, "groq": {}}}), "utf-8"
        )
    return root


def test_the_matrix_runs_all_adapters_and_resumes(adapter: Any, adapters: Path, tmp_path: Path) -> None:
    chosen = ("matrix", "--adapters", adapters, "--results", tmp_path / "results", "--scenario", "one-tool-call")
    code, out, error = adapter(*chosen)
    assert (1, "") == (code, error)
    assert ["good with deepseek", "good with groq", "lossy with deepseek", "lossy with groq"] == [
        line.partition(":")[0] for line in out.splitlines()
    ]
    assert f"lossy with deepseek: 2 cases played: 0 clean, 2 fails; breaks {LOSES}" in out
    names = ["good.deepseek.json", "good.groq.json", "lossy.deepseek.json", "lossy.groq.json"]
    assert names == sorted(path.name for path in (tmp_path / "results").glob("*.json"))
    (tmp_path / "results" / "good.groq.json").unlink()
    again = adapter(*chosen, "--resume")[1].splitlines()
    assert [True, False, True, True] == [line.endswith("skipped, completed before") for line in again]


def test_the_matrix_reports_what_could_not_be_run_and_continues(adapter: Any, adapters: Path, tmp_path: Path) -> None:
    path = adapters / "good" / "adapter.yaml"
    path.write_text(path.read_text("utf-8").replace('"packages": []', '"packages": ["no-such-package==1.0"]'), "utf-8")
    shutil.rmtree(adapters / "lossy" / "driver.py", ignore_errors=True)
    code, out, error = adapter("matrix", "--adapters", adapters, "--results", tmp_path, "--scenario", "plain-answer")
    assert 2 == code
    assert "good with deepseek: good" in error
    assert "not installed" in error
    assert "lossy with deepseek: 2 cases played" in out


def test_the_list_shows_what_is_installed(adapter: Any) -> None:
    rows = {row["name"]: row for row in json.loads(adapter("list", "--format", "json")[1])}
    assert {"name": "reference", "version": "", "language": "python", "installed": True} == {
        key: rows["reference"][key] for key in ("name", "version", "language", "installed")
    }
    assert len(rows) == len(adapter("list")[1].splitlines())


def test_the_reference_driver_passes(adapter: Any) -> None:
    code, out, _ = adapter("run", "reference", "--provider", "deepseek", "--scenario", "agent-session",
                           "--scenario", "ids-e*", "--scenario", "details-*", "--scenario", "tool-*")  # fmt: skip
    assert 0 == code, out
    assert "fails" not in out
