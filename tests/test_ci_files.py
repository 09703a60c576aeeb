"""What other people's CI takes from here: the action and the hooks name commands that exist, and do what they say."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.documents import read_yaml
from tests.checking import ENVIRONMENT, FAULTY, GOOD, ROOT, write
from tests.xml_text import parse_xml

ACTION: Any = read_yaml(ROOT / "action.yml").value
HOOKS: Any = read_yaml(ROOT / ".pre-commit-hooks.yaml").value
STEPS = ACTION["runs"]["steps"]
SCRIPTS = {step["name"]: step["run"] for step in STEPS if "run" in step}
BASH = shutil.which("bash") or ""
EXAMPLE = "example"


def test_every_input_is_used_and_every_one_that_is_used_is_declared() -> None:
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(ACTION["runs"])))
    assert set(ACTION["inputs"]) == used
    assert all("description" in each and "default" in each for each in ACTION["inputs"].values())


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_is_put_into_a_script_but_through_its_environment(name: str) -> None:
    assert "${{" not in SCRIPTS[name]
    step = next(step for step in STEPS if step["name"] == name)
    given = set(step["env"]) | {"RUNNER_TEMP", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"}
    assert set() == set(re.findall(r"\$\{?([A-Z_]+)", SCRIPTS[name])) - given
    assert set() == {each for each in step["env"] if f"${each}" not in SCRIPTS[name] and not each.startswith("GH_")} - {
        variable for variable in step["env"] if f"${{{variable}" in SCRIPTS[name]
    }


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_one_that_bash_can_read(name: str) -> None:
    subprocess.run([BASH, "-n"], input=SCRIPTS[name], text=True, check=True)


def test_actions_of_others_are_pinned_to_a_whole_version() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used
    assert [] == [each for each in used if not re.fullmatch(r"[\w/-]+@v\d+\.\d+\.\d+", each)]


def test_the_verbs_that_are_named_exist_with_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    named = {
        (verb, flag)
        for line in SCRIPTS["Check and gate"].splitlines()
        for verb in re.findall(r'bin/conformance" ([a-z]+(?: run)?)', line)
        for flag in re.findall(r"(--[a-z-]+)", line)
    }
    assert {"check", "gate", "diff", "adapter run"} == {verb for verb, _ in named}
    for verb, flag in named:
        main([*verb.split(), "--help"])
        assert flag in capsys.readouterr().out, verb


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_names_a_verb_and_a_pattern_that_compile(hook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command, *verb = hook["entry"].split()
    assert ("conformance", 0) == (command, main([*verb, "--help"]))
    assert "usage" in capsys.readouterr().out
    assert "python" == hook["language"]
    re.compile(hook["files"])


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("cassettes/deepseek/m/plain-answer.stream.yaml", True),
        ("tests/fixtures/reply.json", True),
        ("fixtures/traffic.jsonl.gz", True),
        ("cassettes/deepseek/manifest.yaml", False),
        ("package.json", False),
        ("tests/fixtures/readme.md", False),
    ],
)
def test_the_hook_takes_cassettes_and_fixtures(path: str, *, taken: bool) -> None:
    hook = next(each for each in HOOKS if each["id"] == "conformance-check")
    found = re.search(hook["files"], path) and not re.search(hook["exclude"], path)
    assert taken is bool(found)


Act = Callable[..., tuple[Mapping[str, str], Path]]


@pytest.fixture
def act(tmp_path: Path) -> Act:
    """Return what runs the action's script as a runner would, in a folder of its own, and returns its outputs."""
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
        environment = {**ENVIRONMENT, **given, **{name: os.fspath(path) for name, path in runner.items()}}
        # As https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax says of `shell: bash`.
        command = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True)
        told = dict(line.partition("=")[::2] for line in output.read_text().splitlines())
        return told, Path(told["folder"])

    return run


def test_the_action_checks_paths_and_leaves_reports(tmp_path: Path, act: Act) -> None:
    write(tmp_path / "a b.json", FAULTY)
    write(tmp_path / "$(touch pwned).json", GOOD)
    told, folder = act(CHECK="a b.json\n\n$(touch pwned).json", GATE="none")
    assert ("1", str(folder / "check.sarif")) == (told["code"], told["check"])
    root = parse_xml((folder / "check.xml").read_text())
    assert ["a b.json", "$(touch pwned).json"] == [each.get("name") for each in root]
    assert not (tmp_path / "pwned").exists()
    assert "gate" not in told


def test_the_action_gates_results_and_comments_what_changed(tmp_path: Path, act: Act) -> None:
    def results(name: str, status: str) -> str:
        outcome = {"rule": "stream/role-first", "status": status, "level": "MUST", "judged": 1, "findings": []}
        case = {"scenario": "a", "variant": "plain", "evidence": "live", "note": "", "outcomes": [outcome]}
        write(tmp_path / name, {"subject": EXAMPLE, "model": "m", "cases": [{**case, "probes": []}]})
        return name

    told, folder = act(GATE="results", RESULTS=results("new.json", "untested"), BASELINE=results("old.json", "passed"))
    assert ("1", str(folder / "comment.md")) == (told["code"], told["comment"])
    assert "### Conformance: **regression**" in (folder / "comment.md").read_text()
    assert (folder / "comment.md").read_text() == (tmp_path / "summary").read_text()
    (run,) = json.loads((folder / "gate.sarif").read_text())["runs"]
    assert ["stream/role-first"] == [each["ruleId"] for each in run["results"]]


def test_what_cannot_be_done_is_told_and_never_passes(act: Act) -> None:
    assert "2" == act(GATE="everything")[0]["code"]
    assert "2" == act(GATE="results", RESULTS="nowhere")[0]["code"]
    assert "2" == act(CHECK="nowhere.json", GATE="none")[0]["code"]


def test_the_action_plays_a_provider_whatever_the_repository_configures(tmp_path: Path, act: Act) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError\n")
    told, folder = act(GATE="provider", PROVIDER="groq")
    assert "0" == told["code"]
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
def test_there_is_one_comment_and_a_fork_without_rights_is_warned(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], known: str, ends: str, call: str
) -> None:
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    given = {"GH_TOKEN": "t", "GH_REPO": "o/r", "NUMBER": "7", "COMMENT": "c.md", "KNOWN": known, "ENDS": ends}
    paths = {"PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}", "CALLS": str(tmp_path / "calls")}
    command = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", SCRIPTS["Comment what changed"]]
    subprocess.run(command, env={**ENVIRONMENT, **given, **paths}, cwd=tmp_path, check=True)
    assert call == (tmp_path / "calls").read_text().splitlines()[-1]
    assert ("1" == ends) is capfd.readouterr().out.startswith("::warning::")
