"""Sessions that agents leave on disk: one file per agent, each recognized by what its files hold.

A file has `KIND`, what an input is called, and `TITLE`, the name of the agent. For JSON Lines it has `holds`, whether a
record is its own, and `sessions`, which yields the conversations of the records of a file, or for a log of calls their
inputs; for JSON `of_value` or `of_list`; for databases of SQLite `TABLES` and `of_database`. A conversation that was
compacted or forked is several.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from conformance.documents import BOUNDS, JSON, parse_json
from conformance.errors import InvalidDocument, Unrecognized
from conformance.formats.inputs import Input

if TYPE_CHECKING:
    from conformance.formats.jsonl import Line
    from conformance.formats.sessions.steps import AgentSession

_MARK: Final = re.compile(
    rb'"(?:parentUuid|leafUuid|projectHash|working_dir|model_config)"\s*:'
    rb'|(?:\A|\n)[ \t]{0,9}\{[ \t]{0,9}"role"\s*:|"type"\s*:\s*"(?:session_start|session\.start|function_call)"'
    rb'|"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context|session|file-history-snapshot'
    rb'|queue-operation|last-prompt|custom-title|ai-title)"'
    rb'|\A\s*\{\s*"id"\s*:\s*"[^"]{1,64}",\s*"timestamp"\s*:\s*"[^"]{1,64}",\s*"(?:instructions|git)"'
)
"""What the beginning of a file of lines has if it may be a session."""
_LINES: Final = ("qwen_code", "claude_code", "codex", "gemini_cli", "pi", "goose", "goose_calls")
_MESSAGES: Final = "conformance.formats.message_lists"
"""What reads lines with a message each, which no agent's file is."""
_VALUES: Final = {
    "projectHash": "gemini_cli",
    "context": "gemini_cli",
    "agent": "cline",
    "info": "opencode",
    "sessionID": "opencode",
    "title": "opencode",
}
"""By key: the agent to ask whether a JSON value with that key is its own."""
_DATABASES: Final = ("opencode", "goose", "zed")
KINDS: Final = frozenset(("cline", *_LINES, *_DATABASES))
"""The kinds of inputs that are sessions."""
_PROBED: Final = 40
"""How many lines are looked at: the first ones may hold titles and settings only."""
_BROKEN: Final = "skipped, lines that are not JSON objects ({0} times)"
_CUT: Final = "only the beginning of this file was read: it exceeds the size bound"
_EMPTY: Final = "skipped, a session without a reply"
_UNKNOWN: Final = "expected a database with sessions of opencode, Goose or Zed, got one with other tables"


def of_lines(lines: "Iterable[Line]", path: str, head: bytes) -> "tuple[Iterator[Input] | None, Iterator[Line]]":
    """Return the inputs of lines that are a session; else None, and the lines to be read as something else.

    `head`: the beginning of the file, which for most files shows at once that they are no session.
    """
    if _MARK.search(head) is None:
        return None, iter(lines)
    rest = iter(lines)
    probed: list[Line] = []
    for line in rest:
        probed.append(line)
        agent = _agent(_record(line))
        if agent is not None:
            notes: dict[str, int] = {}
            found = agent.sessions(_records(chain(probed, rest), notes))
            return _inputs(agent, found, path, notes), iter(())
        if len(probed) == _PROBED:
            break
    return None, chain(probed, rest)


def of_json(value: JSON, path: str) -> Iterator[Input] | None:
    """Return the inputs of a JSON file that is a session; None if it is something else."""
    if isinstance(value, list):
        from conformance.formats.sessions import cline

        return _inputs(cline, cline.of_list(value, path), path, {}) if cline.holds_list(value, path) else None
    if not isinstance(value, dict):
        return None
    for mark, name in _VALUES.items():
        if mark in value:
            agent = import_module(f"{__name__}.{name}")
            if agent.holds(value):
                return _inputs(agent, agent.of_value(value, path), path, {})
    return None


def read_database(path: Path) -> Iterator[Input]:
    """Yield the inputs of a database of SQLite; raises Unrecognized for one with other tables."""
    from conformance.formats.sessions import databases

    with databases.opened(path) as (database, notes):
        for name in _DATABASES:
            agent = import_module(f"{__name__}.{name}")
            if databases.has_tables(database, agent.TABLES):
                yield from _inputs(agent, agent.of_database(database), str(path), dict.fromkeys(notes, 1))
                return
    raise Unrecognized(_UNKNOWN, str(path))


def _agent(record: Mapping[str, Any] | None) -> ModuleType | None:
    if record is None:
        return None
    return next((agent for agent in _agents() if agent.holds(record)), None)


@cache
def _agents() -> tuple[ModuleType, ...]:
    """Return what reads lines, in the order in which each is asked."""
    return tuple([import_module(name) for name in (*[f"{__name__}.{each}" for each in _LINES], _MESSAGES)])


def _record(line: "Line") -> Mapping[str, Any] | None:
    try:
        value = None if line.problem else parse_json(line.data, "")
    except InvalidDocument:
        return None
    return value if isinstance(value, Mapping) else None


def _records(lines: "Iterable[Line]", notes: dict[str, int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the records of lines within the size bound; an agent that is killed leaves a broken line."""
    size = 0
    for line in lines:
        size += len(line.data)
        if size > BOUNDS.bytes:
            notes[_CUT] = 1
            return
        record = _record(line)
        if record is None:
            notes[_BROKEN] = notes.get(_BROKEN, 0) + 1
        else:
            yield line.number, record


def _inputs(
    agent: ModuleType, found: "Iterable[AgentSession | Input]", path: str, notes: Mapping[str, int]
) -> Iterator[Input]:
    """Yield an input for each conversation; one without a reply or a failure only if there is no other."""
    from conformance.formats.sessions.steps import inputs_of

    empty = True
    skipped: dict[str, None] = {}
    for session in found:
        given = None
        # A log of calls has no steps, but requests as they were sent.
        inputs = [session._replace(path=path)] if isinstance(session, Input) else inputs_of(session, path, agent.KIND)
        for given in inputs:
            more = tuple([note.format(count) for note, count in notes.items()]) if empty else ()
            yield given._replace(notes=(*more, *given.notes))
            empty = False
        if given is None and not isinstance(session, Input):
            skipped.update(dict.fromkeys(session.notes))
    if empty or skipped:
        yield Input(path, None, agent.KIND, notes=tuple(skipped) or (_EMPTY,))
