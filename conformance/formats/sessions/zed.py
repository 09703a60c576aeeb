"""Threads of Zed: the table `threads` in `<data>/zed/threads/threads.db`, each row one JSON value, packed with zstd.

A message is `{"User": …}`, `{"Agent": …}` or `"Resume"`; that of the agent has `content` (`Text`, `Thinking`,
`ToolUse` …) and `tool_results` by the id of the call. Before version 0.3.0 it has `role`, `segments`, `tool_uses` and
`tool_results`. Zed does not send calls without a result.

Source: zed-industries/zed@0642ec7e49e2d2c06f55db8c5bb2d4eca0f5223b/crates/agent/src/db.rs and
zed-industries/zed@000e783fddd704e6a0fa2be12fe41c56c94e820c/crates/agent/src/thread.rs
"""

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.errors import InvalidDocument
from conformance.formats import rebuilt
from conformance.formats.compression import unpack
from conformance.formats.records import as_object, as_objects, as_text, date_of
from conformance.formats.sessions.chat import reply
from conformance.formats.sessions.databases import parsed, rows
from conformance.formats.sessions.failing import text_of
from conformance.formats.sessions.steps import Added, AgentSession, Step

KIND: Final = "zed"
TITLE: Final = "Zed"
TABLES: Final = {"threads": ("id", "updated_at", "data_type", "data")}
_DAMAGED: Final = "skipped, a thread that cannot be unpacked or is not JSON"


def of_database(database: sqlite3.Connection) -> Iterator[AgentSession]:
    """Yield the threads of the database, newest first; raises InvalidDocument if zstd is needed and missing."""
    for name, kind, data in rows(database, "SELECT id, data_type, data FROM threads ORDER BY updated_at DESC"):
        packed = data if isinstance(data, bytes) else str(data).encode()
        try:
            thread = parsed(unpack(packed, "threads.db") if kind == "zstd" else packed)
        except InvalidDocument as error:
            if "needs a library" in error.message:
                raise
            thread = None
        if isinstance(thread, dict):
            yield _session(thread, as_text(name))
        else:
            yield AgentSession("chat", (), as_text(name), "", (_DAMAGED,))


def _session(thread: Mapping[str, Any], name: str) -> AgentSession:
    model = as_object(thread.get("model"))
    steps: list[Step] = []
    listed = thread.get("messages")
    for message in listed if isinstance(listed, list) else ():
        steps += _steps(message, as_text(model.get("model")), date_of(thread.get("updated_at")))
    return AgentSession("chat", tuple(steps), name, as_text(model.get("provider")))


def _steps(message: Any, model: str, date: str) -> Iterator[Step]:
    if message == "Resume":
        yield Added(({"role": "user", "content": "Continue where you left off"},))
        return
    given = as_object(message)
    if "User" in given:
        text = _texts(as_object(given["User"]).get("content"))
        if text:
            yield Added(({"role": "user", "content": text},))
    elif "Agent" in given:
        agent = as_object(given["Agent"])
        blocks = as_objects(agent.get("content"))
        uses = [as_object(each.get("ToolUse")) for each in blocks if "ToolUse" in each]
        thinking = [as_text(as_object(each.get("Thinking")).get("text")) for each in blocks]
        yield from _agent(_texts(blocks), thinking, uses, [*as_object(agent.get("tool_results")).values()], model, date)
    elif given.get("role") == "user":
        yield Added(({"role": "user", "content": _segments(given, "text") or "(empty)"},))
    elif given.get("role") == "assistant":
        thinking = [_segments(given, "thinking")]
        uses, results = (as_objects(given.get(key)) for key in ("tool_uses", "tool_results"))
        yield from _agent(_segments(given, "text"), thinking, uses, results, model, date)


def _agent(
    text: str, thinking: list[str], uses: list[Mapping[str, Any]], results: list[Any], model: str, date: str
) -> Iterator[Step]:
    found = [as_object(each) for each in results]
    answered = {as_text(each.get("tool_use_id")) for each in found}
    sent = [each for each in uses if as_text(each.get("id")) in answered]
    # With fewer results than calls some were cancelled; with results of other calls, none of them can be dropped.
    calls = uses if answered - {as_text(each.get("id")) for each in uses} else sent
    made = [rebuilt.call(each.get("id"), each.get("name"), each.get("input")) for each in calls]
    yield from reply([text], thinking, made, None, model, date)
    if found:
        yield Added([rebuilt.result(each.get("tool_use_id"), _content(each.get("content"))) for each in found])


def _content(content: Any) -> str:
    items = content if isinstance(content, list) else [content]
    return text_of(
        [
            {"text": each.get("Text", each.get("text"))} if isinstance(each, Mapping) else {"text": each}
            for each in items
        ]
    )


def _texts(blocks: Any) -> str:
    found = [
        as_text(each.get("Text")) or as_text(as_object(each.get("Mention")).get("content"))
        for each in as_objects(blocks)
    ]
    return "\n".join([each for each in found if each])


def _segments(message: Mapping[str, Any], kind: str) -> str:
    listed = as_objects(message.get("segments"))
    return "\n".join([as_text(each.get("text")) for each in listed if each.get("type") == kind])
