"""`conformance doctor`: finds the sessions of every agent in a home folder, and neither writes nor sends anything."""

import json
import os
import socket
from pathlib import Path

import pytest

from conformance.cli import main
from tests import planted
from tests.planted import AGENTS, WRONG

SECRET = "sk-ant-api03-" + "q7Zk2Lw9" * 4


def doctor(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["doctor", *arguments])
    return code, capsys.readouterr().out


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def test_every_agent_with_a_healthy_session_is_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for write in AGENTS.values():
        write(tmp_path, "call_3")
    code, out = doctor(capsys, "--home", str(tmp_path), "--format", "json")
    agents = json.loads(out)["agents"]
    assert 0 == code
    assert sorted(AGENTS) == sorted(each["agent"] for each in agents)
    assert {(1, 0, "{}")} == {(each["sessions"], each["broken"], json.dumps(each["findings"])) for each in agents}


def test_every_broken_session_is_found_and_nothing_is_written_or_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for write in AGENTS.values():
        write(tmp_path, WRONG)
    before = snapshot(tmp_path)
    monkeypatch.setattr(socket, "socket", None)
    code, out = doctor(capsys, "--home", str(tmp_path), "--format", "json")
    assert 1 == code
    for each in json.loads(out)["agents"]:
        assert (each["agent"], 1, 1) == (each["agent"], each["sessions"], each["broken"])
        worst = each["worst"][0]
        # An id that occurs again breaks some hosts only.
        assert ("SHOULD" if "opencode" == each["agent"] else "MUST") == worst["level"]
        assert worst["place"].startswith(str(tmp_path))
        assert worst["fix"]
        assert 1 <= len(each["worst"]) <= 3
    assert before == snapshot(tmp_path)


def test_the_table_names_agents_rules_places_and_fixes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = planted.codex(tmp_path, WRONG)
    planted.pi(tmp_path, "call_3")
    code, out = doctor(capsys, "--home", str(tmp_path))
    assert 1 == code
    assert "Codex" in out.splitlines()[1]
    assert "transcript/result-answers-call (1)" in out
    assert f"  {path}:11: transcript/result-answers-call MUST at /2/request/input/" in out
    assert "    fix: " in out
    assert "2 sessions, 1 broken; nothing was sent, and no session was changed" == out.splitlines()[-1]


def test_what_is_left_out_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = planted.codex(tmp_path, WRONG)
    os.utime(first, (1_700_000_000, 1_700_000_000))
    planted.lines(first.with_name("rollout-2.jsonl"), map(json.loads, first.read_text("utf-8").splitlines()))
    code, out = doctor(capsys, "--home", str(tmp_path), "--limit", "1", "--format", "json")
    (agent,) = json.loads(out)["agents"]
    assert (1, 1, {"beyond --limit": 1}) == (code, agent["sessions"], agent["left_out"])
    code, out = doctor(capsys, "--home", str(tmp_path), "--since", "30")
    assert "left out, files of Codex: 1 older than --since" in out


def test_no_session_is_not_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (5, "no sessions of agents found\n") == doctor(capsys, "--home", str(tmp_path))
    planted.lines(tmp_path / ".claude/projects/p/a.jsonl", [{"other": 1}])
    code, out = doctor(capsys, "--home", str(tmp_path))
    assert 5 == code
    assert "left out, files of Claude Code: 1 not understood" in out
    assert 2 == doctor(capsys, "--home", str(tmp_path / "absent"))[0]


def test_the_variables_of_agents_are_followed_unless_a_home_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    planted.claude_code(tmp_path / "a", "call_3")
    (tmp_path / "b").mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "a/.claude"))
    monkeypatch.setenv("HOME", str(tmp_path / "b"))
    assert 0 == doctor(capsys)[0]
    assert 5 == doctor(capsys, "--home", str(tmp_path / "b"))[0]


def test_secrets_are_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [
        planted.claude_record(0, "user", "Hi."),
        planted.claude_record(1, "assistant", planted.use("call_1")),
        planted.claude_record(2, "user", planted.answer(SECRET)),
        planted.claude_record(3, "assistant", [{"type": "text", "text": "Yes."}]),
    ]
    planted.lines(tmp_path / ".claude/projects/p/s.jsonl", records)
    for form in ("text", "json"):
        code, out = doctor(capsys, "--home", str(tmp_path), "--format", form)
        assert 1 == code
        assert SECRET not in out
