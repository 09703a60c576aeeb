"""The words of a wish: which host, model, wire and turn a text such as "deepseek, tools, thinking on" means."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, NamedTuple

from conformance import profiles
from conformance.errors import UnknownName, Unusable
from conformance.profiles import Profile, model_names, naming
from conformance.profiles.files import uncached
from conformance.profiles.naming import Resolved
from conformance.profiles.texts import first_words, texts
from conformance.reporting.asked.requests import Wish
from conformance.wire.native import CHAT

_TURNS: Final[Mapping[str, Mapping[str, Any]]] = {
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

_ALSO: Final[Mapping[str, tuple[str, ...]]] = {
    "tools": ("tool", "tools on", "tool call", "tool calls", "tool use", "tool calling", "function calling"),
    "no tools": ("tools off", "without tools", "tool free", "no tool calls", "no tool use", "no function calling"),
    "parallel": ("parallel tools", "parallel calls", "parallel tool calls", "parallel on", "several calls"),
    "no parallel": ("without parallel", "no parallel calls", "no parallel tool calls", "parallel off", "one call"),
    "thinking on": (
        "thinking", "think", "thinks", "thinking enabled", "thinking mode", "reasoning", "reasoning on",
        "reasoning enabled", "interleaved thinking", "extended thinking",
    ),
    "thinking off": (
        "no thinking", "no think", "without thinking", "thinking disabled", "non thinking", "not thinking",
        "no reasoning", "without reasoning", "reasoning off", "reasoning disabled",
    ),
    "stream": ("streaming", "streamed", "stream on", "streaming on", "sse"),
    "no stream": (
        "plain", "not streamed", "no streaming", "without streaming", "stream off", "streaming off", "unstreamed",
    ),
}  # fmt: skip

_WIRES: Final[Mapping[str, tuple[str, str]]] = {
    "chat": (CHAT, ""),
    "chat completions": (CHAT, ""),
    "openai chat completions": (CHAT, "openai"),
    "messages": ("messages", ""),
    "messages api": ("messages", ""),
    "anthropic messages": ("messages", "anthropic"),
    "responses": ("responses", ""),
    "responses api": ("responses", ""),
    "openai responses": ("responses", "openai"),
    "generatecontent": ("gemini", ""),
    "gemini generatecontent": ("gemini", "gemini"),
    "gemini api": ("gemini", "gemini"),
}
"""The wire that some words mean, and the host if nothing else names one."""

_FILLERS: Final = frozenset(
    (
        "a", "agent", "an", "and", "api", "at", "by", "call", "can", "do", "for", "from", "get", "how", "i", "in", "is",
        "it", "local", "locally", "loop", "me", "my", "need", "of", "on", "over", "please", "request", "send", "server",
        "should", "the", "to", "use", "using", "via", "want", "we", "what", "wire", "with", "would",
    )
)  # fmt: skip
_WORD: Final = re.compile(r"[a-z]+")
_ENDS: Final = " .!?:"
_SEPARATORS: Final = re.compile(r"[,;\n]+|\s\+\s|\s(?:with|and|to|from|via|using|through)(?=\s)", re.IGNORECASE)
_PHRASES: Final = {also: name for name, words in _ALSO.items() for also in (name, *words)}


class AskedProfile(NamedTuple):
    """The profile that a wish is about, on its wire and with its model, and what is wished."""

    profile: Profile
    wish: Wish


@dataclass(slots=True)
class _Understood:
    """What the words of a wish say so far; `models` are words that may be a model of the host."""

    settings: dict[str, Any] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    wire: str = ""
    host_of_wire: str = ""
    named: dict[str, Resolved] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)

    def set(self, phrase: str) -> None:
        """Take over what a phrase sets; raises Unusable if another one says the opposite."""
        for name, value in _TURNS[_PHRASES[phrase]].items():
            if self.settings.get(name, value) is not value:
                raise Unusable(f"the wish says {self.said[name]!r} and {phrase!r}; keep one of them")
            self.settings[name], self.said[name] = value, phrase

    def set_wire(self, phrase: str) -> None:
        """Take over a wire; raises Unusable if another one is named."""
        wire, host = _WIRES[phrase]
        if self.wire not in ("", wire):
            raise Unusable(f"the wish names two wires, {self.wire} and {wire}; keep one of them")
        self.wire, self.host_of_wire = wire, self.host_of_wire or host


def understood(text: str, provider: str = "", model: str = "", protocol: str = "") -> AskedProfile:
    """Return what a wish means; `provider`, `model` and `protocol` are what options say beside it.

    Raises UnknownName with the nearest words for a word that means nothing, AmbiguousName for a model that several
    hosts serve, and Unusable for a wish that contradicts itself or names no host.
    """
    found = _Understood(wire=protocol)
    for part in filter(None, [each.strip(_ENDS) for each in _SEPARATORS.split(text)]):
        _understand(part, found)
    host, asked = _host(found, provider)
    for each in found.models:
        asked = _model(each, host, asked)
    profile = _on_wire(profiles.load_profile(host), found.wire)
    name = model or asked or profile.model
    return AskedProfile(replace(profile, model=name, **uncached()), Wish(**found.settings))


def _understand(part: str, found: _Understood) -> None:
    """Take over what a part of a wish says: words of a wish at its ends, a host or a model between them."""
    words = part.split()
    while words:
        rest = " ".join(words)
        if _is_listed(rest):
            break
        if _take(words, found, 0) or _take(words, found, len(words)):
            continue
        if words[0].lower() in _FILLERS or words[-1].lower() in _FILLERS:
            words = words[1:] if words[0].lower() in _FILLERS else words[:-1]
            continue
        break
    if not words:
        return
    name = " ".join(words)
    resolved = naming.find(name)
    if resolved is not None and resolved.model and (odd := _odd_word(words)):
        # The globs of a vendor's models fit any word behind its name.
        raise _unknown(odd)
    if resolved is None:
        found.models.append(name)
    else:
        found.named[name] = resolved


def _take(words: list[str], found: _Understood, at: int) -> bool:
    """Take the longest phrase at the beginning or the end of some words, and return whether there is one."""
    for length in range(min(4, len(words)), 0, -1):
        taken = words[:length] if at == 0 else words[-length:]
        phrase = " ".join(taken).lower().replace("-", " ").replace("_", " ")
        if phrase not in _PHRASES and phrase not in _WIRES:
            continue
        if phrase in _PHRASES:
            found.set(phrase)
        else:
            found.set_wire(phrase)
        if at == 0:
            del words[:length]
        else:
            del words[-length:]
        return True
    return False


def _is_listed(text: str) -> bool:
    """Return whether a text is a provider, or a model that a profile lists by this very name."""
    if text.lower() in _PHRASES or text.lower() in _WIRES:
        return False
    resolved = naming.find(text)
    if resolved is None or not resolved.model:
        return resolved is not None
    profile = profiles.load_profile(resolved.profile)
    wanted = naming.fold(model_names.base(resolved.model))
    return any(naming.fold(model_names.base(each.rstrip("*"))) == wanted for each in _models(profile))


def _odd_word(words: Sequence[str]) -> str:
    """Return the first of several words that stands in no profile, and is no version; empty if there is none."""
    plain = [word for word in words if word.isalpha() and word.lower() not in _FILLERS] if len(words) > 1 else []
    return next((word for word in plain if word.lower() not in _known_words()), "")


@cache
def _known_words() -> frozenset[str]:
    """Return the words of which the names of providers and models are made."""
    every = (*profiles.names(), *naming.called(), *[first_words(text) for _, text in texts()])
    return frozenset(word for each in every for word in _WORD.findall(each.lower()))


def _models(profile: Profile) -> Iterator[str]:
    for each in (profile, *profile.protocols.values()):
        yield each.model
        yield from [model.name for model in each.models]


def _host(found: _Understood, provider: str) -> tuple[str, str]:
    """Return the host of a wish and the model that it names there; raises Unusable if it names none, or two."""
    hosts = {name: each for name, each in found.named.items() if not each.model}
    both = {name: each for name, each in found.named.items() if each.model}
    if len(hosts) + bool(provider) > 1 and (wire := next((each for each in hosts if each.lower() == "gemini"), "")):
        # Beside another host, it is the wire that is meant.
        del hosts[wire]
        found.wire = found.wire or "gemini"
    if provider:
        known = profiles.load_profile(provider)
        hosts = {name: each for name, each in hosts.items() if each.profile not in (known.name, known.service)}
        hosts[provider] = Resolved(known.reference)
    if len(hosts) > 1:
        hosts = {name: each for name, each in hosts.items() if not _is_family(each.profile, hosts.values())}
    if len(hosts) > 1:
        raise Unusable(f"the wish names several hosts, {' and '.join(hosts)}; keep one of them")
    if len(both) > 1:
        raise Unusable(f"the wish names several models, {' and '.join(both)}; keep one of them")
    if hosts:
        (host,) = [each.profile for each in hosts.values()]
        (model,) = both or ("",)
        return host, _model(model, host, "") if model else ""
    if both:
        (resolved,) = both.values()
        return resolved.profile, resolved.model
    if found.host_of_wire:
        return found.host_of_wire, ""
    if found.models:
        return _resolved(found.models.pop(0))
    raise Unusable('the wish names no host; name one, as in "deepseek, tools, thinking on", or add --provider')


def _is_family(vendor: str, hosts: Iterable[Resolved]) -> bool:
    """Return whether a name stands for the models of a vendor: that of another host's default model."""
    others = [profiles.load_profile(each.profile) for each in hosts if each.profile != vendor]
    return any(naming.vendor_of(each) == vendor for other in others for each in _defaults(other))


def _defaults(profile: Profile) -> Iterator[str]:
    yield from [each.model for each in (profile, *profile.protocols.values()) if each.model]


def _resolved(name: str) -> tuple[str, str]:
    """Return the host of a model that stands alone; raises AmbiguousName with those that serve it, or UnknownName."""
    try:
        return naming.resolve(name)
    except UnknownName:
        raise _unknown(name) from None


def _model(name: str, host: str, other: str) -> str:
    """Return how a host calls a model; raises UnknownName if the words name none that anybody serves."""
    profile = profiles.load_profile(host)
    resolved = naming.find(name)
    own = resolved.model if resolved and resolved.profile == profile.name else ""
    own = own or model_names.served_name(profile, name, is_own=naming.vendor_of(name) == profile.name)
    served = naming.serving(name)
    own = own or model_names.may_serve(profile, name) or served.get(profile.name, "")
    if not own and not (resolved or naming.vendor_of(name) or served):
        raise _unknown(name)
    if other:
        raise Unusable(f"the wish names several models, {other} and {name}; keep one of them")
    if served.get(profile.name):
        return served[profile.name]
    at_host = naming.find(f"{name} at {host}")
    return at_host.model if at_host and at_host.model else own or model_names.spelled(profile, name)


def _on_wire(profile: Profile, wire: str) -> Profile:
    if wire and wire != profile.wire and wire not in profile.wires:
        known = ", ".join(profile.wires) or profile.wire
        raise Unusable(f"the profile {profile.name} has no claims about the wire {wire}; it has {known}")
    if wire in ("", profile.wire):
        is_elsewhere = not wire and not profile.claims and bool(profile.protocols)
        return next(iter(profile.protocols.values())) if is_elsewhere else profile
    return profile.on(wire)


def _unknown(word: str) -> UnknownName:
    """Return the error about a word that means nothing; the nearest words of a wish come before those of hosts."""
    return UnknownName("word in the wish", word, (*_PHRASES, *_WIRES, *profiles.names(), *naming.called()))
