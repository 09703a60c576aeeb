"""Sessions of Goose: the table `messages` in `~/.local/share/goose/sessions/sessions.db`, before 1.10 a file each.

A message has `role` and `content` (in the table `content_json`), a list of `text`, `thinking`, `toolRequest`,
`toolResponse` and others. The older `<session>.jsonl` begins with a line of metadata. `agentVisible: false` marks what
a compaction took out of the history. A failure is a reply that begins with `Ran into this error`; `goose run` shows it
and does not store it, see `goose_calls`.

Seen in files of Goose 1.34.0, run on 2026-11-24: two calls of one reply, which Goose stores and sends as two replies,
and a turn that ended with a 400.

Source: block/goose@0164300649cf5e4ab327105d9155779ab8bfde4b/crates/goose/src/session/session_manager.rs and legacy.rs,
crates/goose/src/conversation/message.rs beside them
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.formats import rebuilt
from conformance.formats.records import as_object, as_objects, as_text, date_of
from conformance.formats.sessions.chat import reply
from conformance.formats.sessions.databases import columns_of, parsed, rows
from conformance.formats.sessions.failing import failure, text_of
from conformance.formats.sessions.steps import Added, AgentSession, Refused, Step

KIND: Final = "goose"
TITLE: Final = "Goose"
TABLES: Final = {"sessions": ("id", "updated_at"), "messages": ("session_id", "role", "content_json")}
_FAILED: Final = "Ran into this error"
_UNSTORED: Final = "a failure may stand in ~/.local/state/goose/logs/llm_request.*.jsonl"


def holds(record: Mapping[str, Any]) -> bool:
    """Return whether a record is the metadata that begin a file."""
    return {"working_dir", "message_count"} <= record.keys() or {"working_dir", "description"} <= record.keys()


def sessions(records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[AgentSession]:
    """Yield the conversation of a file of lines."""
    spoken = [(line, record) for line, record in records if "role" in record]
    yield AgentSession("chat", tuple(steps_of(spoken)))


def of_database(database: sqlite3.Connection) -> Iterator[AgentSession]:
    """Yield the conversations of the database, newest first."""
    # The first databases have no such column.
    metadata = "metadata_json" if "metadata_json" in columns_of(database, "messages") else "NULL"
    for (name,) in rows(database, "SELECT id FROM sessions ORDER BY updated_at DESC"):
        query = f"SELECT role, content_json, {metadata} FROM messages WHERE session_id = ? ORDER BY id"  # noqa: S608
        spoken = [
            (None, {"role": role, "content": parsed(content), "metadata": parsed(more)})
            for role, content, more in rows(database, query, (name,))
        ]
        yield AgentSession("chat", tuple(steps_of(spoken)), as_text(name), unstored=_UNSTORED)


def steps_of(spoken: Iterable[tuple[int | None, Mapping[str, Any]]]) -> Iterator[Step]:
    """Yield the steps of messages; those of one reply make one step."""
    texts: list[str] = []
    thinking: list[str] = []
    calls: list[Any] = []
    at: int | None = None
    date = ""
    for line, record in spoken:
        if as_object(record.get("metadata")).get("agentVisible") is False:
            continue
        blocks = as_objects(record.get("content"))
        if record.get("role") == "assistant":
            said = [as_text(each.get("text")) for each in blocks if each.get("type") == "text"]
            if said and said[0].lstrip().startswith(_FAILED):
                found = failure("\n".join(said))
                if found is not None:
                    yield Refused(*found, line)
                continue
            # The parts of one reply may be several messages.
            at, date = at or line, date or date_of(record.get("created"))
            texts += said
            thinking += [as_text(each.get("thinking")) for each in blocks if each.get("type") == "thinking"]
            calls += [_call(each) for each in blocks if each.get("type") in ("toolRequest", "frontendToolRequest")]
            continue
        yield from reply(texts, thinking, calls, at, "", date)
        texts, thinking, calls, at, date = [], [], [], None, ""
        items = list(_items(blocks))
        if items:
            yield Added(items, line)
    yield from reply(texts, thinking, calls, at, "", date)


def _call(block: Mapping[str, Any]) -> Any:
    value = as_object(as_object(block.get("toolCall")).get("value"))
    return rebuilt.call(block.get("id"), value.get("name"), value.get("arguments") or {})


def _items(blocks: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    texts = []
    for block in blocks:
        if block.get("type") == "toolResponse":
            result = as_object(block.get("toolResult"))
            value = result.get("value", result.get("error", ""))
            yield rebuilt.result(block.get("id"), text_of(as_object(value).get("content", value)))
        elif block.get("type") == "text":
            texts.append(as_text(block.get("text")))
        elif block.get("type") == "image":
            texts.append("(image)")
    if any(texts):
        yield {"role": "user", "content": "\n".join(texts)}
