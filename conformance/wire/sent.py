"""What a request sends: the elements of its messages, of all of them or of those between two positions."""

from collections.abc import Iterator
from typing import Any

from conformance.documents.pointer import Place
from conformance.wire.elements import Call, Message, Result, ToolTurn
from conformance.wire.keys import key_of


class SentElements:
    """The turns and results among the messages of a request from one position to another.

    A range begins with an assistant message, or at 0, and ends before one, or with the last message: so no turn is cut.
    `user`: the position of the last user message. `assistants`: the assistant messages, with their positions.
    """

    __slots__ = ("_calls", "assistants", "begin", "body", "end", "number", "plain_turns", "results", "turns", "user")

    def __init__(self, number: int, body: dict[str, Any], begin: int, end: int, user: int) -> None:
        """Find the elements."""
        self.number, self.body, self.begin, self.end, self.user = number, body, begin, end, user
        self.assistants: list[tuple[int, dict[str, Any]]] = []
        self.plain_turns: list[Message] = []
        self.turns: list[ToolTurn] = []
        self.results: list[Result] = []
        self._calls: list[Call] | None = None
        self._read(body["messages"])

    @property
    def calls(self) -> list[Call]:
        """Return the tool calls."""
        if self._calls is None:
            self._calls = [call for turn in self.turns for call in turn.calls]
        return self._calls

    @property
    def messages(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the messages, with their positions."""
        listed: list[Any] = self.body["messages"]
        for position in range(self.begin, self.end):
            message = listed[position]
            # `type(x) is`, as in all of `wire` and `rules`: values are plain JSON, and to isinstance, True is an int.
            if type(message) is dict:
                yield position, message

    def _read(self, messages: list[Any]) -> None:
        number, position, end = self.number, self.begin, self.end
        while position < end:
            value = messages[position]
            role = value.get("role") if type(value) is dict else None
            if role == "assistant":
                self.assistants.append((position, value))
                calls = value.get("tool_calls")
                if type(calls) is list and calls:
                    position = self._read_turn(messages, position)
                    continue
                place: Place = (number, "request", "messages", position)
                self.plain_turns.append(Message(place, value, role, position, self.body))
            elif role == "tool":
                place = (number, "request", "messages", position)
                self.results.append(
                    Result(place, value, value.get("tool_call_id"), None, adjacent=False, known=False, number=position)
                )
            position += 1

    def _read_turn(self, messages: list[Any], start: int) -> int:
        """Read an assistant message with tool calls and its results; return the position after them."""
        number, value = self.number, messages[start]
        ids = [call.get("id") if type(call) is dict else None for call in value["tool_calls"]]
        found: list[tuple[int, dict[str, Any], bool]] = []
        adjacent = all_adjacent = True
        position, end = start + 1, self.end
        while position < end:
            message = messages[position]
            role = message.get("role") if type(message) is dict else None
            if role == "tool":
                found.append((position, message, adjacent))
                # Once false, `adjacent` stays so; the last result speaks for all before it.
                all_adjacent = adjacent
            elif role == "assistant":
                break
            else:
                adjacent = False
            position += 1
        paired = all_adjacent and ids == [message.get("tool_call_id") for _, message, _ in found]
        # Paired ids are known without a set, and nearly all turns of a long history are paired.
        known = () if paired else set(map(key_of, ids))
        results: list[Result] = []
        for at, message, near in found:
            identity = message.get("tool_call_id")
            is_known = paired or key_of(identity) in known
            results.append(Result((number, "request", "messages", at), message, identity, ids, near, is_known, at))
        place = (number, "request", "messages", start)
        self.turns.append(ToolTurn(place, value, ids, results, start > self.user, paired, start, self.body))
        self.results += results
        return position


def last_user(messages: list[Any], begin: int = 0) -> int:
    """Return the position of the last user message from a position on, or -1."""
    for position in range(len(messages) - 1, begin - 1, -1):
        message = messages[position]
        if type(message) is dict and message.get("role") == "user":
            return position
    return -1


def last_assistant(messages: list[Any], end: int, begin: int = 0) -> int:
    """Return the position of the last assistant message between two positions, or -1."""
    for position in range(end - 1, begin - 1, -1):
        message = messages[position]
        if type(message) is dict and message.get("role") == "assistant":
            return position
    return -1
