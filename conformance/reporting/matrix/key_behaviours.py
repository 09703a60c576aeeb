"""Key behaviours for agent loops: the claims that decide whether a loop works with a provider, in groups."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class KeyBehaviour(NamedTuple):
    """A behaviour that every agent loop depends on, and the claim that describes it."""

    title: str
    claim: str


KEY_BEHAVIOURS: Final[Mapping[str, tuple[KeyBehaviour, ...]]] = {
    "Reasoning": (
        KeyBehaviour("reply field for reasoning", "reasoning.response-field"),
        KeyBehaviour("request field for reasoning", "reasoning.request-field"),
        KeyBehaviour("reasoning omitted with tool calls", "reasoning.omitted-on-tool-turn"),
        KeyBehaviour("reasoning omitted without tool calls", "reasoning.omitted-on-plain-turn"),
        KeyBehaviour("reasoning sent without tool calls", "reasoning.on-plain-turn"),
    ),
    "Tool call ids": (
        KeyBehaviour("format", "ids.format"),
        KeyBehaviour("unique in a reply", "ids.unique-in-reply"),
        KeyBehaviour("unique in a conversation", "ids.unique-in-conversation"),
        KeyBehaviour("required pattern", "ids.input-pattern"),
        KeyBehaviour("maximum length", "ids.input-max-length"),
    ),
    "Tool calls and results": (
        KeyBehaviour("parallel calls", "tools.parallel"),
        KeyBehaviour("`index` in a stream", "stream.index"),
        KeyBehaviour("results in another order", "results.reversed"),
        KeyBehaviour("a result missing", "results.missing"),
    ),
    "Messages and streams": (
        KeyBehaviour("content null with tool calls", "content.null-on-tool-turn"),
        KeyBehaviour("content empty with tool calls", "content.empty-on-tool-turn"),
        KeyBehaviour("finish reason with tool calls", "finish.with-calls"),
        KeyBehaviour("`[DONE]`", "stream.done"),
    ),
}
"""The key behaviours by topic."""
