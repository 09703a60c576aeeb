"""The targets of mutations: handles that change a copy of a base in place.

A reply is handled the same way whether it is plain or streamed, so that one mutation serves both forms.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tests.mutation.bases import Record
from tests.mutation.definition import Find

_WRONG: Final[Mapping[type, Any]] = {str: 7, int: "7", bool: "yes", list: {}, dict: [], type(None): 7}
"""For each JSON type, a value that no schema accepts in place of one of that type."""


class Slot(NamedTuple):
    """A value and its container, so that it can be removed, doubled or replaced; `record` is its exchange."""

    holder: Any
    key: Any
    record: Record

    @property
    def value(self) -> Any:
        """Return the value in the slot."""
        return self.holder[self.key]

    def put(self, value: Any) -> None:
        """Put another value into the slot."""
        self.holder[self.key] = value

    def drop(self) -> None:
        """Remove the value from its container."""
        del self.holder[self.key]

    def retype(self) -> None:
        """Put a value of another JSON type in its place, one that no schema accepts there."""
        self.put(_WRONG[type(self.value)])


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of a reply: its fragments in a stream, or its one object in a plain reply."""

    fragments: list[dict[str, Any]]

    @property
    def first(self) -> dict[str, Any]:
        """Return the first fragment."""
        return self.fragments[0]

    @property
    def arguments(self) -> str:
        """Return the text of the arguments."""
        return "".join(each["function"]["arguments"] for each in self.fragments)

    def set_arguments(self, arguments: Any) -> None:
        """Set the arguments: all of them in the last fragment."""
        for each in self.fragments:
            each["function"]["arguments"] = ""
        self.fragments[-1]["function"]["arguments"] = arguments


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with status 200 and one choice.

    `ending` is the choice with the finish reason; `deltas` are those of a stream, or the one message.
    """

    record: Record
    ending: dict[str, Any]
    deltas: list[dict[str, Any]]
    calls: list[Call]

    @property
    def streamed(self) -> bool:
        """Return whether the reply came as a stream."""
        return isinstance(self.record["response"], list)

    @property
    def ending_position(self) -> int:
        """Return the position of the event with the finish reason, in a stream."""
        events = self.record["response"]
        return next(at for at, event in enumerate(events) if self.ending in event.get("choices", ()))

    def has(self, key: str) -> bool:
        """Return whether the message has a value under a key."""
        return any(delta.get(key) for delta in self.deltas)

    def rename(self, old: str, new: str) -> None:
        """Move what the message has under one key to another."""
        for delta in self.deltas:
            if old in delta:
                delta[new] = delta.pop(old)

    def put(self, key: str, value: Any) -> None:
        """Make a value all that the message has under a key."""
        for delta in self.deltas:
            if key in delta and delta[key] is not None:
                delta[key] = ""
        target = next((delta for delta in self.deltas if delta.get("role") != "assistant"), self.deltas[0])
        target[key] = value


def requests(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Yield the request bodies."""
    return (record["request"] for record in records)


def requests_with_tools(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Yield the request bodies that declare tools."""
    return (body for body in requests(records) if body.get("tools"))


def requests_without_tools(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Yield the request bodies that declare no tools."""
    return (body for body in requests(records) if not body.get("tools"))


def in_last_request(find: Find) -> Find:
    """Return a finder that looks only at the last exchange, whose history is that of the session."""
    return lambda records: find(records[-1:])


def messages(*roles: str) -> Find:
    """Return a finder of the messages of requests: those with these roles, or all."""

    def find(records: Sequence[Record]) -> Iterator[Slot]:
        for record in records:
            listed = record["request"]["messages"]
            for position, message in enumerate(listed):
                if not roles or message["role"] in roles:
                    yield Slot(listed, position, record)

    return find


def plain_turns(records: Sequence[Record]) -> Iterator[Slot]:
    """Yield the assistant messages without tool calls."""
    return (each for each in messages("assistant")(records) if "tool_calls" not in each.value)


def tool_turns(records: Sequence[Record]) -> Iterator[Slot]:
    """Yield the assistant messages with tool calls."""
    return (each for each in messages("assistant")(records) if "tool_calls" in each.value)


def reasoned_turns(records: Sequence[Record]) -> Iterator[Slot]:
    """Yield the assistant messages with tool calls and reasoning as a string."""
    return (each for each in tool_turns(records) if each.value.get("reasoning_content"))


def parallel_turns(records: Sequence[Record]) -> Iterator[Slot]:
    """Yield the assistant messages with several tool calls."""
    return (each for each in tool_turns(records) if len(each.value["tool_calls"]) > 1)


def later_turns(records: Sequence[Record]) -> Iterator[Slot]:
    """Yield the assistant messages with tool calls after the first such of their request."""
    for record in records:
        yield from list(tool_turns([record]))[1:]


def history_calls(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Yield the tool calls of requests."""
    return (call for turn in tool_turns(records) for call in turn.value["tool_calls"])


def definitions(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Yield the tool definitions of requests."""
    return (tool for body in requests(records) for tool in body.get("tools", ()))


def exchanges(records: Sequence[Record]) -> Iterator[Record]:
    """Yield the exchanges, whatever their status."""
    return iter(records)


def errors(records: Sequence[Record]) -> Iterator[Record]:
    """Yield the exchanges that were answered with an error."""
    return (record for record in records if record["status"] >= 400)


def plain(records: Sequence[Record]) -> Iterator[Record]:
    """Yield the exchanges that were answered with a plain completion."""
    return (record for record in records if record["status"] == 200 and isinstance(record["response"], dict))


def streams(records: Sequence[Record]) -> Iterator[Record]:
    """Yield the exchanges that were answered with a stream."""
    return (record for record in records if isinstance(record["response"], list))


def chunks(records: Sequence[Record]) -> Iterator[Slot]:
    """Yield the chunks of streams."""
    for record in streams(records):
        for position, event in enumerate(record["response"]):
            if isinstance(event, dict):
                yield Slot(record["response"], position, record)


def inner_chunks(records: Sequence[Record]) -> Iterator[Slot]:
    """Yield the chunks of streams that hold only text: neither the first, nor calls, nor the end."""
    for chunk in chunks(records):
        delta = chunk.value["choices"][0]["delta"] if chunk.value["choices"] else {}
        if delta and not {"role", "tool_calls"} & delta.keys():
            yield chunk


def usages(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Yield the token counts, of plain replies and of streams."""
    bodies = [record["response"] for record in plain(records)] + [chunk.value for chunk in chunks(records)]
    return (body["usage"] for body in bodies if body.get("usage"))


def replies(records: Sequence[Record]) -> Iterator[Reply]:
    """Yield the replies, plain and streamed."""
    for record in records:
        if record["status"] == 200:
            yield _streamed(record) if isinstance(record["response"], list) else _plain(record)


def replies_with_calls(records: Sequence[Record]) -> Iterator[Reply]:
    """Yield the replies with tool calls."""
    return (reply for reply in replies(records) if reply.calls)


def replies_with_several_calls(records: Sequence[Record]) -> Iterator[Reply]:
    """Yield the replies with several tool calls."""
    return (reply for reply in replies(records) if len(reply.calls) > 1)


def replies_without_calls(records: Sequence[Record]) -> Iterator[Reply]:
    """Yield the replies without tool calls."""
    return (reply for reply in replies(records) if not reply.calls)


def replies_with_reasoning(records: Sequence[Record]) -> Iterator[Reply]:
    """Yield the replies with reasoning as a string."""
    return (reply for reply in replies(records) if reply.has("reasoning_content"))


def reply_calls(records: Sequence[Record]) -> Iterator[Call]:
    """Yield the tool calls of replies."""
    return (call for reply in replies(records) for call in reply.calls)


def fragmented_calls(records: Sequence[Record]) -> Iterator[Call]:
    """Yield the tool calls of streams that have several fragments."""
    return (call for reply in replies(records) if reply.streamed for call in reply.calls if len(call.fragments) > 1)


def streaming(find: Callable[[Sequence[Record]], Iterator[Reply]]) -> Find:
    """Return a finder of the replies that another one finds, if they came as streams."""
    return lambda records: (reply for reply in find(records) if reply.streamed)


def keys(find: Find, *names: str) -> Find:
    """Return a finder of the keys with these names in the objects that another one finds."""

    def found(records: Sequence[Record]) -> Iterator[Slot]:
        for each in find(records):
            holder = each.value if isinstance(each, Slot) else each
            for name in names:
                inside = _inside(holder, name.split("/"))
                if inside is not None:
                    yield Slot(*inside, {})

    return found


def _inside(holder: Any, path: list[str]) -> tuple[Any, str] | None:
    """Return the object with the last key of a path, and the key; None if the path leads nowhere."""
    for token in path[:-1]:
        holder = holder.get(token) if isinstance(holder, Mapping) else None
    return (holder, path[-1]) if isinstance(holder, dict) and path[-1] in holder else None


def _plain(record: Record) -> Reply:
    choice = record["response"]["choices"][0]
    return Reply(
        record, choice, [choice["message"]], [Call([each]) for each in choice["message"].get("tool_calls", ())]
    )


def _streamed(record: Record) -> Reply:
    choices = [event["choices"][0] for event in record["response"] if isinstance(event, dict) and event["choices"]]
    ending = next(choice for choice in choices if choice["finish_reason"])
    calls: dict[int, list[dict[str, Any]]] = {}
    for choice in choices:
        for fragment in choice["delta"].get("tool_calls", ()):
            calls.setdefault(fragment["index"], []).append(fragment)
    return Reply(record, ending, [choice["delta"] for choice in choices], [Call(each) for each in calls.values()])
