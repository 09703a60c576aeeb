"""A request as deviations change it: its turns, its results, and which result belongs to which call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from conformance.wire.exchange import Conversation

Message: TypeAlias = dict[str, Any]


class Inapplicable(Exception):
    """A deviation finds nothing to change in this request, so it is not sent."""


@dataclass(frozen=True, slots=True)
class ChangedRequest:
    """A body to change, the transcript that it was made from, the claims of its provider, and the exchanges before."""

    body: dict[str, Any]
    transcript: Sequence[Mapping[str, Any]]
    claims: Mapping[str, Any]
    before: Conversation = ()

    @property
    def messages(self) -> list[Message]:
        """Return the messages, which are changed in place."""
        found: list[Message] = self.body["messages"]
        return found


def tool_turns(messages: list[Message]) -> list[Message]:
    """Return the assistant messages that call tools."""
    return [message for message in messages if message.get("tool_calls")]


def assistant_messages(messages: list[Message], on: str) -> list[Message]:
    """Return the assistant messages of a kind; raises Inapplicable if there is none.

    `tool`: those with calls; of these, `current` are after the last user message and `earlier` before it. `plain`:
    those without calls.
    """
    last = max((position for position, message in enumerate(messages) if message["role"] == "user"), default=-1)
    found = [
        message
        for position, message in enumerate(messages)
        if message["role"] == "assistant" and on in _kinds(message, current=position > last)
    ]
    if not found:
        raise Inapplicable
    return found


def _kinds(message: Message, *, current: bool) -> tuple[str, ...]:
    if not message.get("tool_calls"):
        return ("plain",)
    return ("tool", "current" if current else "earlier")


def last_results(messages: list[Message]) -> list[int]:
    """Return the positions of the last run of tool messages; raises Inapplicable if there is none."""
    tools = [position for position, message in enumerate(messages) if message["role"] == "tool"]
    if not tools:
        raise Inapplicable
    first = tools[-1]
    while first and messages[first - 1]["role"] == "tool":
        first -= 1
    return list(range(first, tools[-1] + 1))


def results_of(messages: list[Message], turn: Message) -> list[Message]:
    """Return the tool messages that follow a tool turn."""
    start = next(position for position, message in enumerate(messages) if message is turn) + 1
    end = start
    while end < len(messages) and messages[end]["role"] == "tool":
        end += 1
    return messages[start:end]


def rename(messages: list[Message], turn: Message, call: Message, new: str) -> None:
    """Change the id of a call of a turn, in the call and in its result."""
    position = next(number for number, each in enumerate(turn["tool_calls"]) if each is call)
    results = results_of(messages, turn)
    if position < len(results) and results[position].get("tool_call_id") == call.get("id"):
        results[position]["tool_call_id"] = new
    call["id"] = new


def compact(messages: list[Message], to: str) -> None:
    """Replace the history by a summary, up to the last user message (`user`) or the last `results`."""
    users = [position for position, message in enumerate(messages) if message["role"] == "user"]
    end = users[-1] if to == "user" else last_results(messages)[0]
    if len(users) < 2:
        raise Inapplicable
    summary = "What was said before, in short: both values were looked up."
    if to == "user":
        messages[: end + 1] = [{"role": "user", "content": f"{summary} {messages[end]['content']}"}]
    else:
        messages[:end] = [{"role": "user", "content": summary}]
