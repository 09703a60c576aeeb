"""Sessions of Claude Code: `~/.claude/projects/<project>/<session>.jsonl`, one record a line, linked by `parentUuid`.

A record of type `user` or `assistant` has a `message` of Anthropic Messages. A reply is one record for each block, all
with the same `message.id`; failures are replies with `isApiErrorMessage`, which are not sent back. `isSidechain` marks
the records of a subagent, and `compact_boundary` where a summary replaced the history. Records off the way from the
last one to the first were rewound, and are not sent.

Seen in files of Claude Code 2.1.197, run on 2026-11-24 with `-p`: parallel calls, and a turn that ended with a 400.

What these files do not show (compactions, subagents, rewinds) is as readers of the format treat it; the code of Claude
Code itself was not read.

Source: https://code.claude.com/docs/en/agent-sdk/sessions,
block/goose@41af6ba5bd927b7a271909a213c72abf63dd650b/crates/goose/src/session/import_formats/claude_code.rs and
zed-industries/zed@e0902d1297bb86e3f7316efa466a9d2f47a7732f/crates/agent/src/claude_code_sessions.rs
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.formats.records import as_object, as_objects, as_text, date_of
from conformance.formats.sessions.failing import failure, text_of
from conformance.formats.sessions.steps import Added, AgentSession, Interrupted, Refused, Replied, Step

KIND: Final = "claude_code"
TITLE: Final = "Claude Code"
_RECORDS: Final = ("user", "assistant", "system", "attachment", "progress")
_OTHERS: Final = ("summary", "file-history-snapshot", "queue-operation", "last-prompt", "custom-title", "ai-title")
_INTERRUPTED: Final = "[Request interrupted by user"
_REWOUND: Final = "skipped, records that were rewound"

Record = tuple[int, Mapping[str, Any]]


def holds(record: Mapping[str, Any]) -> bool:
    """Return whether a record is one of Claude Code; some that come first in a file have no session."""
    if record.get("type") in _RECORDS and "sessionId" in record:
        message = as_object(record.get("message"))
        return "parts" not in message and ("uuid" in record or "parentUuid" in record)
    return record.get("type") in _OTHERS and any(key in record for key in ("leafUuid", "snapshot", "sessionId"))


def sessions(records: Iterable[Record]) -> Iterator[AgentSession]:
    """Yield the conversation of the main agent, in the parts that compactions make, then those of subagents."""
    known = list(_distinct(records))
    by_id = {as_text(record.get("uuid")): record for _, record in known if record.get("uuid")}
    main = [each for each in known if not each[1].get("isSidechain")]
    side = [each for each in known if each[1].get("isSidechain")]
    yield from _conversations(main, by_id)
    groups: dict[str, list[Record]] = {}
    for each in side:
        groups.setdefault(_root(each[1], by_id), []).append(each)
    for group in groups.values():
        yield from _conversations(group, by_id)


def _distinct(records: Iterable[Record]) -> Iterator[Record]:
    """Yield each record once: a resumed session repeats those of the one before."""
    seen: set[str] = set()
    for line, record in records:
        name = as_text(record.get("uuid"))
        if name and name in seen:
            continue
        seen.add(name)
        if record.get("type") in _RECORDS:
            yield line, record


def _root(record: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the id of the first record above another one; records of a subagent may name it instead."""
    if record.get("agentId"):
        return as_text(record["agentId"])
    way = _way(as_text(record.get("uuid")), by_id)
    return way[-1] if way else ""


def _way(leaf: str, by_id: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the ids from a record up to the first one, in that order; a circle ends it."""
    way: dict[str, None] = {}
    while leaf in by_id and leaf not in way:
        way[leaf] = None
        leaf = as_text(by_id[leaf].get("parentUuid"))
    return list(way)


def _conversations(records: Sequence[Record], by_id: Mapping[str, Mapping[str, Any]]) -> Iterator[AgentSession]:
    spoken = [each for each in records if each[1].get("type") in ("user", "assistant")]
    if not spoken:
        return
    leaf, chains = as_text(spoken[-1][1].get("uuid")), []
    done: set[str] = set()
    while leaf and leaf not in done:
        way = _way(leaf, by_id)
        if not way:
            break
        done.update(way)
        chains.append(frozenset(way))
        # A boundary has no parent, but names the last record before it.
        leaf = as_text(by_id[way[-1]].get("logicalParentUuid"))
    if not chains:
        yield _session(spoken, ())
        return
    kept = [_kept(spoken, chain) for chain in reversed(chains)]
    lost = len(spoken) > sum(map(len, kept))
    for number, part in enumerate(kept):
        yield _session(part, (_REWOUND,) if lost and number == len(kept) - 1 else ())


def _kept(spoken: Sequence[Record], chain: frozenset[str]) -> list[Record]:
    """Return the records on a way, with the other blocks of their replies, and the results of the calls in these."""
    on_way = [each for _, each in spoken if as_text(each.get("uuid")) in chain]
    replies = {_reply_id(each) for each in on_way if each.get("type") == "assistant"} - {""}
    calls = {
        as_text(block.get("id"))
        for _, each in spoken
        if _reply_id(each) in replies
        for block in _blocks(each)
        if block.get("type") == "tool_use"
    } - {""}
    return [
        (line, each)
        for line, each in spoken
        if as_text(each.get("uuid")) in chain
        or (each.get("type") == "assistant" and _reply_id(each) in replies)
        or (each.get("isApiErrorMessage") and as_text(each.get("parentUuid")) in chain)
        or any(
            as_text(block.get("tool_use_id")) in calls for block in _blocks(each) if block.get("type") == "tool_result"
        )
    ]


def _reply_id(record: Mapping[str, Any]) -> str:
    return as_text(as_object(record.get("message")).get("id")) if record.get("type") == "assistant" else ""


def _blocks(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = as_object(record.get("message")).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return as_objects(content)


def _session(records: Sequence[Record], notes: tuple[str, ...]) -> AgentSession:
    name = next((as_text(record.get("sessionId")) for _, record in records), "")
    return AgentSession("messages", tuple(_closed(_steps(records))), name, "", notes)


def _steps(records: Sequence[Record]) -> list[Step]:
    steps: list[Step] = []
    places: dict[str, tuple[int, Replied]] = {}
    for line, record in records:
        if record.get("type") == "user":
            if not record.get("isVisibleInTranscriptOnly") and _blocks(record):
                steps.append(Added(({"role": "user", "content": _blocks(record)},), line))
            continue
        name = _reply_id(record)
        if record.get("isApiErrorMessage"):
            steps += _failed(record, line)
        elif as_object(record.get("message")).get("model") == "<synthetic>":
            continue
        elif name and name in places:
            at, before = places[name]
            steps[at] = reply = _reply(record, before.line, _blocks_of(before))
            places[name] = at, reply
        else:
            reply = _reply(record, line, [])
            places[name] = len(steps), reply
            steps.append(reply)
    return steps


def _blocks_of(step: Replied) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = step.body["content"]
    return found


def _reply(record: Mapping[str, Any], line: int | None, before: Sequence[Mapping[str, Any]]) -> Replied:
    """Return a reply with the blocks of a record after those of records before; a block may come more than once."""
    message = as_object(record.get("message"))
    names = {as_text(block.get("id")) for block in before} - {""}
    new = [block for block in _blocks(record) if block not in before and as_text(block.get("id")) not in names]
    content = [*before, *new]
    body = {**message, "type": "message", "role": "assistant", "content": content}
    sent = {"role": "assistant", "content": content}
    return Replied((sent,), body, line, as_text(message.get("model")), date_of(record.get("timestamp")))


def _failed(record: Mapping[str, Any], line: int) -> Iterator[Refused]:
    text = text_of(_blocks(record))
    found = failure(text, record.get("apiErrorStatus"))
    if found is None:
        found = failure(": ".join(filter(None, (as_text(record.get("error")), text))), is_call=True)
    if found is not None:
        yield Refused(*found, line, "", date_of(record.get("timestamp")))


def _closed(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield steps with the results that Claude Code sends for calls that the user interrupted."""
    waiting: list[str] = []
    for step in steps:
        if isinstance(step, Replied):
            calls = [block for block in _blocks_of(step) if block.get("type") == "tool_use"]
            waiting = [name for block in calls if (name := as_text(block.get("id")))]
        elif isinstance(step, Added):
            blocks = [block for item in step.items for block in item["content"]]
            answered = {as_text(block.get("tool_use_id")) for block in blocks}
            waiting = [each for each in waiting if each not in answered]
            if waiting and any(_INTERRUPTED in as_text(block.get("text")) for block in blocks):
                results = [{"type": "tool_result", "tool_use_id": each, "content": "Interrupted"} for each in waiting]
                yield Interrupted(({"role": "user", "content": results},))
                waiting = []
        yield step
