"""Smallest examples: they break the same rule, hold no secret, and are the same each time."""

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.documents.minimal import minimal
from conformance.documents.pointer import REMOVE, edit
from conformance.errors import Unusable
from conformance.formats.records import exchange
from conformance.judge import check
from conformance.results import Status
from conformance.shrinking import shrink
from conformance.shrinking.states import conversation_of, state_of
from conformance.wire.exchange import Conversation
from tests.checking import BASES, jsonl, write
from tests.checking import check as run_check
from tests.loops import every

LOST = {f"/{number}/request/messages/2/reasoning_content": REMOVE for number in (1, 2, 3)}
RESENT = "reasoning/resent-on-tool-turns"


def conversation(base: str, changes: dict[str, Any]) -> Conversation:
    return tuple(exchange(each, base) for each in edit(BASES[base], changes))


def broken(given: Conversation) -> list[str]:
    return [each.rule for each in check(given) if each.status is Status.FAILED]


@every(
    ("items", "needed"),
    [(range(10), {3, 7}), (range(10), set()), (range(1), {0}), (range(33), {0, 16, 32})],
)
def test_a_minimal_part_holds_what_is_needed(items: range, needed: set[int]) -> None:
    assert sorted(needed) == minimal(list(items), lambda some: needed <= set(some))


@every("base", sorted(BASES))
def test_a_conversation_comes_back_from_its_state(base: str) -> None:
    given = conversation(base, {})
    again = conversation_of(state_of(given))
    assert [each.request for each in given] == [each.request for each in again]
    assert broken(given) == broken(again)


def test_a_session_becomes_the_reply_and_the_request_that_lost_its_reasoning() -> None:
    shrunk = shrink(conversation("thinking-session", LOST), RESENT)
    assert [RESENT] == broken(shrunk.conversation)
    assert 2 == len(shrunk.conversation)
    assert shrunk.after.size * 3 < shrunk.before.size
    assert shrunk.is_minimal


def test_a_stream_keeps_only_the_chunks_that_show_the_fault() -> None:
    given = conversation("stream-plain", {"/0/response/1/id": "chatcmpl-other"})
    shrunk = shrink(given, "stream/chunk-id-constant")
    assert "stream/chunk-id-constant" in broken(shrunk.conversation)
    assert len(shrunk.conversation[0].response) * 2 < len(given[0].response)


def test_the_same_input_gives_the_same_example() -> None:
    first, second = (shrink(conversation("thinking-session", LOST), RESENT) for _ in range(2))
    assert first == second


def test_secrets_are_removed() -> None:
    key = "sk-" + "a1B2" * 8
    given = conversation("thinking-session", {**LOST, "/0/request/messages/0/content": f"Use {key}"})
    shrunk = shrink(given, RESENT)
    assert key not in repr(shrunk.conversation)


def test_checks_are_bounded() -> None:
    shrunk = shrink(conversation("thinking-session", LOST), RESENT, max_checks=5)
    assert 5 == shrunk.checks
    assert not shrunk.is_minimal
    assert RESENT in broken(shrunk.conversation)


def test_a_rule_that_is_not_broken_is_an_error() -> None:
    with pytest.raises(Unusable, match=r"does not break stream/id-once"):
        shrink(conversation("plain", {}), "stream/id-once")


def test_the_command_writes_a_session_that_check_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [{"session": "a", **each} for each in edit(BASES["thinking-session"], LOST)]
    path, out = write(tmp_path / "session.jsonl", jsonl(*records)), tmp_path / "smallest.jsonl"
    assert 0 == main(["shrink", str(path), "--rule", RESENT, "-o", str(out)])
    shown = capsys.readouterr().err
    assert "shrunk from 4 exchanges" in shown
    assert f"it breaks {RESENT} at /1/request/messages/" in shown
    _, report, _ = run_check("--format", "json", out)
    assert [RESENT] == [each["rule"] for each in json.loads(report)["inputs"][0]["outcomes"]]


def test_the_command_says_what_a_file_breaks_instead(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "session.json", edit(BASES["thinking-session"], LOST))
    assert 2 == main(["shrink", str(path), "--rule", "stream/id-once"])
    assert f"does not break stream/id-once; it breaks {RESENT}" in capsys.readouterr().err
