"""The texts of profiles: what their lines say, since loading every profile takes longer than checking a file."""

import re
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Final

from conformance.errors import Unusable
from conformance.profiles.files import FOLDER, installed_names, installed_path, names
from conformance.wire.native import CHAT

_MAX_LOADED: Final = 256
_HEAD: Final = 4096
_MODEL: Final = re.compile(r"^ *model: *[\"']?([^\s\"']+)", re.MULTILINE)
_MODELS: Final = re.compile(r"^(?P<indent> *)models: *\n(?P<lines>(?:(?P=indent) +.*\n|[ \t]*\n)+)", re.MULTILINE)
_ENTRY: Final = re.compile(r"^( +)[\"']?([^\s\"']+?)[\"']?:(?=\s|$)", re.MULTILINE)
_EXTENDS: Final = re.compile(r"^extends:", re.MULTILINE)
_ENGINE: Final = re.compile(r"^kind: *engine\b", re.MULTILINE)
_WORD: Final = re.compile(r"^ +[\"']?([^\s:\"']+)", re.MULTILINE)
_ASKED: Final = re.compile(r"^ *model: *(\S+)", re.MULTILINE)
_HOST_LINE: Final = re.compile(r"^hosts: *\[(.*)\] *$", re.MULTILINE)


@lru_cache(maxsize=_MAX_LOADED)
def by_host(host: str, wire: str = CHAT) -> str | None:
    """Return the name of the profile with a host name; None if no profile has it.

    Of several, the first one with claims about the wire counts. Only lines are looked for, because loading every
    profile takes longer than checking a file.
    """
    found = [(name, text) for name, text in texts() if _has_host(text, host.lower())]
    return next((name for name, text in found if _has_wire(text, wire)), found[0][0] if found else None)


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every profile; a broken package must not stop those who do not use it."""
    yield from _shipped()
    for name in installed_names():
        with suppress(Unusable):
            path = installed_path(name)
            if path is not None:
                yield name, path.read_text("utf-8")


@cache
def _shipped() -> tuple[tuple[str, str], ...]:
    return tuple([(name, (FOLDER / f"{name}.yaml").read_text("utf-8")) for name in names()])


@cache
def heads() -> tuple[tuple[str, str], ...]:
    """Return the name of every shipped profile with its first lines, which say what it is called and known by."""
    return tuple([(name, text[:_HEAD]) for name, text in _shipped()])


@lru_cache(maxsize=_MAX_LOADED)
def first_words(text: str) -> str:
    """Return the words that begin the lines of a profile, and the models that runs ask for, in lower case.

    All names of models are among them, and they are quickly searched.
    """
    return "\n".join([*_WORD.findall(text), *_ASKED.findall(text)]).lower()


@lru_cache(maxsize=_MAX_LOADED)
def listed(text: str) -> tuple[str, ...]:
    """Return the names and globs of models that a profile lists on any wire, and the models that runs ask for."""
    found = _MODEL.findall(text)
    for block in _MODELS.finditer(text):
        lines = block["lines"]
        depth = len(lines) - len(lines.lstrip(" "))
        found += [name for indent, name in _ENTRY.findall(lines) if len(indent) == depth]
    return tuple(found)


@lru_cache(maxsize=_MAX_LOADED)
def is_engine(text: str) -> bool:
    """Return whether a profile is that of an engine."""
    return _ENGINE.search(text) is not None


@lru_cache(maxsize=_MAX_LOADED)
def is_extended(text: str) -> bool:
    """Return whether a profile builds on another one."""
    return _EXTENDS.search(text) is not None


def _has_host(text: str, host: str) -> bool:
    return any([fnmatchcase(host, each) for each in _hosts(text)])


@lru_cache(maxsize=_MAX_LOADED)
def _hosts(text: str) -> tuple[str, ...]:
    line = _HOST_LINE.search(text)
    return tuple([each.strip(" \"'") for each in line[1].split(",")]) if line else ()


def _has_wire(text: str, wire: str) -> bool:
    """Return whether a profile has claims about a wire, as its lines show."""
    return "\nclaims: {}\n" not in text if wire == CHAT else f"\n  {wire}:\n" in text
