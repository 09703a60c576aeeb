"""Lists of messages without the body around them: of a wire, or of a framework; and files with one message a line.

What only a whole request shows, such as its model and its parameters, is not judged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance import wires
from conformance.formats import histories
from conformance.formats.inputs import Input
from conformance.formats.records import as_object, as_text
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT

KIND: Final = "messages"
TITLE: Final = "messages, one a line"
WITHOUT_BODY: Final = ("[!ns]*", "stream/*")
"""The rules for messages of another wire: not those on the shapes of whole bodies."""
ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function", "model"})
"""Who speaks in the messages of all wires."""

_ITEMS: Final = frozenset({"function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"})
"""Items of Responses that are no messages, and that no other wire has."""
_SAID: Final = frozenset({"content", "tool_calls", "parts", "reasoning_content"})
_HOLDERS: Final = ("message", "item", "payload", "data")
_OF_REPLIES: Final = frozenset({"usage", "stop_reason", "choices", "output"})
_EVENTS: Final = frozenset({"user.message", "assistant.message", "tool.execution_complete"})
"""Events of Copilot's agent that hold messages."""
_STREAMED: Final = "response."
"""How the types of Responses' events begin, some of which hold an item: lines of them are a stream."""
_SKIPPED: Final = "skipped, lines that hold no message ({0} times)"
_PATHS: Final[Mapping[str, str]] = {"input": "/v1/responses", "contents": "/v1beta/models/model:generateContent"}


def of_list(items: Sequence[Any], path: str, line: int | None, beside: Mapping[str, Any] | None = None) -> Input | None:
    """Return the input of a list of messages; None if a list is something else.

    `beside`: what else the holder of the list has of a request, such as its tools.
    """
    if not items or not all(isinstance(each, Mapping) for each in items):
        return None
    if history := histories.of_list(items, path, line):
        return history
    key = _key(items)
    if not key:
        return None
    asked = Exchange.of_plain(request={key: list(items), **(beside or {})}, url=_PATHS.get(key, ""))
    rules = () if wires.of(asked).name == CHAT else WITHOUT_BODY
    return Input(path, line, KIND, (asked,), rules=rules)


def _key(items: Sequence[Mapping[str, Any]]) -> str:
    """Return under which key of a request a list stands; empty if it is none of messages."""
    if any(as_text(each.get("type")) in _ITEMS for each in items):
        return "input"
    if not all("role" in each for each in items):
        return ""
    return "contents" if any(isinstance(each.get("parts"), list) for each in items) else "messages"


def holds(record: Mapping[str, Any]) -> bool:
    """Return whether a line of a file is a message, or holds one."""
    return _message(record) is not None


def sessions(records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[Input]:
    """Yield the messages of a file as one list."""
    lines: list[int] = []
    found: list[Mapping[str, Any]] = []
    skipped = 0
    for line, record in records:
        message = _message(record)
        if message is None:
            skipped += 1
        else:
            found.append(message)
            lines.append(line)
    given = of_list(found, "", lines[0] if lines else None)
    if given is not None:
        notes = (_SKIPPED.format(skipped),) if skipped else ()
        yield given._replace(notes=(*notes, *given.notes))


def _message(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the message that a record is or holds; None if it holds none."""
    if as_text(record.get("type")).startswith(_STREAMED):
        return None
    if as_text(record.get("type")) in _EVENTS and isinstance(record.get("data"), Mapping):
        # What an agent below it said is a conversation of its own.
        return None if "parentToolCallId" in record["data"] else record
    for each in (record, *[as_object(record.get(key)) for key in _HOLDERS]):
        is_said = as_text(each.get("role")) in ROLES and not _SAID.isdisjoint(each) and _OF_REPLIES.isdisjoint(each)
        if is_said or as_text(each.get("type")) in _ITEMS:
            return each
    return None
