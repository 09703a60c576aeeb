"""The vocabulary of a wish: phrases, wires and fillers, and what they say so far."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from conformance import profiles
from conformance.errors import UnknownName, Unusable
from conformance.profiles import Profile, model_names, naming
from conformance.profiles.naming import Resolved
from conformance.wire.native import CHAT

TURNS: Final[Mapping[str, Mapping[str, Any]]] = {
    "tools": {"tools": True},
    "no tools": {"tools": False},
    "parallel": {"tools": True, "parallel": True},
    "no parallel": {"parallel": False},
    "thinking on": {"thinking": True},
    "thinking off": {"thinking": False},
    "stream": {"stream": True},
    "no stream": {"stream": False},
}
"""What can be wished, and what it sets."""

_EFFORTS: Final = ("minimal", "low", "medium", "high", "xhigh", "max")


def _efforts(levels: Iterable[str]) -> Iterator[str]:
    """Yield the ways to ask for some efforts."""
    for level in levels:
        yield from (f"effort {level}", f"{level} effort", f"reasoning effort {level}", f"thinking {level}")
        yield from (f"reasoning {level}", f"{level} reasoning", f"{level} thinking")


_ALSO: Final[Mapping[str, tuple[str, ...]]] = {
    "tools": (
        "tool", "tools on", "tool call", "tool calls", "tool use", "tool calling", "function calling", "function",
        "functions", "function call", "function calls", "call a function", "call functions", "calling tools",
        "one tool", "a tool", "tools enabled",
    ),
    "no tools": (
        "tools off", "without tools", "without any tools", "tool free", "no tool calls", "no tool use",
        "no function calling",
    ),
    "parallel": (
        "parallel tools", "parallel calls", "parallel tool calls", "parallel on", "several calls",
        "parallel function calls", "parallel functions", "two tools", "two calls", "tools at once", "calls at once",
        "both tools", "several tools", "multiple tools", "multiple calls", "multiple tool calls",
    ),
    "no parallel": ("without parallel", "no parallel calls", "no parallel tool calls", "parallel off", "one call"),
    "thinking on": (
        "thinking", "think", "thinks", "thinking enabled", "thinking mode", "reasoning", "reasoning on",
        "reasoning enabled", "interleaved thinking", "extended thinking", "turn thinking on", "turn on thinking",
        "enable thinking", "enable reasoning", "turn reasoning on", "turn on reasoning", "reasons",
        "as hard as possible", "hard", *_efforts(_EFFORTS),
    ),
    "thinking off": (
        "no thinking", "no think", "without thinking", "thinking disabled", "non thinking", "not thinking",
        "no reasoning", "without reasoning", "reasoning off", "reasoning disabled", "turn thinking off",
        "turn off thinking", "turn reasoning off", "turn off reasoning", "disable thinking", "disable reasoning",
        *_efforts(("none",)),
    ),
    "stream": ("streaming", "streamed", "stream on", "streaming on", "sse"),
    "no stream": (
        "plain", "not streamed", "no streaming", "without streaming", "stream off", "streaming off", "unstreamed",
    ),
}  # fmt: skip

WIRES: Final[Mapping[str, tuple[str, str]]] = {
    "chat": (CHAT, ""),
    "chat completions": (CHAT, ""),
    "openai chat completions": (CHAT, "openai"),
    "messages": ("messages", ""),
    "messages api": ("messages", ""),
    "anthropic messages": ("messages", "anthropic"),
    "anthropic endpoint": ("messages", "anthropic"),
    "anthropic compatible": ("messages", "anthropic"),
    "anthropic compatible endpoint": ("messages", "anthropic"),
    "openai compatible": (CHAT, ""),
    "openai compatible endpoint": (CHAT, ""),
    "responses": ("responses", ""),
    "responses api": ("responses", ""),
    "openai responses": ("responses", "openai"),
    "generatecontent": ("gemini", ""),
    "gemini generatecontent": ("gemini", "gemini"),
    "gemini api": ("gemini", "gemini"),
}
"""The wire that some words mean, and the host if nothing else names one."""

FILLERS: Final = frozenset(
    (
        "a", "agent", "an", "and", "api", "at", "but", "by", "call", "calls", "can", "do", "for", "from", "get",
        "how", "hosted", "i", "i'd", "in", "is", "it", "like", "local", "locally", "loop", "me", "my", "native", "need",
        "of", "on", "once", "over", "please", "request", "running", "send", "served", "server", "should", "the",
        "through", "to", "use", "using", "via", "want", "we", "what", "while", "wire", "with", "would",
    )
)  # fmt: skip
PHRASES: Final = {also: name for name, words in _ALSO.items() for also in (name, *words)}


@dataclass(slots=True)
class Understood:
    """What the words of a wish say so far.

    `models` are words that may be a model of the host, `ignored` those of a sentence that say nothing.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    wire: str = ""
    host_of_wire: str = ""
    named: dict[str, Resolved] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def set(self, phrase: str) -> None:
        """Take over what a phrase sets; raises Unusable if another one says the opposite."""
        for name, value in TURNS[PHRASES[phrase]].items():
            if self.settings.get(name, value) is not value:
                raise Unusable(f"the wish says {self.said[name]!r} and {phrase!r}; keep one of them")
            self.settings[name], self.said[name] = value, phrase

    def set_wire(self, phrase: str) -> None:
        """Take over a wire; raises Unusable if another one is named."""
        wire, host = WIRES[phrase]
        if self.wire not in ("", wire):
            raise Unusable(f"the wish names two wires, {self.wire} and {wire}; keep one of them")
        self.wire, self.host_of_wire = wire, self.host_of_wire or host


def is_listed(text: str) -> bool:
    """Return whether a text is a provider, or a model that a profile lists by this very name."""
    if text.lower() in PHRASES or text.lower() in WIRES:
        return False
    resolved = naming.find(text)
    if resolved is None or not resolved.model:
        return resolved is not None
    profile = profiles.load_profile(resolved.profile)
    wanted = naming.fold(model_names.base(resolved.model))
    return any(naming.fold(model_names.base(each.rstrip("*"))) == wanted for each in _models(profile))


def _models(profile: Profile) -> Iterator[str]:
    for each in (profile, *profile.protocols.values()):
        yield each.model
        yield from [model.name for model in each.models]


def unknown(word: str) -> UnknownName:
    """Return the error about a word that means nothing; the nearest words of a wish come before those of hosts."""
    return UnknownName("word in the wish", word, (*PHRASES, *WIRES, *profiles.names(), *naming.called()))
