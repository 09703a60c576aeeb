"""What the lines of profiles say, since loading every profile takes longer than checking a file.

That of shipped profiles is kept in the user's cache, as long as the files stay what they are.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from conformance.errors import Unusable
from conformance.profiles.claims import fits_glob
from conformance.profiles.files import FOLDER, installed_names, installed_path, names
from conformance.wire.native import CHAT
from conformance.wires import NATIVE

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


class Outline(NamedTuple):
    """What the lines of a profile say.

    `head`: the first ones, with what the provider is called and known by. `words`: those that begin lines, and the
    models that runs ask for, in lower case: all names of models are among them, and they are quickly searched.
    `models`: the names and globs of models that it lists on any wire, and those that runs ask for. `hosts`: globs.
    `wires`: the native ones that it has a section for. `is_extended`: whether it builds on another profile.
    """

    name: str
    head: str
    words: str
    models: tuple[str, ...]
    hosts: tuple[str, ...]
    wires: tuple[str, ...]
    is_engine: bool
    is_extended: bool
    has_claims: bool

    def has_host(self, host: str) -> bool:
        """Return whether a host, in lower case, is that of the provider."""
        return any([fits_glob(host, each) for each in self.hosts])

    def has_wire(self, wire: str) -> bool:
        """Return whether the profile has claims about a wire."""
        return self.has_claims if wire == CHAT else wire in self.wires


@lru_cache(maxsize=_MAX_LOADED)
def by_host(host: str, wire: str = CHAT) -> str | None:
    """Return the name of the profile with a host name; None if no profile has it.

    Of several, the first one with claims about the wire counts.
    """
    found = [each for each in outlines() if each.has_host(host.lower())]
    return next((each.name for each in found if each.has_wire(wire)), found[0].name if found else None)


def outlines() -> Iterator[Outline]:
    """Yield the outline of every profile; a broken package must not stop those who do not use it."""
    yield from shipped()
    for name in installed_names():
        with suppress(Unusable):
            path = installed_path(name)
            if path is not None:
                yield outline(name, path.read_text("utf-8"))


@cache
def shipped() -> tuple[Outline, ...]:
    """Return the outline of every shipped profile."""
    # Imported here because a check with --provider none reads none.
    from conformance.derived import derived

    given = {name: (FOLDER / f"{name}.yaml").read_bytes() for name in names()}
    # Which lines count is a matter of this file.
    sources = [Path(__file__).read_bytes(), *[each for pair in given.items() for each in (pair[0].encode(), pair[1])]]
    kept = derived("profiles", "_outlines", sources, lambda: [list(outline(*each)) for each in _decoded(given)])
    return tuple([Outline._make([tuple(each) if type(each) is list else each for each in listed]) for listed in kept])


def _decoded(given: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for name, data in given.items():
        # As text files are read, whatever ends their lines.
        yield name, data.decode().replace("\r\n", "\n").replace("\r", "\n")


@lru_cache(maxsize=_MAX_LOADED)
def outline(name: str, text: str) -> Outline:
    """Return what the lines of a profile say."""
    line = _HOST_LINE.search(text)
    return Outline(
        name,
        text[:_HEAD],
        "\n".join([*_WORD.findall(text), *_ASKED.findall(text)]).lower(),
        _models(text),
        tuple([each.strip(" \"'") for each in line[1].split(",")]) if line else (),
        tuple([wire for wire in NATIVE if f"\n  {wire}:\n" in text]),
        _ENGINE.search(text) is not None,
        _EXTENDS.search(text) is not None,
        "\nclaims: {}\n" not in text,
    )


def _models(text: str) -> tuple[str, ...]:
    found = _MODEL.findall(text)
    for block in _MODELS.finditer(text):
        lines = block["lines"]
        depth = len(lines) - len(lines.lstrip(" "))
        found += [name for indent, name in _ENTRY.findall(lines) if len(indent) == depth]
    return tuple(found)
