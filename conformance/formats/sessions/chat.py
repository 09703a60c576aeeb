"""Replies of chat completions, rebuilt from what agents with message models of their own store of them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from conformance.documents import JSON
from conformance.formats import rebuilt
from conformance.formats.sessions.steps import Replied


def reply(
    texts: Sequence[str],
    thinking: Sequence[str],
    calls: Sequence[JSON],
    line: int | None = None,
    model: str = "",
    date: str = "",
) -> Iterator[Replied]:
    """Yield the reply of some texts, reasoning and calls; none if all are empty."""
    message = rebuilt.message("assistant", ["".join(texts)], calls)
    if reasoning := "".join(thinking):
        message["reasoning_content"] = reasoning
    if message["content"] is None and not calls and not reasoning:
        return
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    body = {"object": "chat.completion", "choices": [choice]}
    yield Replied((message,), body, line, model, date)


def only(names: Iterable[Any]) -> str:
    """Return the provider if all that are named are the same; else the empty string."""
    found = {name for name in names if isinstance(name, str) and name}
    return found.pop() if len(found) == 1 else ""
