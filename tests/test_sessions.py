"""Sessions of agents: recognized by content, healthy ones without findings, broken ones with the finding that fits."""

import json
import os
import re
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from conformance.errors import InvalidDocument
from conformance.files import Task, check_paths
from conformance.formats import Input, read_path
from conformance.formats.sessions import databases
from tests import planted
from tests.planted import AGENTS, FORMER, WRONG

WRITERS = [*AGENTS.values(), *FORMER]
FAILING = [
    planted.claude_code,
    planted.codex,
    planted.opencode,
    planted.qwen_code,
    planted.cline,
    planted.goose,
    planted.pi,
]


def found(path: Path) -> list[str]:
    """Return the ids of the rules with findings in a file."""
    reports = [report for checked in check_paths([str(path)], Task(), list) for report in checked]
    assert [] == [report.report["error"] for report in reports if "error" in report.report]
    return [each["rule"] for report in reports for each in report.report["outcomes"] if each["findings"]]


def read(path: Path) -> list[Input]:
    return list(read_path(path))


@pytest.mark.parametrize("write", WRITERS)
def test_a_healthy_session_is_recognized_and_has_no_findings(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write(tmp_path, "call_3")
    (given,) = read(path)
    kind = next(name for name in AGENTS if write.__name__.startswith(name))
    assert (kind, None) == (given.kind, given.problem)
    replies = [exchange for exchange in given.conversation if exchange.status is None]
    assert len(replies) == len(given.conversation) >= 3
    assert [] == found(path)


@pytest.mark.parametrize("write", WRITERS)
def test_a_broken_session_has_a_finding(write: Callable[..., Path], tmp_path: Path) -> None:
    rules = found(write(tmp_path, WRONG))
    expected = "tool-calls/id-unique" if "opencode" in write.__name__ else "transcript/result-answers-call"
    if write.__name__.startswith("gemini"):
        expected = "transcript/"
    assert [rule for rule in rules if rule.startswith(expected)]


@pytest.mark.parametrize("write", FAILING)
def test_a_failure_is_an_exchange_with_status_and_body(write: Callable[..., Path], tmp_path: Path) -> None:
    (given,) = read(write(tmp_path, WRONG))
    (failed,) = [exchange for exchange in given.conversation if exchange.status is not None]
    assert (400, planted.REFUSAL) == (failed.status, failed.response)
    assert failed.request


def test_a_session_is_known_by_its_content_alone(tmp_path: Path) -> None:
    for write in WRITERS:
        path = write(tmp_path / write.__name__, "call_3")
        # The files of storage and of tasks belong together.
        if write not in {planted.opencode_storage, planted.cline}:
            other = path.rename(tmp_path / f"other{path.suffix}")
            assert [read(other)[0].kind] == [name for name in AGENTS if write.__name__.startswith(name)]


def test_a_finding_names_the_line_of_the_reply(tmp_path: Path) -> None:
    (given,) = read(planted.claude_code(tmp_path, WRONG))
    assert (4, 10, 12, 13) == given.lines


def test_a_compacted_session_is_two_conversations(tmp_path: Path) -> None:
    record = planted.claude_record
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s1", "parentUuid": None}
    text = [{"type": "text", "text": "Yes."}]
    records = [
        record(0, "user", "Read."),
        record(1, "assistant", planted.use("call_1")),
        record(2, "user", planted.answer("call_1")),
        record(3, "assistant", text),
        {**boundary, "logicalParentUuid": "u3"},
        record(4, "user", "Summary of what was read.", parentUuid="b", isCompactSummary=True),
        record(5, "assistant", text),
    ]
    path = planted.lines(tmp_path / "s.jsonl", records)
    assert [2, 1] == [len(given.conversation) for given in read(path)]
    assert [] == found(path)


def test_subagents_and_rewound_records_are_no_part_of_the_conversation(tmp_path: Path) -> None:
    record = planted.claude_record
    text = [{"type": "text", "text": "Yes."}]
    records = [
        record(0, "user", "Read."),
        record(1, "assistant", planted.use("call_1")),
        {**record(5, "user", "Look.", isSidechain=True), "parentUuid": None},
        record(6, "assistant", text, isSidechain=True),
        record(2, "user", planted.answer("call_1")),
        record(3, "assistant", planted.use("call_2")),
        # The user went back before the second call.
        record(4, "user", "Stop.", parentUuid="u2"),
        {**record(8, "assistant", text), "parentUuid": "u4"},
    ]
    path = planted.lines(tmp_path / "s.jsonl", records)
    assert [2, 1] == [len(given.conversation) for given in read(path)]
    assert [] == found(path)


def test_a_call_that_the_user_interrupted_is_answered_by_the_agent(tmp_path: Path) -> None:
    record = planted.claude_record
    stop = [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
    records = [
        record(0, "user", "Read."),
        record(1, "assistant", planted.use("call_1")),
        record(2, "user", stop),
        record(3, "user", "Go on."),
        record(4, "assistant", [{"type": "text", "text": "Yes."}]),
    ]
    assert [] == found(planted.lines(tmp_path / "s.jsonl", records))
    rules = found(planted.lines(tmp_path / "t.jsonl", [*records[:2], record(2, "user", "Go on."), *records[3:]]))
    assert ["transcript/calls-answered"] == rules


def test_a_line_that_was_cut_off_is_noted_and_the_others_are_read(tmp_path: Path) -> None:
    path = planted.codex(tmp_path, "call_3")
    path.write_text(path.read_text("utf-8") + '{"timestamp": "2026-02', "utf-8")
    (given,) = read(path)
    assert "skipped, lines that are not JSON objects (1 times)" == given.notes[0]
    assert 3 == len(given.conversation)


def test_records_that_point_at_each_other_end(tmp_path: Path) -> None:
    records = [planted.claude_record(0, "user", "Hi."), planted.claude_record(1, "assistant", [{"type": "text"}])]
    records[0]["parentUuid"] = "u1"
    assert 1 == len(read(planted.lines(tmp_path / "s.jsonl", records)))


def test_a_database_with_other_tables_is_not_recognized(tmp_path: Path) -> None:
    path = planted.database(tmp_path / "a.db", "CREATE TABLE threads (id TEXT)", {})
    damaged = tmp_path / "b.db"
    damaged.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    for file in (path, damaged):
        (report,) = [each.report for checked in check_paths([str(file)], Task(), list) for each in checked]
        assert "database" in report["error"]


def test_a_folder_of_an_agent_is_checked_without_its_other_files(tmp_path: Path) -> None:
    planted.claude_code(tmp_path, "call_3")
    planted.value(tmp_path / ".claude/settings.json", {"model": "opus"})
    planted.lines(tmp_path / ".claude/history.jsonl", [{"display": "hi", "project": "/w"}] * 3)
    planted.value(tmp_path / ".claude/todos/1.json", [])
    (tmp_path / ".claude/plugins").mkdir()
    (tmp_path / ".claude/plugins/tsconfig.json").write_text('{"a": 1, // no JSON\n}', "utf-8")
    (tmp_path / ".claude/empty.jsonl").touch()
    for jobs in (1, 2):
        checked = list(check_paths([str(tmp_path / ".claude")], Task(), list, jobs))
        kinds = sorted(each.report["kind"] or each.report["error"] for some in checked for each in some)
        assert ["claude_code", *["unrecognized"] * 5] == kinds


def test_the_failure_of_a_session_names_its_status(tmp_path: Path) -> None:
    records = [planted.claude_record(0, "user", "Hi.")]
    for number, (status, text) in enumerate(
        [
            (529, 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
            (400, "Prompt is too long"),
            (401, "Invalid API key · Please run /login"),
            (None, "API Error: Request was aborted."),
        ]
    ):
        content = [{"type": "text", "text": text}]
        failed = planted.claude_record(1, "assistant", content, isApiErrorMessage=True)
        (given,) = read(planted.lines(tmp_path / f"{number}.jsonl", [*records, failed]))
        assert ([status] if status else []) == [exchange.status for exchange in given.conversation]
        assert not status or json.dumps(given.conversation[0].response)


def test_a_session_of_the_cline_cli_holds_its_failure_as_a_message(tmp_path: Path) -> None:
    error = {"displayOnly": True, "displayRole": "error"}
    info = {"id": "deepseek-v4-flash", "provider": "deepseek"}
    messages = [
        {"id": "1", "role": "user", "content": [{"type": "text", "text": "Read."}], "ts": planted.MILLISECONDS},
        {"id": "2", "role": "assistant", "content": [{"type": "text", "text": "Yes."}], "modelInfo": info},
        {"id": "3", "role": "user", "content": [{"type": "text", "text": "Go on."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "400 Bad Request"}], "metadata": error},
    ]
    session = {"version": 1, "updated_at": planted.DAY, "agent": "lead", "sessionId": "s", "messages": messages}
    (given,) = read(planted.value(tmp_path / ".cline/data/sessions/s/s.messages.json", session))
    assert ("cline", [None, 400]) == (given.kind, [exchange.status for exchange in given.conversation])


def test_a_file_of_other_lines_in_a_folder_is_skipped_as_a_whole(tmp_path: Path) -> None:
    planted.pi(tmp_path, "call_3")
    planted.lines(tmp_path / "other.jsonl", [{"display": "hi", "project": "/w"}] * 3)
    for jobs in (1, 2):
        checked = [
            each.report
            for some in check_paths([str(tmp_path / ".pi"), str(tmp_path)], Task(), list, jobs)
            for each in some
        ]
        assert ["pi", "unrecognized"] == [each["kind"] for each in checked]


def is_read(path: Path) -> bool:
    """Return whether a file is read, or refused by an error of its own."""
    with suppress(InvalidDocument):
        list(read_path(path))
    return True


def test_values_of_the_wrong_type_raise_nothing(tmp_path: Path) -> None:
    for write in (each for each in WRITERS if each not in {planted.opencode, planted.goose, planted.zed}):
        path = write(tmp_path / write.__name__, WRONG)
        text = path.read_text("utf-8")
        strings = sorted(set(re.findall(r'"[a-z_A-Z0-9]+"(?=[,}\]])', text)))
        for string in strings[::2]:
            for junk in ("[[]]", '{"a": 1}', "null", "1.5"):
                path.write_text(text.replace(string, junk), "utf-8")
                assert is_read(path)


def test_an_interrupt_while_a_database_is_read_ends_the_run(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE session (id)")

    def interrupted() -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return 0

    def read() -> None:
        with databases.opened(path) as (database, _):
            database.set_progress_handler(interrupted, 1)
            list(database.execute("SELECT id FROM session"))

    with pytest.raises(KeyboardInterrupt):
        read()
