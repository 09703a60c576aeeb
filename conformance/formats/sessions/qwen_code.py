"""Sessions of Qwen Code: `~/.qwen/projects/<project>/chats/<session>.jsonl`, one record a line, linked by `parentUuid`.

A record of type `user`, `assistant` or `tool_result` has a `message` in the form of Gemini (`role`, `parts`), whatever
wire was spoken. A `system` record has a `subtype`: `chat_compression` replaces the history by its `compressedHistory`,
`ui_telemetry` holds failures among others. Before version 0.3, its files were those of Gemini CLI.

Seen in files of Qwen Code 0.15.10, run on 2026-11-24 with `-p`: parallel calls, and a turn that ended with a 400.

Source: QwenLM/qwen-code@015346f1d5d7312fddaf84a7ef1f83c7d217d389/packages/core/src/services/chatRecordingService.ts
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.formats.records import as_object, as_objects, as_text, date_of
from conformance.formats.sessions.failing import failure
from conformance.formats.sessions.steps import Added, AgentSession, Refused, Replied, Step

KIND: Final = "qwen_code"
TITLE: Final = "Qwen Code"
_TYPES: Final = ("user", "assistant", "tool_result", "system")


def holds(record: Mapping[str, Any]) -> bool:
    """Return whether a record is one of Qwen Code: it is like that of Claude Code, but its message has parts."""
    if record.get("type") not in _TYPES or not {"uuid", "parentUuid", "sessionId"} <= record.keys():
        return False
    return "parts" in as_object(record.get("message")) or "systemPayload" in record


def sessions(records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[AgentSession]:
    """Yield the conversation on the way from the last record to the first, in the parts that compressions make."""
    known = {as_text(record.get("uuid")): (line, record) for line, record in records if record.get("uuid")}
    steps: list[Step] = []
    name = ""
    for line, record in _way(known):
        name = as_text(record.get("sessionId")) or name
        payload = as_object(record.get("systemPayload"))
        history = payload.get("compressedHistory")
        if record.get("type") != "system":
            steps += _spoken(record, line)
        elif record.get("subtype") == "chat_compression" and isinstance(history, list):
            yield AgentSession("gemini", tuple(steps), name)
            steps = [Added(as_objects(history))]
        else:
            steps += _failed(as_object(payload.get("uiEvent")), record, line)
    yield AgentSession("gemini", tuple(steps), name)


def _way(known: Mapping[str, tuple[int, Mapping[str, Any]]]) -> Sequence[tuple[int, Mapping[str, Any]]]:
    """Return the records from the first one to the last, without those that were rewound; a circle ends it."""
    way: dict[str, None] = {}
    leaf = next(reversed(list(known)), "")
    while leaf in known and leaf not in way:
        way[leaf] = None
        leaf = as_text(known[leaf][1].get("parentUuid"))
    return [known[each] for each in reversed(way)]


def _spoken(record: Mapping[str, Any], line: int) -> Iterator[Step]:
    message = as_object(record.get("message"))
    if not message.get("parts"):
        return
    if message.get("role") == "model":
        body = {"candidates": [{"index": 0, "content": message}]}
        yield Replied((message,), body, line, as_text(record.get("model")), date_of(record.get("timestamp")))
    else:
        yield Added((message,), line)


def _failed(event: Mapping[str, Any], record: Mapping[str, Any], line: int) -> Iterator[Step]:
    if not as_text(event.get("event.name")).endswith("api_error"):
        return
    text = as_text(event.get("error_message")) or as_text(event.get("error"))
    found = failure(text, event.get("status_code"), is_call=True)
    if found is not None:
        yield Refused(*found, line, as_text(event.get("model")), date_of(record.get("timestamp")))
