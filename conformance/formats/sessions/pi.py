"""Sessions of pi: `~/.pi/agent/sessions/<project>/<time>_<id>.jsonl`, one entry a line, linked by `parentId`.

The first line has the type `session`. An entry of type `message` holds a message of role `user`, `assistant`,
`toolResult`, `bashExecution` and others; `compaction` and `branch_summary` hold a summary. A reply whose `stopReason`
is `error` has an `errorMessage`; neither it nor one that was `aborted` is sent back. For a call without a result, pi
sends one itself. Entries of version 1 have no ids, and are in order.

Seen in files of pi 0.73.1 (version 3 of the format), run on 2026-11-24 with `-p`: parallel calls, and a turn that ended
with a 400. What they do not show (branches, compactions, aborted replies, former versions) is from its documentation.

Source: badlogic/pi-mono@83378aad7e74a0e2bb8f37c007a9685fb4609d8a/packages/coding-agent/docs/session.md and
packages/coding-agent/src/core/session-manager.ts
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.formats import rebuilt
from conformance.formats.records import as_objects, as_text, date_of
from conformance.formats.sessions.chat import only, reply
from conformance.formats.sessions.failing import failure, text_of
from conformance.formats.sessions.steps import Added, AgentSession, Interrupted, Refused, Step

KIND: Final = "pi"
TITLE: Final = "pi"
_SUMMARIES: Final = ("branch_summary", "compaction")
_DROPPED: Final = ("error", "aborted")


def holds(record: Mapping[str, Any]) -> bool:
    """Return whether a record is the first one of a session."""
    return record.get("type") == "session" and "cwd" in record and "timestamp" in record


def sessions(records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[AgentSession]:
    """Yield the conversation on the way from the last entry to the first, in the parts that compactions make."""
    entries = list(records)
    name = as_text(entries[0][1].get("id")) if entries else ""
    way = _way(entries[1:])
    start: list[Mapping[str, Any]] = []
    begin = 0
    for number, (_, entry) in enumerate(way):
        if entry.get("type") == "compaction":
            yield _session(start, way[begin:number], name)
            kept = [at for at in range(number) if way[at][1].get("id") == entry.get("firstKeptEntryId")]
            start, begin = [_summary(entry)], (kept or [number])[0]
            # What was kept is history: its replies were checked where they were made.
            start += [item for step in _steps(way[begin:number]) for item in _items(step)]
            begin = number + 1
    yield _session(start, way[begin:], name)


def _session(
    start: Sequence[Mapping[str, Any]], way: Sequence[tuple[int, Mapping[str, Any]]], name: str
) -> AgentSession:
    providers = [message.get("provider") for _, entry in way if isinstance(message := entry.get("message"), Mapping)]
    steps: tuple[Step, ...] = (Added(start), *_steps(way)) if start else tuple(_steps(way))
    return AgentSession("chat", steps, name, only(providers))


def _items(step: Step) -> Sequence[Mapping[str, Any]]:
    return () if isinstance(step, Refused) else step.items


def _way(entries: Sequence[tuple[int, Mapping[str, Any]]]) -> Sequence[tuple[int, Mapping[str, Any]]]:
    """Return the entries from the first one to the last, without other branches; a circle ends it."""
    known = {as_text(entry.get("id")): (line, entry) for line, entry in entries if entry.get("id")}
    if not known:
        return entries
    way: dict[str, None] = {}
    leaf = next(reversed(known))
    while leaf in known and leaf not in way:
        way[leaf] = None
        leaf = as_text(known[leaf][1].get("parentId"))
    return [known[each] for each in reversed(way)]


def _summary(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"role": "user", "content": as_text(entry.get("summary")) or "(summary)"}


def _steps(way: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[Step]:
    waiting: dict[str, None] = {}
    dropped: set[str] = set()
    for line, entry in way:
        message = entry.get("message")
        if as_text(entry.get("type")) in _SUMMARIES:
            yield Added((_summary(entry),), line)
        elif entry.get("type") == "custom_message":
            yield Added(({"role": "user", "content": text_of(entry.get("content"))},), line)
        elif not isinstance(message, Mapping):
            continue
        elif message.get("role") == "toolResult":
            call = as_text(message.get("toolCallId"))
            waiting.pop(call, None)
            if call not in dropped:
                yield Added((rebuilt.result(call, text_of(message.get("content"))),), line)
        elif message.get("role") == "assistant":
            calls = [as_text(each.get("id")) for each in _blocks(message) if each.get("type") == "toolCall"]
            if as_text(message.get("stopReason")) in _DROPPED:
                dropped.update(calls)
                yield from _failed(message, line) if message.get("stopReason") == "error" else ()
                continue
            yield from _unanswered(waiting)
            yield from _reply(message, line, date_of(entry.get("timestamp")))
            waiting = dict.fromkeys(calls)
        elif not message.get("excludeFromContext"):
            yield from _unanswered(waiting)
            waiting = {}
            text = message.get("content") or message.get("output") or message.get("summary") or "(empty)"
            yield Added(({"role": "user", "content": text_of(text)},), line)


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return as_objects(message.get("content"))


def _unanswered(waiting: Iterable[str]) -> Iterator[Step]:
    if results := [rebuilt.result(call, "No result provided") for call in waiting]:
        yield Interrupted(results)


def _reply(message: Mapping[str, Any], line: int, date: str) -> Iterator[Step]:
    blocks = _blocks(message)
    texts = [as_text(each.get("text")) for each in blocks if each.get("type") == "text"]
    thinking = [as_text(each.get("thinking")) for each in blocks if each.get("type") == "thinking"]
    calls = [
        rebuilt.call(each.get("id"), each.get("name"), each.get("arguments"))
        for each in blocks
        if each.get("type") == "toolCall"
    ]
    yield from reply(texts, thinking, calls, line, as_text(message.get("model")), date)


def _failed(message: Mapping[str, Any], line: int) -> Iterator[Step]:
    found = failure(message.get("errorMessage"), is_call=True)
    if found is not None:
        yield Refused(*found, line, as_text(message.get("model")), date_of(message.get("timestamp")))
