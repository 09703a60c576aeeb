"""Families of models: which version a model is of, what people call it, and who serves it by which name.

`moonshotai/kimi-k2.5`, `kimi-k2-5` and `Kimi-K2.5-Instruct` are of the family `kimi-k2.5`. Hosts come from the resolver
of names, so that the page and the commands agree.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from conformance.profiles import Profile, has, naming
from conformance.profiles.model_names import base, key

_POINT: Final = re.compile(r"(?<=\d)p(?=\d)")
_HYPHEN: Final = re.compile(r"(?<![\d.])(\d)-(\d)(?![\da-z.])")
"""A version that is written with a hyphen: the `4-5` of `claude-haiku-4-5`, and not the `3-32` of `qwen-3-32b`."""

_SEPARATOR: Final = re.compile(r"[-_:]")
_VERSION: Final = re.compile(r"[a-z]*1?\d(?:\.\d+)?[a-z]?")
_SIZE: Final = re.compile(r"[a-z]?\d+(?:\.\d+)?[bkt]|\d\d+|\d+e|\d+x\d+b")
"""What is no version: a number of parameters or experts, or a date."""

_EDITIONS: Final = frozenset({"latest", "instruct", "preview", "chat", "exp", "it", "scripted"})
_LINE: Final = re.compile(r"[a-z]{3,}")
_WORD: Final = re.compile(r"[a-z]+")
_NOT_MODELS: Final = ("scripted", "any-model", "default")
_MAX_SHORT: Final = 3
_MAX_KEPT: Final = 4096
_FOREIGN: Final = 2
"""Of a name that another host gives to a model; below it are those that a profile lists, and those that fit it."""


class ServedModel(NamedTuple):
    """A model at a host: its profile, of one wire, and the names by which the host knows models of the family."""

    profile: str
    models: tuple[str, ...]


class ModelFamily(NamedTuple):
    """One version of a line of models: its name, what people call it, its vendor (may be empty), and who serves it."""

    name: str
    title: str
    vendor: str
    served: tuple[ServedModel, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """Return every name of a model of the family, each once."""
        return tuple(dict.fromkeys([model for each in self.served for model in each.models]))


@lru_cache(maxsize=_MAX_KEPT)
def family_of(model: str) -> str:
    """Return the family of a model, such as `deepseek-v4.1`; empty if its name is that of a whole line."""
    words = _words(model)
    found: list[str] = []
    for word in words:
        if _SIZE.fullmatch(word) or (found and word in _EDITIONS):
            break
        found.append(word)
        if _VERSION.fullmatch(word):
            return "-".join(found)
    # Without a version, a glob is of a whole line: `kimi*`.
    return "" if "*" in model or "*" in "".join(found) else "-".join(found)


def families(profiles: Mapping[str, Profile]) -> tuple[ModelFamily, ...]:
    """Return the families that the profiles name, ordered by vendor and name."""
    named: dict[str, dict[str, str]] = {}
    for profile in profiles.values():
        for model in _named(profile):
            family = family_of(model)
            if family:
                named.setdefault(key(family), {}).setdefault(model.rstrip("*-."), family)
    casing = _casing(profiles)
    engines = _engines(profiles)
    made = [_family(models, profiles, casing, engines.get(name, {})) for name, models in named.items()]
    return tuple(
        sorted([each for each in made if each.served], key=lambda each: (not each.vendor, each.vendor, each.name))
    )


def _named(profile: Profile) -> Iterator[str]:
    for each in (profile.model, *[entry.name for entry in profile.models]):
        if each and "*" not in each.rstrip("*") and not each.startswith(_NOT_MODELS):
            yield each


def _words(model: str) -> list[str]:
    text = _POINT.sub(".", base(model.lower()).rstrip("*-.").partition("@")[0])
    text = _HYPHEN.sub(lambda found: found[1] if found[2] == "0" else f"{found[1]}.{found[2]}", text)
    words = [each for each in _SEPARATOR.split(text) if each]
    # Some hosts write the name of the vendor, or their own, before that of the model.
    while len(words) > 1 and _is_prefix(words[0], words[1:]):
        words = words[1:]
    return words


def _is_prefix(first: str, rest: Sequence[str]) -> bool:
    vendor, other = naming.vendor_of("-".join([first, *rest])), naming.vendor_of("-".join(rest))
    if not vendor and other:
        return True
    return vendor == other and has(first) and bool(_LINE.fullmatch(rest[0]))


def _family(
    models: Mapping[str, str],
    profiles: Mapping[str, Profile],
    casing: Mapping[str, str],
    engines: Mapping[str, Mapping[str, None]],
) -> ModelFamily:
    """Return a family; `models` has for each spelling of a model the name that the family has there."""
    name = min(models.values(), key=lambda each: ("." not in each, len(each), each))
    vendor = naming.vendor_of(name)
    hosts: dict[str, dict[str, None]] = {name: dict(own) for name, own in engines.items()}
    for model in models:
        for host, own in naming.serving(model).items():
            if key(family_of(own)) == key(name):
                hosts.setdefault(host, {}).setdefault(own.rstrip("*-"))
    served = [
        ServedModel(profile.name, _own_names(profile, hosts[profile.service]))
        for profile in profiles.values()
        if profile.service in hosts
    ]
    return ModelFamily(name, _title(name, casing), vendor, tuple(sorted(served, key=lambda each: _place(each, vendor))))


def _own_names(profile: Profile, models: Iterable[str]) -> tuple[str, ...]:
    """Return the names that a host has for models: those of its profile, without other spellings of the same model."""
    own = {each.rstrip("*-") for each in (profile.model, *[entry.name for entry in profile.models])}

    def tier(model: str) -> int:
        fits = "/" not in model or any([each.matches(model.lower()) for each in profile.models if "/" in each.name])
        return 0 if model in own else 1 if fits or profile.kind == "gateway" else 2

    ordered = sorted(models, key=lambda each: (tier(each), each != each.lower(), len(each), each))
    best = tier(ordered[0])
    listed = [base(each) if best == _FOREIGN else each for each in ordered if tier(each) == best]
    return tuple({key(each): each for each in reversed(listed)}.values())[::-1]


def _place(served: ServedModel, vendor: str) -> tuple[bool, str]:
    return served.profile.partition(".")[0] != vendor, served.profile


def _engines(profiles: Mapping[str, Profile]) -> Mapping[str, Mapping[str, Mapping[str, None]]]:
    """Return by family the engines that treat its models in a way of their own, with the entries about them."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for profile in profiles.values():
        for entry in profile.models if profile.kind == "engine" else ():
            own = entry.name.strip("*-")
            family = "" if own.startswith(_NOT_MODELS) else family_of(own)
            if family:
                found.setdefault(key(family), {}).setdefault(profile.service, {})[own] = None
    return found


def _casing(profiles: Mapping[str, Profile]) -> Mapping[str, str]:
    """Return how words of names are written by those who make the models: `deepseek` as DeepSeek, `glm` as GLM."""
    found: dict[str, str] = {}
    called = [*naming.called(), *[base(model) for profile in profiles.values() for model in _named(profile)]]
    for text in called:
        for word in re.findall(r"[A-Za-z]+", text):
            if word != word.lower():
                found.setdefault(word.lower(), word)
    return found


def _title(name: str, casing: Mapping[str, str]) -> str:
    return " ".join([_WORD.sub(lambda found: _written(found[0], casing), word) for word in name.split("-")])


def _written(word: str, casing: Mapping[str, str]) -> str:
    if len(word) == 1 and word == "o":
        return word
    is_short = len(word) <= _MAX_SHORT and not set(word) & set("aeiou")
    return casing.get(word) or (word.upper() if is_short else word.capitalize())


def lines(many: Iterable[ModelFamily]) -> Mapping[str, tuple[str, ...]]:
    """Return the families of each line by the first letters of their names: `kimi` has kimi-k2 and kimi-k3."""
    found: dict[str, list[str]] = {}
    for each in many:
        word = _WORD.match(each.name)
        if word:
            found.setdefault(word[0], []).append(each.name)
    return {word: tuple(names) for word, names in found.items()}
