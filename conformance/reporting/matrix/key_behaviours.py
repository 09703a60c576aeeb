"""Key behaviours for agent loops: the claims that decide whether a loop works with a provider, in groups."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from conformance.profiles import Profile, rejects_or_damages, tolerates


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

_SAFE: Final[Mapping[str, str]] = {
    "reasoning.omitted-on-tool-turn": "send it back",
    "reasoning.omitted-on-plain-turn": "send it back",
    "reasoning.on-plain-turn": "leave it out",
    "ids.input-pattern": "send only ids that match",
    "ids.input-max-length": "send only ids that short",
    "results.reversed": "keep the order of the calls",
    "results.missing": "send a result for each call",
}
"""What no source says is refused, by the claim about what may be."""

_TURN: Final = "reasoning.omitted-on-plain-turn"
_CONTENT: Final[Mapping[str, tuple[str, str]]] = {
    "content.null-on-tool-turn": ("content.empty-on-tool-turn", "send an empty text"),
    "content.empty-on-tool-turn": ("content.null-on-tool-turn", "send null"),
}
"""Claims about a content of which the other form is safe, if it is tolerated."""


def safe_choice(profile: Profile, model: str, claim: str) -> str:
    """Return what to do about a behaviour so that no source says it is refused; empty if nothing has to be done.

    A refusal that one source alone reports counts, too: it costs nothing to avoid it.
    """
    claims, contested = profile.at(model), profile.contested(model)
    is_refused = claim in contested or rejects_or_damages(claims.get(claim))
    if not is_refused:
        return ""
    if claim in _CONTENT:
        other, words = _CONTENT[claim]
        return words if tolerates(claims.get(other)) and other not in contested else "send text"
    if claim == _TURN and claim in contested:
        return "send it back if the request has tools"
    return _SAFE.get(claim, "")
