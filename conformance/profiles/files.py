"""Profile files: found by name, host or path, read and checked."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from conformance import definitions
from conformance.documents import read_json
from conformance.documents.pointer import Place, render
from conformance.errors import UnknownName, Unusable
from conformance.profiles.claims import Claim, Disagreement, Histories, Model, Profile
from conformance.profiles.lifecycle import Lifecycle, Period
from conformance.profiles.sources import Source
from conformance.resources import folder
from conformance.schemas import SchemaError, validator
from conformance.urls import is_url

_FOLDER = Path(__file__).parent
_MAX_LOADED: Final = 256
_REGEXES = frozenset({"ids.format", "ids.format-in-stream", "reply.id-format"})
_KINDS: Final = tuple([name for name in Source._fields if name not in ("quote", "read")])
_PLAIN = ("title", "kind", "base_url", "key", "model", "max_tokens", "note")
_HOSTS = re.compile(r"^hosts: *\[(.*)\] *$", re.MULTILINE)


@cache
def names() -> tuple[str, ...]:
    """Return the name of every profile."""
    return definitions.names(_FOLDER)


@lru_cache(maxsize=_MAX_LOADED)
def load(name: str) -> Profile:
    """Return the profile of that name; raises UnknownName, or InvalidDocument with file, line and pointer."""
    return read(definitions.find("provider", name, _FOLDER))


def read(path: Path) -> Profile:
    """Return the profile in a file; raises InvalidDocument with file, line and pointer."""
    return _profile(path.stem, definitions.read(path, "profile", _errors, _reworded).value)


def load_profile(name: str | Path) -> Profile:
    """Return a provider's profile, by its name or by the path of a YAML file.

    A string is a path if it holds a path separator or ends in `.yaml` or `.yml`. Raises UnknownName, with the nearest
    names, or InvalidDocument with file, line and pointer.

        >>> from conformance import load_profile
        >>> profile = load_profile("deepseek")
        >>> profile.title, profile.at("deepseek-v4-flash")["reasoning.request-field"]
        ('DeepSeek', 'reasoning_content')
    """
    if isinstance(name, Path) or name.endswith((".yaml", ".yml")) or {"/", os.sep} & set(name):
        return read(Path(name))
    return load(name)


def resolve_profile(profile: Profile | str | Path | None) -> Profile | None:
    """Return the profile meant by a profile, a name or a path; None stays None."""
    given: Any = profile
    if isinstance(given, (str, Path)):
        return load_profile(given)
    if given is None or isinstance(given, Profile):
        return given
    message = f"expected a Profile, a provider's name or a path, got {type(profile).__qualname__}"
    raise TypeError(message)


@lru_cache(maxsize=_MAX_LOADED)
def by_host(host: str) -> str | None:
    """Return the name of the profile with a host name; None if no profile has it.

    Only the line with the hosts is read, because loading every profile takes longer than checking a file.
    """
    wanted = host.lower()
    for name in names():
        line = _HOSTS.search((_FOLDER / f"{name}.yaml").read_text("utf-8"))
        known = [each.strip(" \"'") for each in line[1].split(",")] if line else []
        if any(fnmatchcase(wanted, each) for each in known):
            return name
    return None


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
    models = [
        Model(each, _histories(entry.get("claims", {})), entry.get("note", ""), _lifecycle(entry))
        for each, entry in value.get("models", {}).items()
    ]
    models.sort(key=lambda model: (_is_glob(model.name), -len(model.name)))
    return Profile(
        name,
        **{key: value[key] for key in _PLAIN if key in value},
        hosts=tuple(value.get("hosts", ())),
        lifecycle=_lifecycle(value),
        models=tuple(models),
        claims=_histories(value["claims"]),
    )


def _lifecycle(entry: Mapping[str, Any]) -> Lifecycle:
    return tuple([Period(**{**each, "source": _sources(each)}) for each in _listed(entry.get("lifecycle", []))])


def _sources(entry: Mapping[str, Any]) -> tuple[Source, ...]:
    return tuple([Source(**each) for each in _listed(entry["source"])])


def _histories(claims: Mapping[str, Any]) -> Histories:
    return {name: tuple([_claim(name, entry) for entry in _listed(entries)]) for name, entries in claims.items()}


def _claim(name: str, entry: Mapping[str, Any]) -> Claim:
    return Claim(
        name,
        entry["value"],
        since=entry.get("since", ""),
        until=entry.get("until", ""),
        versions=entry.get("versions", ""),
        source=_sources(entry),
        confidence=entry["confidence"],
        note=entry.get("note", ""),
        disagrees=tuple(
            [
                Disagreement(each["value"], Source(**each["source"]), each.get("note", ""))
                for each in entry.get("disagrees", ())
            ]
        ),
    )


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else (value,)


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


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
    for at, each in found:
        try:
            re.compile(each)
        except re.error as error:
            yield at, f"expected a regular expression, got {each!r}: {error}"
