"""The GitHub action and the pre-commit hooks: they name commands that exist, and do what they promise."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.documents import read_yaml
from conformance.engines.process import free_port
from conformance.gate import check_results
from conformance.results import Evidence, Finding, Level, Outcome, Status, files
from conformance.results.files import read
from conformance.results.record import RunRecord
from conformance.results.runs import Case, Results
from conformance.transport.http import HttpReply
from tests.checking import ENVIRONMENT, FAULTY, GOOD, ROOT, write
from tests.forks import WITHOUT
from tests.gateways import MadeGateway, made_gateway
from tests.xml_text import parse_xml

pytestmark = pytest.mark.slow

ACTION: Any = read_yaml(ROOT / "action.yml").value
HOOKS: Any = read_yaml(ROOT / ".pre-commit-hooks.yaml").value
STEPS = ACTION["runs"]["steps"]
SCRIPTS = {step["name"]: step["run"] for step in STEPS if "run" in step}
BASH = shutil.which("bash") or ""
EXAMPLE = "example"


def test_exactly_the_declared_inputs_are_used() -> None:
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(ACTION["runs"])))
    assert set(ACTION["inputs"]) == used
    assert all("description" in each and "default" in each for each in ACTION["inputs"].values())


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_get_values_only_from_their_environment(name: str) -> None:
    assert "${{" not in SCRIPTS[name]
    step = next(step for step in STEPS if step["name"] == name)
    given = set(step["env"]) | {"RUNNER_TEMP", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"}
    assert set() == set(re.findall(r"\$\{?([A-Z_]+)", SCRIPTS[name])) - given
    assert set() == {each for each in step["env"] if f"${each}" not in SCRIPTS[name] and not each.startswith("GH_")} - {
        variable for variable in step["env"] if f"${{{variable}" in SCRIPTS[name]
    }


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_has_no_syntax_errors(name: str) -> None:
    subprocess.run([BASH, "-n"], input=SCRIPTS[name], text=True, check=True)


def test_other_actions_are_pinned_to_a_commit_with_its_version() -> None:
    files = [ROOT / "action.yml", *(ROOT / ".github" / "workflows").glob("*.yml")]
    used = [line for file in files for line in re.findall(r"uses: (.+)", file.read_text("utf-8"))]
    others = [each for each in used if not each.startswith("./")]
    assert others
    assert [] == [each for each in others if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)]
    assert len({each.partition("@")[0] for each in others}) == len(set(others)), "one version of each action"


def test_the_commands_of_the_action_exist_with_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    named = {
        (verb, flag)
        for line in SCRIPTS["Check and gate"].splitlines()
        for verb in re.findall(r'bin/conformance" ([a-z]+(?: (?:run|diff|statement make))?)', line)
        for flag in re.findall(r"(--[a-z-]+)", line)
    }
    verbs = {"check", "gate", "report diff", "report statement make", "adapter run", "gateway run"}
    assert verbs == {verb for verb, _ in named}
    for verb, flag in named:
        main([*verb.split(), "--help"])
        assert flag in capsys.readouterr().out, verb


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_names_a_command_and_a_valid_pattern(hook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command, *verb = hook["entry"].split()
    assert ("conformance", 0) == (command, main([*verb, "--help"]))
    assert "usage" in capsys.readouterr().out
    assert "python" == hook["language"]
    re.compile(hook["files"])


@pytest.mark.parametrize(
    ("path", "checked"),
    [
        ("cassettes/deepseek/m/plain-answer.stream.yaml", True),
        ("tests/fixtures/reply.json", True),
        ("fixtures/traffic.jsonl.gz", True),
        ("cassettes/deepseek/manifest.yaml", False),
        ("package.json", False),
        ("tests/fixtures/readme.md", False),
    ],
)
def test_the_hook_checks_cassettes_and_fixtures(path: str, *, checked: bool) -> None:
    hook = next(each for each in HOOKS if each["id"] == "conformance-check")
    found = re.search(hook["files"], path) and not re.search(hook["exclude"], path)
    assert checked is bool(found)


def test_examples_use_the_address_of_the_repository() -> None:
    address = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Homepage"]
    text = (ROOT / "docs" / "reports.md").read_text("utf-8")
    assert f"- uses: {address.removeprefix('https://github.com/')}@v" in text
    assert f"- repo: {address}\n" in text


Act = Callable[..., tuple[Mapping[str, str], Path]]


@pytest.fixture
def act(tmp_path: Path) -> Act:
    """Return a function that runs the action's script like a runner does and returns its outputs."""
    bin_folder = tmp_path / "temp" / "conformance-venv" / "bin"
    bin_folder.mkdir(parents=True)
    for name, arguments in (("python", ""), ("conformance", "-m conformance ")):
        (bin_folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} {arguments}"$@"\n')
        (bin_folder / name).chmod(0o755)

    def run(**inputs: str) -> tuple[Mapping[str, str], Path]:
        step = next(step for step in STEPS if step.get("id") == "run")
        given = {name: inputs.get(name, "") for name in step["env"]}
        output, summary = tmp_path / "output", tmp_path / "summary"
        runner = {"RUNNER_TEMP": tmp_path / "temp", "GITHUB_OUTPUT": output, "GITHUB_STEP_SUMMARY": summary}
        # The options of the run that this test is part of are not those of the user's run.
        kept = {**ENVIRONMENT, "PYTEST_ADDOPTS": " ".join(WITHOUT)}
        environment = {**kept, **given, **{name: os.fspath(path) for name, path in runner.items()}}
        # The command of `shell: bash`:
        # https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
        command = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True)
        outputs = dict(line.partition("=")[::2] for line in output.read_text().splitlines())
        return outputs, Path(outputs["folder"])

    return run


def test_the_action_checks_paths_and_writes_reports(tmp_path: Path, act: Act) -> None:
    write(tmp_path / "a b.json", FAULTY)
    write(tmp_path / "$(touch pwned).json", GOOD)
    outputs, folder = act(CHECK="a b.json\n\n$(touch pwned).json", GATE="none")
    assert ("1", str(folder / "check.sarif")) == (outputs["code"], outputs["check"])
    root = parse_xml((folder / "check.xml").read_text())
    assert ["a b.json", "$(touch pwned).json"] == [each.get("name") for each in root]
    assert not (tmp_path / "pwned").exists()
    assert "gate" not in outputs


def test_the_action_gates_results_and_comments_on_changes(tmp_path: Path, act: Act) -> None:
    def results(name: str, status: str) -> str:
        outcome = Outcome("stream/role-first", Status(status), Level.MUST, 1)
        case = Case("a", "plain", Evidence.LIVE, (outcome,))
        write(tmp_path / name, Results(EXAMPLE, "m", (case,)).to_json())
        return name

    outputs, folder = act(
        GATE="results", RESULTS=results("new.json", "untested"), BASELINE=results("old.json", "passed")
    )
    assert ("1", str(folder / "comment.md")) == (outputs["code"], outputs["comment"])
    comment = (folder / "comment.md").read_text()
    assert comment.startswith("### Conformance: **the gate is closed**\n")
    assert "### Conformance: **regression**" in comment
    assert (folder / "comment.md").read_text() == (tmp_path / "summary").read_text()
    (run,) = json.loads((folder / "gate.sarif").read_text())["runs"]
    assert ["stream/role-first"] == [each["ruleId"] for each in run["results"]]


def test_the_comment_of_the_action_is_the_gate_as_markdown(tmp_path: Path, act: Act) -> None:
    found = ROOT / "reports" / "results" / "groq.json"
    outputs, folder = act(GATE="results", RESULTS=os.fspath(found))
    assert ("0", str(folder / "comment.md")) == (outputs["code"], outputs["comment"])
    count = len([each for results in [read(found)] for each in check_results(results)])
    comment = "### Conformance: **the gate is open**\n\nNo unexpected failures, and no stale entries."
    assert f"{comment}; covered 0 of {count}\n" == (folder / "comment.md").read_text()
    assert (folder / "comment.md").read_text() == (tmp_path / "summary").read_text()


def test_a_comment_is_as_long_as_github_takes_it(tmp_path: Path, act: Act) -> None:
    found = (Finding("/0", "a" * 40_000, Level.MUST),)
    names = ("complete", "id-once", "name-once")
    outcomes = tuple([Outcome(f"stream/{name}", Status.FAILED, Level.MUST, 1, found) for name in names])
    for file, held in (("new.json", outcomes), ("old.json", ())):
        case = Case("a", "plain", Evidence.LIVE, held)
        write(tmp_path / file, Results(EXAMPLE, "m", (case,)).to_json())
    _, folder = act(GATE="results", RESULTS="new.json", BASELINE="old.json")
    comment = (folder / "comment.md").read_text()
    assert len(comment) < 65_536
    assert comment.endswith("\n… and more: see the summary of this run.\n")
    assert f"\n- `{EXAMPLE}/a.plain/stream/name-once`" in comment
    assert len((tmp_path / "summary").read_text()) > 120_000


def test_unusable_inputs_never_pass(act: Act) -> None:
    assert "2" == act(GATE="everything")[0]["code"]
    assert "2" == act(GATE="results", RESULTS="nowhere")[0]["code"]
    assert "2" == act(CHECK="nowhere.json", GATE="none")[0]["code"]


NOTHING = {
    "nothing was run: set check, or set gate": {"GATE": "none", "CHECK": "\n \n"},
    "gate: results needs the input results": {"GATE": "results"},
    "gate: provider needs the input provider": {"GATE": "provider", "BASE_URL": "http://127.0.0.1:9/v1"},
    "gate: adapter needs the inputs driver and provider": {"GATE": "adapter", "PROVIDER": "deepseek"},
    "gate: gateway needs the inputs front and back": {"GATE": "gateway", "GATEWAY": "litellm", "FRONT": "chat"},
    "gate: gateway needs the input gateway, or base-url and upstream-port": {
        "GATE": "gateway",
        "FRONT": "chat",
        "BACK": "deepseek",
        "BASE_URL": "http://127.0.0.1:9/v1",
    },
}


@pytest.mark.parametrize("message", NOTHING)
def test_an_action_that_runs_nothing_says_so_and_fails(
    message: str, act: Act, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "2" == act(**NOTHING[message])[0]["code"]
    assert f"::error::{message}" in capfd.readouterr().out


def test_results_that_prove_nothing_are_refused_in_the_comment(tmp_path: Path, act: Act) -> None:
    case = Case("a", "plain", Evidence.LIVE, (Outcome("stream/role-first", Status.PASSED, Level.MUST, 1),))
    results = Results(EXAMPLE, "m", (case,))
    files.write(tmp_path / "empty", replace(results, cases=()))
    files.write(tmp_path / "stopped", replace(results, run=RunRecord(ended="the run was interrupted")))
    for folder, words in (("empty", "has no cases"), ("stopped", "is incomplete: the run was interrupted")):
        outputs, out = act(GATE="results", RESULTS=folder)
        comment = (out / "comment.md").read_text()
        assert ("2", True) == (outputs["code"], comment.startswith("### Conformance: **the results were refused**"))
        assert words in comment
    assert "2" == act(GATE="results", RESULTS="stopped", PROVIDER="deepseek")[0]["code"]


def test_one_variant_of_a_provider_without_an_address_is_gated_and_the_comment_says_what_it_cannot_see(
    act: Act, capfd: pytest.CaptureFixture[str]
) -> None:
    outputs, folder = act(GATE="provider", PROVIDER="groq", VARIANT="stream")
    results, comment = read(folder / "results" / "groq.json", []), (folder / "comment.md").read_text()
    assert ("0", {"stream"}) == (outputs["code"], {case.variant for case in results.cases})
    replayed = "Recorded cassettes were replayed, so this gate cannot see the provider."
    assert f"::warning::{replayed}" in capfd.readouterr().out
    assert [True, True] == [words in comment for words in (replayed, "(--variant stream)")]


def test_a_gateway_that_runs_is_gated_and_its_headers_are_nowhere(act: Act, capfd: pytest.CaptureFixture[str]) -> None:
    port = free_port()

    def refused(reply: HttpReply) -> HttpReply:
        return replace(reply, status=500) if reply.status == 400 else reply

    gateway = MadeGateway("gemini", "gemini", f"http://127.0.0.1:{port}/v1", quirk=refused)
    with made_gateway(gateway) as url:
        given = {"GATE": "gateway", "FRONT": "gemini", "BACK": "gemini.gemini", "BASE_URL": url}
        outputs, folder = act(**given, UPSTREAM_PORT=str(port), HEADERS="x-one: secret-1\n\nx-two: secret-2\n")
    comment = (folder / "comment.md").read_text()
    assert ("1", str(folder / "gate.sarif")) == (outputs["code"], outputs["gate"])
    assert comment.startswith("### Conformance: **the gate is closed**\n")
    failed = {"gateway:gemini/gemini.gemini/single/refused-400.plain/gateway/refusal-status-kept"}
    failed |= {each.replace("plain", "stream") for each in failed}
    found = set(re.findall(r"- `(\S+)`", comment))
    assert failed <= found
    assert {"refusal-status-kept"} == {each.rpartition("/")[2] for each in found}
    written = "".join([path.read_text() for path in folder.rglob("*") if path.is_file()])
    assert "secret-" not in written + capfd.readouterr().out


def test_each_command_of_the_action_runs_once() -> None:
    script = SCRIPTS["Check and gate"]
    verbs = ("check", "gate (", "adapter run", "gateway run", "report diff")
    commands = [f'conformance" {verb}'.replace("gate (", 'gate "$RESULTS"') for verb in verbs]
    calls = ('"${gate[@]}"', '"${diff[@]}"', "-m pytest")
    assert {1} == {script.count(each) for each in (*commands, *calls)}


def test_the_action_ignores_the_pytest_configuration_of_the_repository(tmp_path: Path, act: Act) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError\n")
    outputs, folder = act(GATE="provider", PROVIDER="groq")
    assert "0" == outputs["code"]
    assert EXAMPLE not in (folder / "results" / "groq.json").read_text()
    assert {"0"} == {suite.get("failures") for suite in parse_xml((folder / "gate.xml").read_text())}


GH = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in *--paginate*) echo "$KNOWN"; exit 0 ;; esac
exit "$ENDS"
"""


@pytest.mark.parametrize(
    ("known", "ends", "call"),
    [
        ("", "0", "api repos/o/r/issues/7/comments --field body=@c.md"),
        ("11\n12", "0", "api --method PATCH repos/o/r/issues/comments/12 --field body=@c.md"),
        ("", "1", "api repos/o/r/issues/7/comments --field body=@c.md"),
    ],
)
def test_there_is_one_comment_and_a_fork_gets_a_warning(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], known: str, ends: str, call: str
) -> None:
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    given = {"GH_TOKEN": "t", "GH_REPO": "o/r", "NUMBER": "7", "COMMENT": "c.md", "KNOWN": known, "ENDS": ends}
    paths = {"PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}", "CALLS": str(tmp_path / "calls")}
    command = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", SCRIPTS["Comment on the pull request"]]
    subprocess.run(command, env={**ENVIRONMENT, **given, **paths}, cwd=tmp_path, check=True)
    assert call == (tmp_path / "calls").read_text().splitlines()[-1]
    assert ("1" == ends) is capfd.readouterr().out.startswith("::warning::")
