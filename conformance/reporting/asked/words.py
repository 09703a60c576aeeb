"""The words of a wish: which host, model, wire and turn a text such as "deepseek, tools, thinking on" means."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

from conformance import profiles
from conformance.errors import UnknownName, Unusable
from conformance.profiles import Profile, model_names, naming
from conformance.profiles.claims import uncached
from conformance.profiles.naming import Resolved
from conformance.profiles.texts import outlines
from conformance.reporting.asked.requests import Wish
from conformance.reporting.asked.sentences import scan, spoken
from conformance.reporting.asked.vocabulary import FILLERS, PHRASES, WIRES, Understood, is_listed, unknown

_WORD: Final = re.compile(r"[a-z]+")
_ENDS: Final = " .!?:"
_SEPARATORS: Final = re.compile(r"[,;\n]+|:(?=\s)|\s\+\s|\s(?:with|and|to|from|via|using|through)(?=\s)", re.IGNORECASE)


class AskedProfile(NamedTuple):
    """The profile that a wish is about, on its wire and with its model, what is wished, and words that say nothing."""

    profile: Profile
    wish: Wish
    ignored: tuple[str, ...] = ()


def understood(text: str, provider: str = "", model: str = "", protocol: str = "") -> AskedProfile:
    """Return what a wish means; `provider`, `model` and `protocol` are what options say beside it.

    In a sentence, words that mean nothing are returned. Raises UnknownName with the nearest words for a word that means
    nothing in a shorter wish, AmbiguousName for a model that several hosts serve, and Unusable for a wish that
    contradicts itself or names no host.
    """
    found = Understood(wire=protocol)
    if words := spoken(text):
        scan(words, found)
        return _asked(found, provider, model)
    for part in filter(None, [each.strip(_ENDS) for each in _SEPARATORS.split(text)]):
        _understand(part, found)
    return _asked(found, provider, model)


def _asked(found: Understood, provider: str, model: str) -> AskedProfile:
    host, asked = _host(found, provider)
    for each in found.models:
        asked = _model(each, host, asked)
    profile = _on_wire(profiles.load_profile(host), found.wire)
    name = model or asked or profile.model
    return AskedProfile(replace(profile, model=name, **uncached()), Wish(**found.settings), tuple(found.ignored))


def _understand(part: str, found: Understood) -> None:
    """Take over what a part of a wish says: words of a wish at its ends, a host or a model between them."""
    words = part.split()
    while words:
        rest = " ".join(words)
        if is_listed(rest):
            break
        if _take(words, found, 0) or _take(words, found, len(words)):
            continue
        if words[0].lower() in FILLERS or words[-1].lower() in FILLERS:
            words = words[1:] if words[0].lower() in FILLERS else words[:-1]
            continue
        break
    if not words:
        return
    name = " ".join(words)
    resolved = naming.find(name)
    if resolved is not None and resolved.model and (odd := _odd_word(words)):
        # The globs of a vendor's models fit any word behind its name.
        raise unknown(odd)
    if resolved is None:
        found.models.append(name)
    else:
        found.named[name] = resolved


def _take(words: list[str], found: Understood, at: int) -> bool:
    """Take the longest phrase at the beginning or the end of some words, and return whether there is one."""
    for length in range(min(4, len(words)), 0, -1):
        taken = words[:length] if at == 0 else words[-length:]
        phrase = " ".join(taken).lower().replace("-", " ").replace("_", " ")
        if phrase not in PHRASES and phrase not in WIRES:
            continue
        if phrase in PHRASES:
            found.set(phrase)
        else:
            found.set_wire(phrase)
        if at == 0:
            del words[:length]
        else:
            del words[-length:]
        return True
    return False


def _odd_word(words: Sequence[str]) -> str:
    """Return the first of several words that stands in no profile, and is no version; empty if there is none."""
    plain = [word for word in words if word.isalpha() and word.lower() not in FILLERS] if len(words) > 1 else []
    return next((word for word in plain if word.lower() not in _known_words()), "")


@cache
def _known_words() -> frozenset[str]:
    """Return the words of which the names of providers and models are made."""
    every = (*profiles.names(), *naming.called(), *[each.words for each in outlines()])
    return frozenset(word for each in every for word in _WORD.findall(each.lower()))


def _host(found: Understood, provider: str) -> tuple[str, str]:
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
        hosts = _without_makers(hosts, (*both, *found.models))
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


def _without_makers(hosts: Mapping[str, Resolved], models: Sequence[str]) -> dict[str, Resolved]:
    """Return the hosts without those that only say who makes the model: `google gemini 3 at openrouter`."""
    makers = {naming.vendor_of(each) for each in models}
    kept = {name: each for name, each in hosts.items() if each.profile not in makers} or hosts
    return {name: each for name, each in kept.items() if len(kept) == 1 or not _is_family(each.profile, kept.values())}


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
        raise unknown(name) from None


def _model(name: str, host: str, other: str) -> str:
    """Return how a host calls a model; raises UnknownName if the words name none that anybody serves."""
    profile, name = profiles.load_profile(host), naming.without_vendor(name)
    resolved = naming.find(name)
    own = resolved.model if resolved and resolved.profile == profile.name else ""
    own = own or model_names.served_name(profile, name, is_own=naming.vendor_of(name) == profile.name)
    served = naming.serving(name)
    own = own or model_names.may_serve(profile, name) or served.get(profile.name, "")
    if not own and not (resolved or naming.vendor_of(name) or served):
        raise unknown(name)
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
