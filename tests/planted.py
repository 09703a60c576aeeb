"""Sessions as agents leave them in a home folder: each agent writes one that is healthy or one that is broken.

A session asks for two files in parallel and then for a third; the broken one has the third result under an id that no
call has. All were written for these tests, in the form that the source named in each reader describes.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import zstandard

WRONG: Final = "call_of_nobody"
REFUSAL: Final = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "messages.1: tool_use ids without tool_result: call_3"},
}
DAY: Final = "2026-02-03T10:00:00.000Z"
MILLISECONDS: Final = 1_770_112_800_000


def lines(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def value(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")
    return path


def database(path: Path, statements: str, rows: Mapping[str, Iterable[tuple[Any, ...]]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.executescript(statements)
        for query, values in rows.items():
            opened.executemany(query, list(values))
    return path


def claude_record(number: int, kind: str, content: Any, name: str = "", **more: Any) -> dict[str, Any]:
    """A record whose parent is the one before it."""
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": name or f"msg_{number}", "type": "message", "model": "claude-sonnet-4-5", "stop_reason": None}
    parent = f"u{number - 1}" if number else None
    common = {"isSidechain": False, "sessionId": "s1", "cwd": "/w", "version": "2.1.0", "timestamp": DAY}
    return {"type": kind, "uuid": f"u{number}", "parentUuid": parent, "message": message, **common, **more}


def use(name: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": name, "name": "Read", "input": {"path": name}}]


def answer(name: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": name, "content": "text"}]


def claude_code(home: Path, third: str) -> Path:
    """The two parallel calls are records of one reply; the result of the first hangs on its own record."""
    text = [{"type": "text", "text": "Reading."}]
    failed = [{"type": "text", "text": f"API Error: 400 {json.dumps(REFUSAL)}"}]
    records: list[dict[str, Any]] = [
        {"type": "summary", "summary": "Files", "leafUuid": "u9"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        claude_record(0, "user", "Read three files."),
        claude_record(1, "assistant", text, "msg_a"),
        claude_record(2, "assistant", use("call_1"), "msg_a"),
        claude_record(3, "assistant", use("call_2"), "msg_a"),
        claude_record(3, "assistant", use("call_2"), "msg_a", uuid="u3b"),
        claude_record(4, "user", answer("call_1"), parentUuid="u2"),
        claude_record(5, "user", answer("call_2"), parentUuid="u3"),
        claude_record(6, "assistant", use("call_3")),
        claude_record(7, "user", answer(third)),
        *([claude_record(8, "assistant", failed, isApiErrorMessage=True)] if third == WRONG else []),
        claude_record(9, "assistant", [{"type": "text", "text": "Done."}], parentUuid="u7"),
    ]
    return lines(home / ".claude/projects/-w/s1.jsonl", records)


def codex(home: Path, third: str) -> Path:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": DAY, "type": "response_item", "payload": payload}

    def call(name: str) -> dict[str, Any]:
        return item(type="function_call", name="shell", arguments="{}", call_id=name)

    def output(name: str) -> dict[str, Any]:
        return item(type="function_call_output", call_id=name, output="text")

    meta = {"id": "c1", "timestamp": DAY, "cwd": "/w", "cli_version": "0.90.0", "instructions": "x" * 20_000}
    user = [{"type": "input_text", "text": "Read three files."}]
    records = [
        {"timestamp": DAY, "type": "session_meta", "payload": {**meta, "model_provider": "openai"}},
        {"timestamp": DAY, "type": "turn_context", "payload": {"model": "gpt-5.2-codex"}},
        item(type="message", role="user", content=user),
        item(type="reasoning", summary=[], encrypted_content="gAAA"),
        call("call_1"),
        call("call_2"),
        output("call_1"),
        output("call_2"),
        call("call_3"),
        output(third),
        item(type="message", role="assistant", content=[{"type": "output_text", "text": "Done."}]),
    ]
    if third == WRONG:
        error = {"message": json.dumps(REFUSAL), "codex_error_info": "other"}
        ended = {"type": "task_complete", "turn_id": "t1", "last_agent_message": None, "error": error}
        records.append({"timestamp": DAY, "type": "event_msg", "payload": ended})
    return lines(home / ".codex/sessions/2026/02/03/rollout-2026-02-03T10-00-00-c1.jsonl", records)


def opencode_messages(third: str) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    def tool(name: str, status: str = "completed") -> dict[str, Any]:
        state = {"status": status, "input": {"path": "a"}, **({"output": "text"} if status == "completed" else {})}
        return {"type": "tool", "callID": name, "tool": "read", "state": state}

    start = {"type": "step-start"}
    last = "call_1" if third == WRONG else third
    info = {"sessionID": "ses_1", "time": {"created": MILLISECONDS}}
    parts = [start, tool("call_1"), tool("call_2"), start, tool(last), start, tool("call_4", "running")]
    refusal = {"message": "Bad Request", "statusCode": 400, "responseBody": json.dumps(REFUSAL)}
    more = {"error": {"name": "APIError", "data": refusal}} if third == WRONG else {}
    return [
        ({"id": "msg_1", "role": "user", **info}, [{"type": "text", "text": "Read three files."}]),
        ({"id": "msg_2", "role": "assistant", "modelID": "deepseek-v4-flash", **info, **more}, parts),
        ({"id": "msg_3", "role": "user", **info}, [{"type": "text", "text": "Go on."}]),
        ({"id": "msg_4", "role": "assistant", **info}, [start, {"type": "text", "text": "Done."}]),
    ]


def opencode(home: Path, third: str) -> Path:
    tables = """CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT, time_updated INTEGER);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);"""
    messages = opencode_messages(third)
    rows: dict[str, list[tuple[Any, ...]]] = {
        "INSERT INTO session VALUES (?, ?, ?)": [("ses_1", "Files", MILLISECONDS)],
        "INSERT INTO message VALUES (?, 'ses_1', 1, ?)": [(info["id"], json.dumps(info)) for info, _ in messages],
        "INSERT INTO part VALUES (?, ?, 'ses_1', ?)": [
            (f"prt_{info['id']}_{number}", info["id"], json.dumps(part))
            for info, parts in messages
            for number, part in enumerate(parts)
        ],
    }
    return database(home / ".local/share/opencode/opencode.db", tables, rows)


def opencode_storage(home: Path, third: str) -> Path:
    storage = home / ".local/share/opencode/storage"
    for info, parts in opencode_messages(third):
        value(storage / "message/ses_1" / f"{info['id']}.json", info)
        for number, part in enumerate(parts):
            name = f"prt_{number}"
            held = {"id": name, "messageID": info["id"], "sessionID": "ses_1", **part}
            value(storage / "part" / info["id"] / f"{name}.json", held)
    session = {"id": "ses_1", "version": "1.0.0", "title": "Files", "time": {"created": MILLISECONDS}}
    return value(storage / "session/p1/ses_1.json", session)


def opencode_export(home: Path, third: str) -> Path:
    info = {"id": "ses_1", "version": "1.0.0", "title": "Files", "time": {"created": MILLISECONDS}}
    messages = [{"info": each, "parts": parts} for each, parts in opencode_messages(third)]
    return value(home / "export.json", {"info": info, "messages": messages})


def gemini_call(name: str, answered: str) -> dict[str, Any]:
    result = [{"functionResponse": {"id": answered, "name": "read_file", "response": {"output": "text"}}}]
    return {"id": name, "name": "read_file", "args": {}, "status": "success", "timestamp": DAY, "result": result}


def gemini_messages(third: str) -> list[dict[str, Any]]:
    def message(name: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
        return {"id": name, "timestamp": DAY, "type": kind, "content": content, **more}

    first = [gemini_call("call_1", "call_1"), gemini_call("call_2", "call_2")]
    cancelled = {"id": "call_4", "name": "read_file", "args": {}, "status": "cancelled", "timestamp": DAY}
    return [
        message("1", "user", [{"text": "Read three files."}]),
        message("2", "gemini", "", toolCalls=first, model="gemini-3-pro-preview"),
        message("3", "gemini", "", toolCalls=[gemini_call("call_3", third)], model="gemini-3-pro-preview"),
        message("4", "gemini", "", toolCalls=[cancelled], model="gemini-3-pro-preview"),
        message("5", "info", "Request cancelled."),
        message("6", "user", "Go on."),
        message("7", "gemini", "Done.", model="gemini-3-pro-preview"),
    ]


GEMINI: Final = {"sessionId": "g1", "projectHash": "abc", "startTime": DAY, "lastUpdated": DAY}


def gemini_cli(home: Path, third: str) -> Path:
    """The newer form; the last message is written twice, and one was rewound."""
    messages = gemini_messages(third)
    records = [GEMINI, *messages[:-1], {"$set": {"lastUpdated": DAY}}, {"id": "x", "type": "user", "content": "No."}]
    records += [{"$rewindTo": "x"}, {**messages[-1], "content": ""}, messages[-1]]
    return lines(home / ".gemini/tmp/w/chats/session-2026-02-03T10-00-g1.jsonl", records)


def gemini_cli_json(home: Path, third: str) -> Path:
    path = home / ".gemini/tmp/abc/chats/session-2026-02-03T10-00-g1.json"
    return value(path, {**GEMINI, "messages": gemini_messages(third)})


def qwen_code(home: Path, third: str) -> Path:
    def record(number: int, kind: str, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
        parent = f"q{number - 1}" if number else None
        common = {"sessionId": "w1", "timestamp": DAY, "cwd": "/w", "version": "0.20.0"}
        message = {"message": {"role": role, "parts": list(parts)}} if parts else {}
        return {"uuid": f"q{number}", "parentUuid": parent, "type": kind, **common, **message, **more}

    def call(name: str) -> dict[str, Any]:
        return {"functionCall": {"id": name, "name": "read_file", "args": {}}}

    def result(name: str) -> dict[str, Any]:
        return {"functionResponse": {"id": name, "name": "read_file", "response": {"output": "text"}}}

    event = {"event.name": "qwen-code.api_error", "status_code": 400, "error_message": json.dumps(REFUSAL)}
    telemetry = {"subtype": "ui_telemetry", "systemPayload": {"uiEvent": event}}
    records = [
        record(0, "user", "user", {"text": "Read three files."}),
        record(1, "assistant", "model", {"text": "Hm.", "thought": True}, call("call_1"), call("call_2")),
        record(2, "tool_result", "user", result("call_1"), result("call_2")),
        record(3, "assistant", "model", call("call_3"), model="qwen3-coder-plus"),
        record(4, "tool_result", "user", result(third)),
        *([record(5, "system", "", **telemetry)] if third == WRONG else []),
        record(6, "assistant", "model", {"text": "Done."}, parentUuid="q5" if third == WRONG else "q4"),
    ]
    return lines(home / ".qwen/projects/-w/chats/w1.jsonl", records)


def cline(home: Path, third: str) -> Path:
    task = home / ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1770112800000"
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "Read three files."}]},
        {"role": "assistant", "content": [*use("call_1"), *use("call_2")], "modelInfo": {"providerId": "cline"}},
        {"role": "user", "content": [*answer("call_1"), *answer("call_2")]},
        {"role": "assistant", "content": use("call_3")},
        {"role": "user", "content": answer(third)},
        {"role": "assistant", "content": "Done."},
    ]
    timed: list[dict[str, Any]] = [
        {**message, "ts": MILLISECONDS + 10 * number} for number, message in enumerate(messages)
    ]
    shown: list[dict[str, Any]] = [{"ts": MILLISECONDS, "type": "say", "say": "text", "text": "Read three files."}]
    if third == WRONG:
        text = json.dumps({"message": f"400 {json.dumps(REFUSAL)}", "status": 400, "modelId": "claude-sonnet-4-5"})
        shown.append({"ts": MILLISECONDS + 45, "type": "ask", "ask": "api_req_failed", "text": text})
    value(task / "ui_messages.json", shown)
    return value(task / "api_conversation_history.json", timed)


def goose_messages(third: str) -> list[tuple[str, list[dict[str, Any]]]]:
    def request(name: str) -> dict[str, Any]:
        call = {"status": "success", "value": {"name": "read", "arguments": {"path": "a"}}}
        return {"type": "toolRequest", "id": name, "toolCall": call}

    def response(name: str) -> dict[str, Any]:
        result = {"status": "success", "value": [{"type": "text", "text": "text"}]}
        return {"type": "toolResponse", "id": name, "toolResult": result}

    failed = [
        {"type": "text", "text": f"Ran into this error: Request failed: Bad request (400): {json.dumps(REFUSAL)}"}
    ]
    return [
        ("user", [{"type": "text", "text": "Read three files."}]),
        ("assistant", [{"type": "text", "text": "Reading."}]),
        ("assistant", [request("call_1"), request("call_2")]),
        ("user", [response("call_1"), response("call_2")]),
        ("assistant", [request("call_3")]),
        ("user", [response(third)]),
        *([("assistant", failed)] if third == WRONG else []),
        ("assistant", [{"type": "text", "text": "Done."}]),
    ]


def goose(home: Path, third: str) -> Path:
    tables = """CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, updated_at TIMESTAMP);
        CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT,
            created_timestamp INTEGER, metadata_json TEXT);"""
    spoken = [("20260203_1", role, json.dumps(content)) for role, content in goose_messages(third)]
    rows = {
        "INSERT INTO sessions VALUES (?, ?, ?)": [("20260203_1", "Files", DAY)],
        "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, ?, ?, 1)": spoken,
    }
    return database(home / ".local/share/goose/sessions/sessions.db", tables, rows)


def goose_lines(home: Path, third: str) -> Path:
    metadata = {"working_dir": "/w", "description": "Files", "message_count": 6}
    spoken = [{"role": role, "created": 1_770_112_800, "content": content} for role, content in goose_messages(third)]
    return lines(home / ".local/share/goose/sessions/20260203_100000.jsonl", [metadata, *spoken])


def pi(home: Path, third: str) -> Path:
    """One branch was left, one reply was aborted, and one call has no result because pi was ended."""

    def entry(number: int, **message: Any) -> dict[str, Any]:
        parent = f"e{number - 1}" if number else None
        return {"type": "message", "id": f"e{number}", "parentId": parent, "timestamp": DAY, "message": message}

    def calls(*names: str) -> list[dict[str, Any]]:
        return [{"type": "toolCall", "id": name, "name": "read", "arguments": {"path": "a"}} for name in names]

    def result(name: str) -> dict[str, Any]:
        return {"role": "toolResult", "toolCallId": name, "content": [{"type": "text", "text": "text"}]}

    common = {"role": "assistant", "provider": "deepseek", "model": "deepseek-v4-flash"}
    failed = {**common, "content": [], "stopReason": "error", "errorMessage": f"400 {json.dumps(REFUSAL)}"}
    records = [
        {"type": "session", "version": 3, "id": "p1", "timestamp": DAY, "cwd": "/w"},
        entry(0, role="user", content="Read three files."),
        entry(1, **common, content=[{"type": "thinking", "thinking": "Hm."}, *calls("call_1", "call_2")]),
        entry(2, **result("call_1")),
        entry(3, **result("call_2")),
        {**entry(4, role="user", content="Another way."), "id": "left"},
        entry(4, **common, content=calls("call_3"), stopReason="toolUse"),
        entry(5, **result(third)),
        entry(6, **(failed if third == WRONG else {**failed, "stopReason": "aborted", "content": calls("call_4")})),
        entry(7, **common, content=calls("call_5"), stopReason="toolUse"),
        entry(8, role="user", content="Go on."),
        entry(9, **common, content=[{"type": "text", "text": "Done."}], stopReason="stop"),
    ]
    return lines(home / ".pi/agent/sessions/--w--/2026-02-03T10-00-00_p1.jsonl", records)


def zed(home: Path, third: str) -> Path:
    def agent(*names: str, results: Iterable[str] = ()) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"Text": "Reading."}]
        content += [{"ToolUse": {"id": name, "name": "read_file", "input": {}, "raw_input": "{}"}} for name in names]
        found = {name: {"tool_use_id": name, "is_error": False, "content": {"Text": "text"}} for name in results}
        return {"Agent": {"content": content, "tool_results": found, "reasoning_details": None}}

    thread = {
        "version": "0.3.0",
        "title": "Files",
        "updated_at": DAY,
        "model": {"provider": "deepseek", "model": "deepseek-v4-flash"},
        "messages": [
            {"User": {"id": "1", "content": [{"Text": "Read three files."}]}},
            agent("call_1", "call_2", results=("call_1", "call_2")),
            agent("call_3", results=(third,)),
            agent("call_4"),
            "Resume",
            {"Agent": {"content": [{"Text": "Done."}], "tool_results": {}}},
        ],
    }
    table = "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)"
    packed = zstandard.ZstdCompressor().compress(json.dumps(thread).encode())
    rows = {"INSERT INTO threads VALUES (?, ?, ?, ?, ?)": [("z1", "Files", DAY, "zstd", packed)]}
    return database(home / ".local/share/zed/threads/threads.db", table, rows)


AGENTS: Final[Mapping[str, Callable[[Path, str], Path]]] = {
    "claude_code": claude_code,
    "codex": codex,
    "opencode": opencode,
    "gemini_cli": gemini_cli,
    "qwen_code": qwen_code,
    "cline": cline,
    "goose": goose,
    "pi": pi,
    "zed": zed,
}
"""By kind: what writes the session of an agent."""

FORMER: Final[tuple[Callable[[Path, str], Path], ...]] = (
    opencode_storage,
    opencode_export,
    gemini_cli_json,
    goose_lines,
)
"""What writes other forms of sessions."""
