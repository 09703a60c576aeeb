"""What people call providers: one resolver from names, aliases, titles and models to a profile and a model.

Profiles hold the words (`aliases`, `families`, `title`, `models`); nothing here knows a provider. Only lines of their
texts are read until a model has to be found, because loading every profile takes longer than checking a file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from conformance.errors import AmbiguousName, UnknownName, Unusable
from conformance.profiles import model_names
from conformance.profiles.claims import Profile, fits_glob, uncached
from conformance.profiles.files import has, installed_names, is_file, is_path, load, names
from conformance.profiles.texts import Outline, outlines, shipped
from conformance.wire.native import CHAT
from conformance.wires import NAMES

_TITLE: Final = re.compile(r"^title: *(.+?) *$", re.MULTILINE)
_LISTED: Final = re.compile(r"^(aliases|families): *\[(.*)\] *$", re.MULTILINE)
_PARENTHESES: Final = re.compile(r" *\([^)]*\)")
_NOT_WORDS: Final = re.compile(r"[\W_]+")
_AT: Final = re.compile(r"(?P<model>.+?)(?:\s+(?:at|on|via|by|from|with|through)\s+|\s*@\s*)(?P<host>[^@]+)")
_MAX_RESOLVED: Final = 256
_MAX_VENDOR: Final = 3
"""How many words the name of a vendor has."""
_MAX_LISTED: Final = 12
"""How many hosts the error about an ambiguous model lists."""
_MAX_LENGTH: Final = 100
_MAX_WORDS: Final = 6
_MAX_NEAR: Final = 3
_MIN_LIKENESS: Final = 0.6


class Resolved(NamedTuple):
    """The profile that a text means, and the model, spelled as that provider does; empty if it names none."""

    profile: str
    model: str = ""


class _Words(NamedTuple):
    """What the first lines of the profiles say: providers by folded name, alias and title, and globs of families."""

    providers: Mapping[str, tuple[str, ...]]
    families: Mapping[str, tuple[str, ...]]
    titles: Mapping[str, str]
    aliases: Mapping[str, tuple[str, ...]]


@lru_cache(maxsize=_MAX_RESOLVED)
def resolve(text: str) -> Resolved:
    """Return the profile and the model that a text means: `kimi`, `Z.ai`, `claude-opus-4.5`, `Kimi K2 at groq`.

    It is tried as a name, an alias or a title (case, spaces and punctuation do not matter), as a model at a host
    (`kimi-k2 at groq`, `groq/kimi-k2`, `openrouter:anthropic/claude-sonnet-5`), and as a model or the beginning of
    one, which means its vendor. Raises AmbiguousName with each way to be exact, or UnknownName with what is nearest.
    """
    found = text if has(text) else _provider(text) or _on_wire(text)
    if found:
        return Resolved(found)
    if len(text) > _MAX_LENGTH or len(text.split()) > _MAX_WORDS:
        # The text of an error, say, in which the name of a provider stands.
        raise UnknownName("provider", text, (*names(), *installed_names()))
    at_host = _at_host(text)
    if at_host is not None:
        return at_host
    text = without_vendor(text)
    vendor = vendor_of(text)
    if vendor:
        return Resolved(vendor, model_names.spelled(load(vendor), text, is_own=True))
    hosts = _hosts_of(text)
    if len(hosts) == 1:
        return Resolved(*next(iter(hosts.items())))
    if hosts:
        raise _ambiguous_model(text, hosts)
    raise UnknownName("provider", text, (*names(), *installed_names()), near=_nearest(text))


def resolved(text: str) -> Profile:
    """Return the profile that a text means; a model that it names is the one that a run asks for."""
    found = resolve(text)
    profile = load(found.profile)
    return replace(profile, model=found.model, **uncached()) if found.model else profile


def reference(text: str) -> str:
    """Return the name of the profile that a text means; a path stays as it is. Raises as `resolve` does."""
    return text if is_path(text) and is_file(text) else resolve(text).profile


@lru_cache(maxsize=_MAX_RESOLVED)
def find(text: str) -> Resolved | None:
    """Return what a text means, or None where `resolve` raises: for what a log calls a provider."""
    try:
        return resolve(text)
    except (AmbiguousName, UnknownName, Unusable):
        return None


def vendor_of(model: str) -> str:
    """Return the profile of the vendor that makes a model and serves it itself; empty if none is known."""
    wanted = model_names.key(model)
    found = [name for name, globs in _words().families.items() if any(_is_of_family(model, each) for each in globs)]
    return found[0] if wanted and len(found) == 1 else ""


def without_vendor(text: str) -> str:
    """Return what a text calls a model without its vendor: `claude opus 4.6` of `Anthropic's Claude Opus 4.6`.

    A word that is the beginning of models, too, stays: `claude` of Anthropic, and `mistral` unless `magistral` follows.
    """
    words = text.split()
    for length in range(min(_MAX_VENDOR, len(words) - 1), 0, -1):
        head, rest = fold(" ".join(words[:length]).removesuffix("'s")), " ".join(words[length:])
        for vendor in _words().providers.get(head, ()):
            if short := _without(vendor, head, rest):
                return short
    return text


def _without(vendor: str, head: str, rest: str) -> str:
    """Return the model of a vendor that follows its name, in full; empty if it is none, or the name is a part of it."""
    makers = vendor_of(rest)
    if makers != vendor:
        # Of a model that its vendor does not serve itself, hosts have the vendor as the folder.
        is_folder = not makers and any(own.lower().startswith(f"{vendor}/") for own in serving(rest).values())
        return rest if is_folder else ""
    if model_names.begins_one(load(vendor), rest.split(maxsplit=1)[0]):
        return rest
    is_part = any(fits_glob(head, each) for each in _words().families.get(vendor, ()))
    return "" if is_part else model_names.in_full(load(vendor), rest) or rest


def _is_of_family(model: str, family: str) -> bool:
    """Return whether a model is of a family: `mistral-large` is of `mistral*`, and the misspelled `mistrall` is not."""
    if not fits_glob(model_names.key(model), model_names.key(family)):
        return False
    name, word = model_names.base(model.lower()), family.removesuffix("*")
    # A letter behind a number is a variant: gpt-4o is of `gpt-4*`.
    return not name.startswith(word) or word[-1:].isdigit() or not name.removeprefix(word)[:1].isalpha()


@lru_cache(maxsize=_MAX_RESOLVED)
def serving(model: str, day: str = "") -> Mapping[str, str]:
    """Return the hosts known to serve a model on a day, each with its own name of it; the vendor comes first.

    Engines serve any model, so none is listed. A day is ISO 8601; empty means the last one on which the sources of
    each profile were read.
    """
    vendor = vendor_of(model)
    found = {}
    for name in sorted(_mentioning(model) | ({vendor} if vendor else set()), key=lambda each: (each != vendor, each)):
        profile = load(name)
        own = model_names.served_name(profile, model, is_own=name == vendor) or _passed_on(profile, model, vendor)
        if own and profile.kind != "engine" and profile.is_served(own, day):
            found[name] = own
    return found


def _hosts_of(text: str) -> Mapping[str, str]:
    """Return the hosts that serve a model or its family, which is what an error can offer."""
    if not model_names.key(text):
        return {}
    found = dict(serving(text))
    for name in sorted(_mentioning(text)):
        own = model_names.may_serve(load(name), text)
        if own and load(name).kind != "engine":
            found.setdefault(name, own)
    return found


def _passed_on(profile: Profile, model: str, vendor: str) -> str:
    """Return how a gateway calls a model if it passes on all those of its vendor, as the glob `openai/*` says."""
    for entry in profile.models if vendor and profile.kind == "gateway" else ():
        folder, _, name = entry.name.rpartition("/")
        if name == "*" and vendor in _words().providers.get(fold(folder), ()):
            return f"{folder}/{model_names.slug(model_names.base(model))}"
    return ""


def _mentioning(model: str) -> set[str]:
    """Return the profiles of hosts with an entry that may be about a model: only these are worth loading."""
    word = re.split(r"[\W_\d]", model_names.base(model).lower(), maxsplit=1)[0]
    if not word:
        return set()
    found = [each for each in outlines() if word in each.words or "/*" in each.words]
    return {each.name for each in found if _may_host(each, model)}


def _may_host(outline: Outline, model: str) -> bool:
    """Return whether a profile is that of a host which lists a model, or builds on another profile."""
    # What a profile inherits does not stand in its own text.
    return not outline.is_engine and (outline.is_extended or model_names.fits_any(outline.models, model))


@cache
def _words() -> _Words:
    providers: dict[str, dict[str, None]] = {}
    families, titles, aliases = {}, {}, {}
    for name, text, *_ in shipped():
        title = _TITLE.search(text)
        titles[name] = title[1].strip("\"'") if title else name
        listed = {kind: [each.strip(" \"'") for each in line.split(",")] for kind, line in _LISTED.findall(text)}
        aliases[name] = tuple(listed.get("aliases", ()))
        words = (name, titles[name], _PARENTHESES.sub("", titles[name]), *aliases[name])
        for each in words:
            providers.setdefault(fold(each), {})[name] = None
        if "families" in listed:
            families[name] = tuple(listed["families"])
    for name in installed_names():
        providers.setdefault(fold(name), {})[name] = None
    return _Words({word: tuple(each) for word, each in providers.items()}, families, titles, aliases)


def called() -> tuple[str, ...]:
    """Return every alias and title, as it is written."""
    words = _words()
    return (*words.titles.values(), *[each for found in words.aliases.values() for each in found])


def aliases_of(name: str) -> tuple[str, ...]:
    """Return what else people call a provider, as its profile lists it."""
    return _words().aliases.get(name, ())


def fold(text: str) -> str:
    """Return a name without case, spaces and punctuation."""
    return _NOT_WORDS.sub("", text.lower())


def _provider(text: str) -> str:
    """Return the provider with a name, an alias or a title; empty if there is none."""
    if text in names() or text in installed_names():
        return text
    found = _words().providers.get(fold(text), ())
    if len(found) > 1:
        ways = [f"{name} ({_words().titles.get(name, name)})" for name in found]
        raise AmbiguousName("provider", text, ways)
    return found[0] if found else ""


def _on_wire(text: str) -> str:
    """Return the section of a profile about a wire, such as `kimi.messages`; empty if the text names none."""
    provider, _, wire = text.rpartition(".")
    name = _provider(provider) if provider and wire in NAMES else ""
    return f"{name}.{wire}" if name and wire != CHAT else name


def _at_host(text: str) -> Resolved | None:
    """Return the host and the model of a text that names both; None if it names no host."""
    for host, model in _splits(text):
        name = _provider(host) or _on_wire(host)
        if not name or not model_names.key(model):
            continue
        profile = load(name)
        own = model_names.served_name(profile, model, is_own=vendor_of(model) == name)
        # The maker of an open model need not serve it: openai/gpt-oss-120b is served elsewhere.
        if not own and profile.kind == "vendor":
            others = _hosts_of(model)
            if others:
                raise _ambiguous_model(text, others)
        return Resolved(name, own or model_names.spelled(profile, model))
    return _side_by_side(text)


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """Yield the host and the model of a text with something between them."""
    said = _AT.fullmatch(text)
    if said:
        yield said["host"].strip(), said["model"].strip()
    # Routers write the host behind the model, zai-org/GLM-4.6:cerebras; its folder would be taken for one.
    model, found, host = text.rpartition(":")
    if found and "/" not in host:
        yield host.strip(), model.strip()
    for separator in ("/", ":"):
        host, found, model = text.partition(separator)
        if found:
            yield host.strip(), model.strip()


def _side_by_side(text: str) -> Resolved | None:
    """Return the host and the model of words side by side, such as `groq kimi k2`.

    Without a split of which the host is known to serve the model, the first one with a host and the name of a model.
    """
    words = text.split()
    unproven = None
    for at in range(1, len(words)):
        for host, rest in ((words[:at], words[at:]), (words[at:], words[:at])):
            found = _words().providers.get(fold(" ".join(host)), ())
            model = " ".join(rest)
            # A vendor before its own model is a part of the name: Claude Opus, not Opus at Claude.
            if len(found) == 1 and found[0] != vendor_of(text):
                profile = load(found[0])
                own = model_names.served_name(profile, model, is_own=vendor_of(model) == found[0])
                own = own or model_names.may_serve(profile, model)
                if own:
                    return Resolved(found[0], own)
                if unproven is None and profile.kind != "vendor" and (vendor_of(model) or _hosts_of(model)):
                    unproven = Resolved(found[0], model_names.slug(model))
    return unproven


def _ambiguous_model(text: str, hosts: Mapping[str, str]) -> AmbiguousName:
    ways = [f"{name}/{model}" for name, model in hosts.items()]
    more = [f"and {len(ways) - _MAX_LISTED} more"] if len(ways) > _MAX_LISTED else []
    return AmbiguousName("host", text, [*ways[:_MAX_LISTED], *more])


def _nearest(text: str) -> Sequence[str]:
    """Return the providers whose names, aliases, titles or models are most like a text, with that word if it helps."""
    # Imported here because only an error needs it.
    import difflib

    if not fold(text):
        return ()
    called = {word: name for word, found in _words().providers.items() for name in found[:1]}
    for known in (called, _served()):
        near = difflib.get_close_matches(fold(text), known, _MAX_NEAR, _MIN_LIKENESS)
        if near:
            return list(dict.fromkeys([known[each] for each in near]))
    return ()


@cache
def _served() -> Mapping[str, str]:
    """Return who makes, or else serves, each model that a profile names."""
    return {fold(each): vendor_of(each) or name for name in names() for each in _model_names(name)}


def _model_names(name: str) -> Iterator[str]:
    profile: Any = load(name)
    for each in (profile, *profile.protocols.values()) if profile.kind != "engine" else ():
        yield model_names.base(each.model)
        yield from (model_names.base(model.name) for model in each.models)
