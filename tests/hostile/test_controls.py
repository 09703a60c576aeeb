"""What a provider sends controls neither the terminal nor the workflow that prints it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from conformance.cli import main
from conformance.reporting.text import printable, printable_json, printable_lines
from tests.hostile.parrot import parrot, provider, suites

HOSTILE: Final = (
    "\x1b[31mred\x1b]0;title\x07 \r overwritten \u202egnp.exe \u2066 \x85 \x9b31m \u2028 end"
    "\n::error file=a.py,line=1::pwned\n  ::set-output name=x::y\n##[error]pwned\n\r::warning::pwned\n"
    "so##[add-mask]x ##vso[task.complete]\n'##teamcity[x]'\n"
    "wrapped " + "x" * 80 + " ::error::pwned " + "y" * 80 + " ::error::pwned"
)


def problems(text: str, *, commands: bool = False) -> list[str]:
    """Return the lines that control a terminal, or that are commands of a workflow and not `commands` of our own."""
    found = []
    for line in text.split("\n"):
        is_own = commands and line.startswith("::") and not line.startswith(("::error file=a.py", "::set-output"))
        is_anywhere = any(each in line for each in ("##[", "##vso[", "##teamcity["))
        if not line.isprintable() or is_anywhere or (line.lstrip().startswith("::") and not is_own):
            found.append(line)
    return found


@pytest.mark.parametrize("line", HOSTILE.split("\n"))
def test_a_line_is_printable_and_no_command(line: str) -> None:
    assert [] == problems(printable(line))


def test_lines_stay_lines() -> None:
    assert "a\n\\::error::b\n  #\\#[c]\n\\x1b" == printable_lines("a\n::error::b\n  ##[c]\n\x1b")


def test_json_keeps_its_values_and_controls_nothing() -> None:
    value = {HOSTILE: [HOSTILE, "\U000e0041\u200b\x7f", "## a heading, #[1], naïve 中文 😀"]}
    shown = printable_json(json.dumps(value, ensure_ascii=False))
    assert value == json.loads(shown)
    assert [] == problems(shown)
    assert "## a heading, #[1], naïve 中文 😀" in shown


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Return what a live run prints, and the folder with what it wrote."""
    folder = tmp_path_factory.mktemp("controls")
    with provider(parrot(lambda: [HOSTILE])) as url:
        options = ("--live", f"--base-url={url}", "--record", "--cassettes=cassettes", "--results=results")
        ended = suites(*options, "-rA", "-vv", "-k", "one-tool-call", folder=folder)
    assert "pwned" in ended.stdout
    return {"printed": ended.stdout + ended.stderr, "folder": str(folder)}


@pytest.mark.slow
def test_a_live_run_prints_nothing_that_controls(printed: Mapping[str, str]) -> None:
    # With -vv, pytest names an item `::test_rule[…]`, which is not a command: it has no second `::`.
    lines = [line for line in printed["printed"].split("\n") if not line.startswith("::test_")]
    assert [] == problems("\n".join(lines))


@pytest.mark.slow
@pytest.mark.parametrize("style", ["console", "github", "json", "jsonl", "sarif", "junit"])
def test_checking_what_it_recorded_prints_nothing_that_controls(
    printed: Mapping[str, str], style: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", "--format", style, "--provider", "vllm", str(Path(printed["folder"], "cassettes"))])
    out, err = capsys.readouterr()
    assert out
    assert [] == problems(out, commands=style == "github") + problems(err)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["console", "github"])
def test_the_gate_prints_nothing_that_controls(
    printed: Mapping[str, str], style: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    baseline = tmp_path / "none.yaml"
    baseline.write_text("[]\n")
    main(["gate", "--partial", "--format", style, str(Path(printed["folder"], "results")), "--expected", str(baseline)])
    out, err = capsys.readouterr()
    assert [] == problems(out, commands=style == "github") + problems(err)
