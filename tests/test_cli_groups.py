"""The groups of commands: the folders are their registry, and a name that is not in it gets an answer that helps."""

import re
import shutil
from pathlib import Path

import pytest

from conformance.cli import _registry, main
from tests.checking import ROOT

GROUPS = {
    "traffic": ["check", "convert", "doctor", "explain", "prepare", "scrub", "shrink"],
    "clients": ["adapter", "gateway", "proxy", "serve"],
    "providers": ["engine", "provider"],
    "results": ["evidence", "gate", "report"],
}
ACTIONS = {
    "adapter": ["bisect", "install", "issue", "list", "matrix", "run", "timeline"],
    "gateway": ["issue", "list", "matrix", "run"],
    "engine": ["drift", "install", "list", "record", "run"],
    "provider": ["compare", "diff", "discover", "new", "record", "replay", "validate", "watch"],
    "evidence": ["add", "calibrate", "candidates", "check", "fetch", "list", "sources"],
    "report": ["badge", "diff", "statement"],
    "report statement": ["make", "verify"],
}
SAVED = {"report": "--check"}
"""Commands with actions that do something without one, and an option of theirs."""

FOLDER = ROOT / "conformance" / "cli"


def under(heading: str, shown: str) -> list[str]:
    """Return the names that help lists under a heading."""
    listed = shown.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def test_the_help_has_four_groups_and_nothing_else_at_the_top_level(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["--help"])
    shown = capsys.readouterr().out
    headings = re.findall(r"^(\S.*):$", shown, re.MULTILINE)
    assert [*GROUPS, "options", "examples", "exit codes"] == headings
    assert GROUPS == {group: under(group, shown) for group in GROUPS}


def test_a_line_of_the_help_is_the_first_line_of_the_docstring(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["--help"])
    first = (FOLDER / "providers" / "provider" / "__init__.py").read_text("utf-8").splitlines()[0].strip('"')
    assert f"\n  provider  {first}\n" in capsys.readouterr().out


def test_every_command_with_actions_is_in_the_list_above() -> None:
    found = {" ".join(words): _registry.actions(words) for words in _registry.commands() if _registry.actions(words)}
    assert ACTIONS == found


@pytest.mark.parametrize("command", ACTIONS)
def test_a_command_lists_its_actions_with_a_line_each(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = command.split()
    assert 0 == main([*words, "--help"])
    shown = capsys.readouterr().out
    assert ACTIONS[command] == under("actions", shown)
    titles = [_registry.title((*words, action)) for action in ACTIONS[command]]
    assert titles == [title for title in titles if title.endswith(".") and f"  {title}\n" in shown]
    assert f"conformance {command} ACTION …\n" in shown


@pytest.mark.parametrize("command", sorted(ACTIONS.keys() - SAVED))
def test_a_command_without_its_action_prints_its_help_as_an_error(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main([*command.split(), "--help"])
    help_text = capsys.readouterr().out
    assert 2 == main(command.split())
    assert ("", help_text) == capsys.readouterr()


def test_a_command_that_does_something_alone_shows_its_own_options_beside_its_actions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for command, option in SAVED.items():
        assert 0 == main([command, "--help"])
        assert f"\n  {option} " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("record", "unknown command 'record'; did you mean engine record, provider record?"),
        ("discover", "unknown command 'discover'; did you mean provider discover?"),
        ("replay", "unknown command 'replay'; did you mean provider replay?"),
        ("replai", "unknown command 'replai'; did you mean provider replay, "),
        ("diff", "unknown command 'diff'; did you mean provider diff, report diff?"),
        ("diff-profiles", "unknown command 'diff-profiles'; did you mean provider diff, report diff?"),
        ("badge", "unknown command 'badge'; did you mean report badge?"),
        ("statement", "unknown command 'statement'; did you mean report statement?"),
        ("calibrate", "unknown command 'calibrate'; did you mean evidence calibrate?"),
        ("sources", "unknown command 'sources'; did you mean evidence sources?"),
        ("profile", "unknown command 'profile'; did you mean provider?"),
        ("list", "unknown command 'list'; did you mean adapter list, gateway list, engine list, evidence list?"),
        ("check-files", "unknown command 'check-files'; did you mean check?"),
        ("traffic", "'traffic' is a group of commands: check, convert, doctor, explain, prepare"),
        (
            "qqqq",
            "unknown command 'qqqq'; known: adapter, check, convert, doctor, engine, evidence, explain, gate",
        ),
        ("_registry", "unknown command '_registry'; known: adapter"),
        ("provider bogus", "unknown provider action 'bogus'; known: compare, diff, discover, new, record"),
        ("provider valid", "unknown provider action 'valid'; did you mean validate"),
        ("report results", "unknown report action 'results'; known: badge, diff, statement"),
        ("report statement mak", "unknown report statement action 'mak'; did you mean make?"),
        ("provider --format json", "unrecognized arguments: --format json"),
    ],
)
def test_an_unknown_name_is_answered_with_what_there_is(
    words: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(words.split())
    out, shown = capsys.readouterr()
    assert "" == out
    assert error in shown


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder of commands, which the registry reads instead."""
    shutil.copytree(FOLDER, tmp_path / "cli", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(_registry, "_FOLDER", str(tmp_path / "cli"))
    return tmp_path / "cli"


def test_a_file_or_folder_is_all_that_a_new_command_needs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "traffic" / "shrink_it.py").write_text('"""Make a case smaller."""\n')
    (folder / "providers" / "provider" / "rename.py").write_text('"""Rename a profile."""\n')
    (folder / "extras" / "wipe").mkdir(parents=True)
    (folder / "extras" / "__init__.py").write_text('"""Further commands."""\n')
    (folder / "extras" / "wipe" / "__init__.py").write_text('"""Remove secrets."""\n')
    (folder / "extras" / "wipe" / "body.py").write_text('"""Remove secrets of bodies."""\n')
    assert 0 == main(["--help"])
    shown = capsys.readouterr().out
    assert "\n  shrink-it  Make a case smaller.\n" in shown
    assert "\nextras:\n  wipe       Remove secrets.\n" in shown
    assert ("rename", ["body"]) == (_registry.actions(["provider"])[5], _registry.actions(["wipe"]))
    assert "conformance.cli.traffic.shrink_it" == _registry.module(["shrink-it"])


def test_what_is_not_a_package_is_not_a_command(folder: Path) -> None:
    before = list(_registry.commands())
    (folder / "traffic" / "_private.py").write_text('"""Nothing."""\n')
    (folder / "traffic" / "removed" / "__pycache__").mkdir(parents=True)
    (folder / "providers" / "provider" / "notes.txt").write_text("nothing")
    assert before == list(_registry.commands())
