"""Sessions of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, one record a line.

A record has `timestamp`, `type` and `payload`: `session_meta`, `turn_context` (`model`), `response_item` (an item of
Responses, of the client or the model), `compacted` (`replacement_history`), and `event_msg`, of which `error` is a
failure, `turn_aborted` an interruption, `thread_rolled_back` an undo of turns and `token_count` the end of a reply.
`codex exec` 0.169.0 stores a failure as `error` of `task_complete` instead. Before version 0.32 a line was the item
itself.

Seen in files of `codex exec` 0.169.0, run on 2026-11-24: turns with two calls, and a turn that ended with a 400.

Source: openai/codex@edb4efee49ae9f130636fab25f2e398a931dd987/codex-rs/protocol/src/protocol.rs and
openai/codex@152e7caecdc1050f186f3ec768ec5fb2cfa04923/codex-rs/protocol/src/models.rs
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.formats.records import as_object, as_objects, as_text, date_of
from conformance.formats.sessions.failing import failure, text_of
from conformance.formats.sessions.steps import Added, AgentSession, Interrupted, Refused, Replied, Step

KIND: Final = "codex"
TITLE: Final = "Codex"
_TYPES: Final = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_ITEMS: Final = (
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "web_search_call", "tool_search_call", "tool_search_output", "image_generation_call",
    "compaction", "compaction_summary",
)  # fmt: skip
_OUTPUTS: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "function_call_output",
}
"""By the type of a call that Codex answers: the type of its output."""


def holds(record: Mapping[str, Any]) -> bool:
    """Return whether a record is one of Codex."""
    if record.get("type") in _TYPES and isinstance(record.get("payload"), Mapping):
        return True
    return {"id", "timestamp", "instructions"} <= record.keys() and "type" not in record


def sessions(records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[AgentSession]:
    """Yield the conversation, in the parts that compactions and undone turns make."""
    reader = _Rollout()
    for line, record in records:
        yield from reader.add(line, record)
    yield from reader.close()


class _Rollout:
    """What was read of a session: the steps so far, and the items of the reply that is not complete yet."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._reply: list[Mapping[str, Any]] = []
        self._line: int | None = None
        self._waiting: dict[str, str] = {}
        self._name = self._provider = self._model = self._date = ""

    def add(self, line: int, record: Mapping[str, Any]) -> Iterator[AgentSession]:
        """Add a record; yield the conversation that it ends."""
        kind, payload = record.get("type"), as_object(record.get("payload"))
        self._date = date_of(record.get("timestamp")) or self._date
        if kind == "session_meta":
            # A fork repeats the first record of the session that it continues.
            self._name = self._name or as_text(payload.get("id"))
            self._provider = self._provider or as_text(payload.get("model_provider"))
        elif kind == "turn_context":
            self._end_reply()
            self._model = as_text(payload.get("model")) or self._model
        elif kind == "compacted":
            yield from self._compacted(payload)
        elif kind == "event_msg":
            yield from self._event(line, payload)
        else:
            self._item(line, payload if kind == "response_item" else record)

    def close(self) -> Iterator[AgentSession]:
        """Yield the conversation so far."""
        self._end_reply()
        yield AgentSession("responses", tuple(self._steps), self._name, self._provider)
        self._steps, self._waiting = [], {}

    def _item(self, line: int, item: Mapping[str, Any]) -> None:
        kind = as_text(item.get("type"))
        if kind not in _ITEMS:
            return
        is_asked = kind.endswith("_output") or (kind == "message" and item.get("role") != "assistant")
        if not is_asked:
            self._line = line if self._line is None else self._line
            self._reply.append(item)
            return
        self._end_reply()
        if kind in _OUTPUTS.values():
            self._waiting.pop(as_text(item.get("call_id")), None)
        else:
            self._answer()
        self._steps.append(Added((item,), line))

    def _end_reply(self) -> None:
        if not self._reply:
            return
        self._answer()
        body = {"object": "response", "output": self._reply}
        self._steps.append(Replied(tuple(self._reply), body, self._line, self._model, self._date))
        calls = [(as_text(item.get("call_id")), _OUTPUTS.get(as_text(item.get("type")), "")) for item in self._reply]
        self._waiting = {call: kind for call, kind in calls if call and kind}
        self._reply, self._line = [], None

    def _answer(self) -> None:
        """Add the outputs of calls that were interrupted: Codex sends `aborted` for each."""
        if self._waiting:
            results = [{"type": kind, "call_id": call, "output": "aborted"} for call, kind in self._waiting.items()]
            self._steps.append(Interrupted(tuple(results)))
            self._waiting = {}

    def _event(self, line: int, payload: Mapping[str, Any]) -> Iterator[AgentSession]:
        kind = payload.get("type")
        if kind in ("token_count", "turn_aborted", "task_complete", "turn_complete", "user_message"):
            self._end_reply()
            self._failed(line, as_object(payload.get("error")))
        elif kind in ("error", "stream_error"):
            self._end_reply()
            self._failed(line, payload)
        elif kind == "thread_rolled_back":
            turns = payload.get("num_turns")
            self._end_reply()
            kept = _without_turns(self._steps, turns if isinstance(turns, int) else 0)
            yield from self.close()
            self._steps = [Added(tuple(item for step in kept for item in _items(step)))]

    def _failed(self, line: int, error: Mapping[str, Any]) -> None:
        """Add a failure once: the end of a turn may repeat the event before it."""
        found = failure(text_of(error.get("message", "")), _status(error))
        if found is not None and not (self._steps and isinstance(self._steps[-1], Refused)):
            self._steps.append(Refused(*found, line, self._model, self._date))

    def _compacted(self, payload: Mapping[str, Any]) -> Iterator[AgentSession]:
        yield from self.close()
        history = payload.get("replacement_history")
        items = as_objects(history)
        text = as_text(payload.get("message"))
        if not items and text:
            items = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]
        if items:
            self._steps = [Added(tuple(items))]


def _items(step: Step) -> tuple[Mapping[str, Any], ...]:
    return () if isinstance(step, Refused) else tuple(step.items)


def _status(payload: Mapping[str, Any]) -> Any:
    """Return the status in the details of an error: `{"unauthorized": {…}}` or `{"…": {"http_status_code": 400}}`."""
    details = as_object(payload.get("codex_error_info"))
    return next(
        (as_object(each).get("http_status_code") for each in details.values() if isinstance(each, Mapping)), None
    )


def _without_turns(steps: list[Step], turns: int) -> list[Step]:
    """Return the steps before the last turns; a turn begins with what the user says."""
    at = len(steps)
    while turns > 0 and at > 0:
        at -= 1
        step = steps[at]
        is_begin = isinstance(step, Added) and any(item.get("role") == "user" for item in step.items)
        turns -= is_begin
    return steps[:at]
