"""Profile files: found by name, host or path, read and checked.

A name is that of a shipped profile, or else of one that an installed package offers. Shipped names are reserved: a
file of one's own has another name, because results and cassettes are filed under it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Final

from conformance import definitions, linear
from conformance.documents import Document, read_json, read_yaml
from conformance.documents.bounds import read_bytes
from conformance.documents.pointer import Place, render
from conformance.errors import InvalidDocument, UnknownName, Unusable
from conformance.profiles.claims import Claim, Disagreement, Histories, Model, Profile, bare, uncached
from conformance.profiles.composition import on_wire, ordered, with_last_day
from conformance.profiles.lifecycle import Lifecycle, Period
from conformance.profiles.sources import Source
from conformance.resources import folder
from conformance.schemas import SchemaError, validator
from conformance.urls import is_url
from conformance.wires import NATIVE

FOLDER = Path(__file__).parent
_MAX_LOADED: Final = 256
_REGEXES = frozenset({"ids.format", "ids.format-in-stream", "reply.id-format"})
_KINDS: Final = tuple([name for name in Source._fields if name not in ("quote", "read")])
_PLAIN = ("title", "kind", "base_url", "key", "model", "max_tokens", "note")


@cache
def names() -> tuple[str, ...]:
    """Return the name of every shipped profile."""
    return definitions.names(FOLDER)


@cache
def installed_names() -> tuple[str, ...]:
    """Return the name of every profile of an installed package, without those that shipped profiles have."""
    # Imported here because checking a file of a shipped provider needs none of it.
    from conformance.profiles import installed

    return tuple([name for name in installed.providers() if name not in names()])


def installed_path(name: str) -> Path | None:
    """Return the file of a profile of an installed package; None if there is none, Unusable if it is broken."""
    from conformance.profiles import installed

    return installed.path_of(name)


@lru_cache(maxsize=_MAX_LOADED)
def load(name: str) -> Profile:
    """Return the profile of that name, shipped or of an installed package.

    Raises UnknownName, InvalidDocument with file, line and pointer, or Unusable for a broken package.
    """
    provider, _, wire = name.partition(".")
    if wire and provider in names():
        sections = load(provider).protocols
        if wire not in sections:
            raise UnknownName("provider", name, [f"{provider}.{each}" for each in sections] or (provider,))
        return sections[wire]
    if name not in names():
        path = installed_path(name)
        if path is not None:
            return read(path)
        if installed_names():
            raise UnknownName("provider", name, (*names(), *installed_names()))
    return read(definitions.find("provider", name, FOLDER))


def read(path: Path) -> Profile:
    """Return the profile in a file; raises InvalidDocument with file, line and pointer."""
    return _read(path, ())


def errors(path: Path) -> tuple[InvalidDocument, ...]:
    """Return every error in a profile's file; raises InvalidDocument if it cannot be read as YAML."""
    document = read_yaml(path, definitions.DEFINITION)
    found = tuple(definitions.errors(document, "profile", _errors, _reworded))
    if not found:
        try:
            _read(path, ())
        except InvalidDocument as error:
            return (error,)
    return found


def _read(path: Path, below: tuple[Path, ...]) -> Profile:
    """Return the profile in a file that the files `below` build on."""
    document = _document(path)
    profile = _profile(path.stem, document.value)
    if "extends" not in document.value:
        return profile
    # Imported here because shipped profiles extend none.
    from conformance.profiles.composition import extended

    return extended(profile, _base(document, path, below))


def _document(path: Path) -> Document:
    """Return the document of a profile; that of a shipped one is kept in the user's cache, without its lines."""
    read_whole = partial(definitions.read, path, "profile", _errors, _reworded)
    if path.parent != FOLDER:
        return read_whole()
    # Imported here because a check with --provider none reads none.
    from conformance.derived import derived

    # Only errors need lines, and a shipped file has none: tests read each one without the cache.
    value = derived("profiles", path.stem, (read_bytes(path, definitions.DEFINITION),), lambda: read_whole().value)
    return Document(value, {}, str(path))


def _base(document: Document, path: Path, below: tuple[Path, ...]) -> Profile:
    """Return the profile that another one builds on; an error in the base names the file of the base."""
    name: str = document.value["extends"]
    chain = (*below, path.resolve())

    def invalid(message: str) -> InvalidDocument:
        return definitions.invalid(document, ("extends",), message)

    if is_path(name):
        base = path.parent / name
        if not base.is_file():
            raise invalid(f"expected a provider or a file, got {name!r}: there is no file {base}")
        if not _looks_like_a_profile(base):
            raise invalid(f"expected a provider or the YAML file of a profile, and {base} is not one")
    else:
        try:
            found = definitions.find("provider", name, FOLDER) if name in names() else installed_path(name)
        except Unusable as error:
            raise invalid(str(error)) from None
        if found is None:
            raise invalid(str(UnknownName("provider", name, (*names(), *installed_names()))))
        base = found
    if base.resolve() in chain:
        at = chain.index(base.resolve())
        cycle = " → ".join([each.name for each in (*chain[at:], base)])
        raise invalid(f"expected a profile that does not build on this one, got {cycle}")
    return _read(base, chain)


def _looks_like_a_profile(path: Path) -> bool:
    """Return whether a file is YAML with claims: the errors of any other file might quote what is secret there."""
    if path.suffix not in (".yaml", ".yml"):
        return False
    try:
        value = read_yaml(path, definitions.DEFINITION).value
    except InvalidDocument:
        return False
    return isinstance(value, dict) and "claims" in value


def has(name: str) -> bool:
    """Return whether a shipped profile has this name, or a section of it about a wire, such as `openai.responses`."""
    provider, _, wire = name.partition(".")
    return provider in names() and (not wire or wire in load(provider).protocols)


def is_path(name: str) -> bool:
    """Return True if the text that names a profile is a path: it has a separator, or the ending of a YAML file."""
    return name.endswith((".yaml", ".yml")) or bool({"/", os.sep} & set(name))


def load_profile(name: str | Path) -> Profile:
    """Return a provider's profile, by its name or by the path of a YAML file.

    A string is a path if it holds a path separator or ends in `.yaml` or `.yml`. Raises UnknownName, with the nearest
    names, or InvalidDocument with file, line and pointer; also for a file with the name of a shipped profile.

        >>> from conformance import load_profile
        >>> profile = load_profile("deepseek")
        >>> profile.title, profile.at("deepseek-v4-flash")["reasoning.request-field"]
        ('DeepSeek', 'reasoning_content')
    """
    if isinstance(name, str) and name in names():
        return load(name)
    if isinstance(name, str) and not (is_path(name) and is_file(name)):
        # Imported here because the name of a profile needs none of it.
        from conformance.profiles.naming import resolved

        return resolved(name)
    path = Path(name)
    if path.stem in names():
        if path.resolve() == (FOLDER / f"{path.stem}.yaml").resolve():
            return load(path.stem)
        message = f"{path.stem!r} is the name of a shipped profile; give the file another one, such as my-{path.name}"
        raise InvalidDocument(f"{message} (with `extends: {path.stem}`, it builds on the shipped one)", str(path))
    try:
        stat = path.stat()
    except OSError as error:
        raise InvalidDocument(f"cannot be read: {error.strerror}", str(path)) from None
    return _file(path.absolute(), stat.st_mtime_ns, stat.st_size)


def is_file(name: str) -> bool:
    """Return whether a text with a separator is meant as a path, instead of as a host and a model."""
    return name.endswith((".yaml", ".yml")) or name.startswith((".", "/", "~")) or Path(name).exists()


@lru_cache(maxsize=_MAX_LOADED)
def _file(path: Path, _changed: int, _size: int) -> Profile:
    """Return the profile in a file, which is read again when it has changed."""
    profile = read(path)
    sections = {wire: replace(each, path=str(path), **uncached()) for wire, each in profile.protocols.items()}
    # The path names the profile in results and messages, since no registry knows it.
    return replace(profile, path=str(path), protocols=sections, **uncached())


def resolve_profile(profile: Profile | str | Path | None) -> Profile | None:
    """Return the profile meant by a profile, a name or a path; None stays None."""
    given: Any = profile
    if isinstance(given, (str, Path)):
        return load_profile(given)
    if given is None or isinstance(given, Profile):
        return given
    message = f"expected a Profile, a provider's name or a path, got {type(profile).__qualname__}"
    raise TypeError(message)


def check_claim(name: str, value: Any) -> None:
    """Raise UnknownName if there is no such claim, and Unusable, with what is allowed, if it cannot have this value."""
    if name not in vocabulary():
        raise UnknownName("claim", name, vocabulary())
    claims = {name: {"value": value, "source": {"inferred": "-"}, "confidence": "low"}}
    for error in validator("files/profile").errors({"title": "-", "kind": "host", "claims": claims}):
        at = error.place[3:]
        raise Unusable(f"{error.message}{f' at {render(at)}' if at else ''}")
    for _, message in _expressions(name, (), value):
        raise Unusable(message)


@cache
def vocabulary() -> Mapping[str, str]:
    """Return the meaning of every claim, by name."""
    schema: Any = read_json(folder("schemas") / "files" / "profile.json")
    return {name: each["description"] for name, each in schema["$defs"]["claims"]["properties"].items()}


def _profile(name: str, value: Mapping[str, Any]) -> Profile:
    profile = _of_wire(name, value)
    if "protocols" not in value:
        return profile
    shared = bare(profile)
    found = {wire: on_wire(shared, _of_wire(name, section), wire) for wire, section in value["protocols"].items()}
    sections = {wire: replace(each, name=f"{name}.{wire}", wire=wire, **uncached()) for wire, each in found.items()}
    return with_last_day(replace(profile, protocols=sections))


def _of_wire(name: str, value: Mapping[str, Any]) -> Profile:
    """Return a profile with the claims about one wire."""
    models = [
        Model(each, _histories(entry.get("claims", {})), entry.get("note", ""), _lifecycle(entry))
        for each, entry in value.get("models", {}).items()
    ]
    return Profile(
        name,
        **{key: value[key] for key in _PLAIN if key in value},
        hosts=tuple(value.get("hosts", ())),
        lifecycle=_lifecycle(value),
        models=ordered(models),
        claims=_histories(value["claims"]),
    )


def _lifecycle(entry: Mapping[str, Any]) -> Lifecycle:
    return tuple([Period(**{**each, "source": _sources(each)}) for each in _listed(entry.get("lifecycle", []))])


def _sources(entry: Mapping[str, Any]) -> tuple[Source, ...]:
    return tuple([Source(**each) for each in _listed(entry["source"])])


def _histories(claims: Mapping[str, Any]) -> Histories:
    return {
        name: tuple([_claim(name, entry) for entry in entries]) if type(entries) is list else (_claim(name, entries),)
        for name, entries in claims.items()
    }


def _claim(name: str, entry: Mapping[str, Any]) -> Claim:
    said, sources, others = entry.get, entry["source"], entry.get("disagrees")
    # By position, and with few calls: a provider has some hundreds of claims.
    return Claim(
        name,
        entry["value"],
        said("since", ""),
        said("until", ""),
        said("versions", ""),
        (Source(**sources),) if type(sources) is dict else _sources(entry),
        entry["confidence"],
        said("note", ""),
        tuple([_disagreement(each) for each in others]) if others else (),
    )


def _disagreement(entry: Mapping[str, Any]) -> Disagreement:
    return Disagreement(entry["value"], Source(**entry["source"]), entry.get("note", ""))


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else (value,)


def _reworded(error: SchemaError) -> str:
    """Return a better message: the nearest names for an unknown claim, the kinds of sources; empty for other errors."""
    if error.place[-1:] == ("claims",) and error.extra:
        return str(UnknownName("claim", error.extra[0], vocabulary()))
    if "oneOf" in error.message and "source" in error.place[-2:]:
        return f"expected exactly one of {', '.join(_KINDS)}"
    if "anyOf" in error.message and "lifecycle" in error.place[-2:]:
        return "expected since, until or alias_of"
    return ""


def _errors(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """Find what a schema cannot express: invalid URLs and regular expressions, dates out of order, names that clash."""
    yield from _errors_of_wire(value)
    yield from _uncompiled(
        [(("signs", "ids", at), each) for at, each in enumerate(value.get("signs", {}).get("ids", ()))]
    )
    for wire, section in value.get("protocols", {}).items():
        if wire not in NATIVE:
            yield ("protocols", wire), str(UnknownName("wire", wire, NATIVE))
        for place, message in _errors_of_wire(section):
            yield ("protocols", wire, *place), message


def _errors_of_wire(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    if not is_url(value.get("base_url", "")):
        yield ("base_url",), f"expected a URL, got {value['base_url']!r}"
    seen: dict[str, str] = {}
    for name in value.get("models", {}):
        if seen.setdefault(name.lower(), name) != name:
            yield ("models", name), f"expected each model once, got {seen[name.lower()]!r} and {name!r}"
    holders: list[tuple[Place, Mapping[str, Any]]] = [(("claims",), value["claims"])]
    yield from _dates(("lifecycle",), value.get("lifecycle", []))
    for name, model in value.get("models", {}).items():
        yield from _dates(("models", name, "lifecycle"), model.get("lifecycle", []))
        for at, period in _entries(("models", name, "lifecycle"), model.get("lifecycle", [])):
            if period.get("alias_of", "").lower() == name.lower():
                yield (*at, "alias_of"), f"expected another model, got {name!r}"
        holders.append((("models", name, "claims"), model.get("claims", {})))
    for place, claims in holders:
        for name, entries in claims.items():
            yield from _dates((*place, name), entries)
            for at, entry in _entries((*place, name), entries):
                yield from _expressions(name, (*at, "value"), entry["value"])


def _entries(place: Place, entries: Any) -> Iterable[tuple[Place, Mapping[str, Any]]]:
    if isinstance(entries, list):
        return [((*place, number), entry) for number, entry in enumerate(entries)]
    return [(place, entries)]


def _dates(place: Place, entries: Any) -> Iterator[tuple[Place, str]]:
    before: Mapping[str, Any] = {}
    for at, entry in _entries(place, entries):
        since, until = entry.get("since", ""), entry.get("until", "")
        if until and until <= since:
            yield (*at, "until"), f"expected a day after {since}, got {until}"
        if before and since <= before.get("since", ""):
            earlier = before.get("since") or "the beginning"
            yield at, f"expected an entry that begins after the previous one ({earlier}), got {since or 'none'}"
        if before and since < before.get("until", ""):
            yield at, f"expected an entry that begins when the previous one ends ({before['until']}), got {since}"
        before = entry


def _expressions(name: str, place: Place, value: Any) -> Iterator[tuple[Place, str]]:
    found: list[tuple[Place, Any]] = []
    if name in _REGEXES:
        found = [((*place, at) if isinstance(value, list) else place, each) for at, each in enumerate(_listed(value))]
    elif isinstance(value, dict) and "pattern" in value:
        found = [((*place, "pattern"), value["pattern"])]
    yield from _uncompiled(found)


def _uncompiled(found: Iterable[tuple[Place, Any]]) -> Iterator[tuple[Place, str]]:
    for at, each in found:
        if fault := linear.fault(each):
            yield at, f"expected a regular expression, got {each!r:.100}: {fault}"
