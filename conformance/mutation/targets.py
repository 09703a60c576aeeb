"""Where vices can be planted: handles on the parts of a copy, which change it in place.

A reply is handled the same way whether it is plain or streamed, so that one vice serves both forms.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from conformance.mutation.bases import Record
from conformance.mutation.definition import Find

_WRONG: Final[Mapping[type, Any]] = {str: 7, int: "7", bool: "yes", list: {}, dict: [], type(None): 7}
"""For each type of JSON a value that no schema here takes in its place."""


class Slot(NamedTuple):
    """A value and what holds it, so that it can be dropped, doubled or replaced; `record` is its exchange."""

    holder: Any
    key: Any
    record: Record

    @property
    def value(self) -> Any:
        """Return what is in the slot."""
        return self.holder[self.key]

    def put(self, value: Any) -> None:
        """Put another value into the slot."""
        self.holder[self.key] = value

    def drop(self) -> None:
        """Take the value out of what holds it."""
        del self.holder[self.key]

    def retype(self) -> None:
        """Put a value of another JSON type in its place, one that no schema takes there."""
        self.put(_WRONG[type(self.value)])


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of a reply: the fragments that bring it, or the one object of a plain reply."""

    fragments: list[dict[str, Any]]

    @property
    def first(self) -> dict[str, Any]:
        """Return what opens the call."""
        return self.fragments[0]

    @property
    def arguments(self) -> str:
        """Return the text of the arguments."""
        return "".join(each["function"]["arguments"] for each in self.fragments)

    def say(self, arguments: Any) -> None:
        """Set the text of the arguments: all of it in the last fragment."""
        for each in self.fragments:
            each["function"]["arguments"] = ""
        self.fragments[-1]["function"]["arguments"] = arguments


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of status 200 with one choice.

    `ending` is the choice that holds the finish reason; `pieces` are the message, or the deltas that bring it.
    """

    record: Record
    ending: dict[str, Any]
    pieces: list[dict[str, Any]]
    calls: list[Call]

    @property
    def streamed(self) -> bool:
        """Say whether the reply came as a stream."""
        return isinstance(self.record["response"], list)

    def has(self, key: str) -> bool:
        """Say whether the message carries something under a key."""
        return any(piece.get(key) for piece in self.pieces)

    def rename(self, old: str, new: str) -> None:
        """Let the message carry under another key what it carries under this one."""
        for piece in self.pieces:
            if old in piece:
                piece[new] = piece.pop(old)

    def put(self, key: str, value: Any) -> None:
        """Let the message carry a value under a key, and nothing else there."""
        for piece in self.pieces:
            if key in piece and piece[key] is not None:
                piece[key] = ""
        place = next((piece for piece in self.pieces if piece.get("role") != "assistant"), self.pieces[0])
        place[key] = value


def requests(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Yield the request bodies."""
    return (record["request"] for record in records)


def messages(*roles: str) -> Find:
    """Return a finder of the messages of requests, with one of these roles or with any."""

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


def answers(records: Sequence[Record]) -> Iterator[Record]:
    """Yield the exchanges that were answered, whatever the status."""
    return iter(records)


def errors(records: Sequence[Record]) -> Iterator[Record]:
    """Yield the exchanges that were refused."""
    return (record for record in records if record["status"] >= 400)


def plain(records: Sequence[Record]) -> Iterator[Record]:
    """Yield the exchanges that were answered with a whole completion."""
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
    """Yield the chunks of streams that bring text and nothing else: neither the first, nor calls, nor an end."""
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


def calling(records: Sequence[Record]) -> Iterator[Reply]:
    """Yield the replies with tool calls."""
    return (reply for reply in replies(records) if reply.calls)


def calling_twice(records: Sequence[Record]) -> Iterator[Reply]:
    """Yield the replies with several tool calls."""
    return (reply for reply in replies(records) if len(reply.calls) > 1)


def speaking(records: Sequence[Record]) -> Iterator[Reply]:
    """Yield the replies without tool calls."""
    return (reply for reply in replies(records) if not reply.calls)


def reasoning(records: Sequence[Record]) -> Iterator[Reply]:
    """Yield the replies with reasoning as a string."""
    return (reply for reply in replies(records) if reply.has("reasoning_content"))


def reply_calls(records: Sequence[Record]) -> Iterator[Call]:
    """Yield the tool calls of replies."""
    return (call for reply in replies(records) for call in reply.calls)


def fragmented_calls(records: Sequence[Record]) -> Iterator[Call]:
    """Yield the tool calls of streams that come in several fragments."""
    return (call for reply in replies(records) if reply.streamed for call in reply.calls if len(call.fragments) > 1)


def streaming(find: Callable[[Sequence[Record]], Iterator[Reply]]) -> Find:
    """Return a finder of those replies of another that came as streams."""
    return lambda records: (reply for reply in find(records) if reply.streamed)


def keys(find: Find, *names: str) -> Find:
    """Return a finder of the keys of these names in the objects that another finds."""

    def found(records: Sequence[Record]) -> Iterator[Slot]:
        for each in find(records):
            holder = each.value if isinstance(each, Slot) else each
            for name in names:
                inside = _inside(holder, name.split("/"))
                if inside is not None:
                    yield Slot(*inside, {})

    return found


def _inside(holder: Any, path: list[str]) -> tuple[Any, str] | None:
    """Return what holds the last key of a path, and the key; None where the path leads nowhere."""
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
