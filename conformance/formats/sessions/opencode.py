"""Sessions of opencode: the database `~/.local/share/opencode/opencode.db`, the older folder `storage`, and exports.

Kilo Code is built on opencode since version 7, and keeps the same in `~/.local/share/kilo/kilo.db`.

A session has messages, and a message has parts. In the database, `message` and `part` hold each as JSON in `data`; in
the folder each is a file; `opencode export` prints one object with `info` and `messages`. A reply is the parts from one
`step-start` to the next: `reasoning`, `text` and `tool`, whose `state` holds the result. `error` of a message, and
`retry` parts, are failures. A `compaction` part begins a new history. opencode itself sends a result for a call
that has none.

Seen in databases and exports of opencode 1.18.33 and Kilo CLI 7.7.7, run on 2026-11-24: parallel calls, and a turn that
ended with a 400.

Source: anomalyco/opencode@007a9409bafea06d6b9084ff1f6d1fe9f5e3a803/packages/opencode/src/session/message-v2.ts,
anomalyco/opencode@063e8306d9895af9bdd175306cfa4fa3291fd83a/packages/opencode/src/session/session.sql.ts and
anomalyco/opencode@17db7910ca526a40e610f6c3ae4e0db895cecbc7/packages/opencode/src/storage/storage.ts
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.documents import BOUNDS
from conformance.formats import rebuilt
from conformance.formats.records import as_object, as_objects, as_text, date_of
from conformance.formats.sessions.chat import only, reply
from conformance.formats.sessions.databases import parsed, rows
from conformance.formats.sessions.failing import failure
from conformance.formats.sessions.steps import Added, AgentSession, Interrupted, Refused, Step

KIND: Final = "opencode"
TITLE: Final = "opencode, Kilo CLI"
TABLES: Final = {"session": ("id", "time_updated"), "message": ("id", "session_id", "data"), "part": ("message_id",)}
_INTERRUPTED: Final = "[Tool execution was interrupted]"
_MAX_FILES: Final = 20_000
_SAME: Final = "skipped, a part of a session in the folder of opencode, which is checked by its file in storage/session"


class _Message(NamedTuple):
    info: Mapping[str, Any]
    parts: Sequence[Mapping[str, Any]]


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is an export, or the file of a session, a message or a part."""
    info = as_object(value.get("info"))
    if isinstance(value.get("messages"), list):
        return str(info.get("id", "")).startswith("ses") and "time" in info
    name = str(value.get("id", ""))
    if name.startswith("ses"):
        return {"title", "time", "version"} <= value.keys()
    return name.startswith(("msg", "prt")) and "sessionID" in value


def of_value(value: Mapping[str, Any], path: str) -> Iterator[AgentSession]:
    """Yield the conversation of an export, or of the files that belong to the file of a session."""
    if isinstance(value.get("messages"), list):
        listed = as_objects(value["messages"])
        messages = [_Message(as_object(each.get("info")), as_objects(each.get("parts"))) for each in listed]
        yield from _sessions(messages, as_text(as_object(value.get("info")).get("id")))
    elif str(value.get("id")).startswith("ses"):
        yield from _sessions(_files(Path(path), as_text(value.get("id"))), as_text(value.get("id")))
    else:
        yield AgentSession("chat", (), "", "", (_SAME,))


def of_database(database: sqlite3.Connection) -> Iterator[AgentSession]:
    """Yield the conversations of the database, newest first."""
    for (name,) in rows(database, "SELECT id FROM session ORDER BY time_updated DESC"):
        parts: dict[Any, list[Mapping[str, Any]]] = {}
        query = (
            "SELECT part.message_id, part.data FROM part JOIN message ON message.id = part.message_id"
            " WHERE message.session_id = ? ORDER BY part.id"
        )
        for message, data in rows(database, query, (name,)):
            parts.setdefault(message, []).append(as_object(parsed(data)))
        infos = rows(database, "SELECT id, data FROM message WHERE session_id = ? ORDER BY id", (name,))
        messages = [_Message(as_object(parsed(data)), parts.get(message, ())) for message, data in infos]
        yield from _sessions(messages, as_text(name))


def _files(path: Path, name: str) -> list[_Message]:
    """Return the messages of a session in the folder of storage; ids there are in the order of time."""
    storage = next((each for each in path.absolute().parents if each.name == "storage"), None)
    if storage is None or not name.isidentifier():
        return []
    messages = []
    for file in sorted((storage / "message" / name).glob("*.json"))[:_MAX_FILES]:
        parts = [_read(each) for each in sorted((storage / "part" / file.stem).glob("*.json"))[:_MAX_FILES]]
        messages.append(_Message(_read(file), parts))
    return messages


def _read(file: Path) -> Mapping[str, Any]:
    try:
        return as_object(parsed(file.read_bytes()) if file.stat().st_size <= BOUNDS.bytes else None)
    except OSError:
        return {}


def _sessions(messages: Sequence[_Message], name: str) -> Iterator[AgentSession]:
    steps: list[Step] = []
    provider = only([each.info.get("providerID") for each in messages])
    for message in messages:
        if message.info.get("role") == "assistant":
            steps += _replies(message)
            continue
        if any(part.get("type") == "compaction" for part in message.parts):
            yield AgentSession("chat", tuple(steps), name, provider)
            steps = []
        if text := _text(message.parts):
            steps.append(Added(({"role": "user", "content": text},)))
    yield AgentSession("chat", tuple(steps), name, provider)


def _text(parts: Sequence[Mapping[str, Any]]) -> str:
    texts = [as_text(part.get("text")) for part in parts if part.get("type") == "text" and not part.get("ignored")]
    files = ["(file)" for part in parts if part.get("type") == "file"]
    asked = ["What did we do so far?" for part in parts if part.get("type") == "compaction"]
    return "\n".join([*filter(None, texts), *files, *asked])


def _replies(message: _Message) -> Iterator[Step]:
    """Yield the replies of a message, each with the results of its calls, and the failures between and after them."""
    info, step = message.info, list[Mapping[str, Any]]()
    model, date = as_text(info.get("modelID")), date_of(as_object(info.get("time")).get("created"))
    for part in message.parts:
        if part.get("type") == "step-start":
            yield from _reply(step, model, date)
            step = []
        elif part.get("type") == "retry":
            yield from _failed(as_object(part.get("error")), model, date)
        else:
            step.append(part)
    error = as_object(info.get("error"))
    # A reply that failed on its way was not complete, and is not sent back unless it holds something.
    yield from _reply(step, model, date)
    yield from _failed(error, model, date)


def _reply(parts: Sequence[Mapping[str, Any]], model: str, date: str) -> Iterator[Step]:
    texts = [as_text(part.get("text")) for part in parts if part.get("type") == "text"]
    thinking = [as_text(part.get("text")) for part in parts if part.get("type") == "reasoning"]
    tools = [part for part in parts if part.get("type") == "tool"]
    states = [as_object(part.get("state")) for part in tools]
    calls = [
        rebuilt.call(part.get("callID"), part.get("tool"), state.get("input") or {})
        for part, state in zip(tools, states, strict=True)
    ]
    yield from reply(texts, thinking, calls, None, model, date)
    for part, state in zip(tools, states, strict=True):
        output = state.get("output", state.get("error"))
        if state.get("status") in ("completed", "error") and output is not None:
            yield Added((rebuilt.result(part.get("callID"), output),))
        else:
            yield Interrupted((rebuilt.result(part.get("callID"), _INTERRUPTED),))


def _failed(error: Mapping[str, Any], model: str, date: str) -> Iterator[Step]:
    data = as_object(error.get("data"))
    status = data.get("statusCode")
    if status is None and error.get("name") == "ProviderAuthError":
        status = 401
    # A request that was aborted has no status.
    found = failure(data.get("message"), status, parsed(data.get("responseBody")))
    if found is not None and error.get("name") != "MessageAbortedError":
        yield Refused(*found, None, model, date)
