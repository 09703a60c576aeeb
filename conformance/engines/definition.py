"""The definition of an engine: packages, command, environment, health check, templates, stubs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from conformance import definitions, profiles
from conformance.definitions import BRACES, filled
from conformance.documents.pointer import Place
from conformance.errors import UnknownName

FOLDER: Final = Path(__file__).parent

PLACEHOLDERS: Final = ("python", "package", "work", "port", "model", "name", "upstream", "upstream-name")
"""What may stand between braces in a command, an environment or a file; `{flags}` must be a whole word."""


@dataclass(frozen=True, slots=True)
class Template:
    """A chat template for an engine, with the name that requests give its model and the flags that it needs."""

    name: str
    model: str
    flags: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class EngineDefinition:
    """An engine; `schemas/files/engine.json` explains the fields. `home` is the folder of its file."""

    name: str
    home: Path
    title: str
    provider: str
    packages: tuple[tuple[str, ...], ...]
    version: str
    model: str
    templates: tuple[Template, ...]
    command: tuple[str, ...]
    health: str
    seconds: float
    grace: float = 10.0
    note: str = ""
    uninstall: tuple[str, ...] = ()
    python: Mapping[str, str] = field(default_factory=dict)
    build: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    stubs: Mapping[str, str] = field(default_factory=dict)
    upstream: str = ""

    def template(self, name: str = "") -> Template:
        """Return the template of a name, by default the first; raises UnknownName."""
        known = {each.name: each for each in self.templates}
        if not name:
            return self.templates[0]
        if name not in known:
            raise UnknownName(f"template of {self.name}", name, known)
        return known[name]

    def words(self, flags: Sequence[str], known: Mapping[str, str]) -> tuple[str, ...]:
        """Return the words of the command, with flags inserted and words in braces replaced."""
        groups = [flags if word == "{flags}" else (word,) for word in self.command]
        return tuple([filled(word, known) for group in groups for word in group])


def names(folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the name of every engine."""
    return definitions.names(folder)


def load(name: str, folder: Path = FOLDER) -> EngineDefinition:
    """Return the engine of that name; raises UnknownName, or InvalidDocument with file, line and pointer."""
    return read(definitions.find("engine", name, folder))


def read(path: Path) -> EngineDefinition:
    """Return the engine in a file; raises InvalidDocument with file, line and pointer."""
    return _definition(path, definitions.read(path, "engine", partial(_errors, path.parent)).value)


def _errors(folder: Path, value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield the errors that a schema cannot express: unknown names, and braces that are never replaced."""
    if value["provider"] not in profiles.names():
        yield ("provider",), str(UnknownName("provider", value["provider"], profiles.names()))
    if value.get("upstream", "") not in ("", *names(folder)):
        yield ("upstream",), str(UnknownName("engine", value["upstream"], names(folder)))
    if "stubs" in value and not (folder / value["stubs"]["folder"]).is_dir():
        yield ("stubs", "folder"), f"expected a folder beside the definition, got {value['stubs']['folder']!r}"
    texts: list[tuple[Place, str]] = [(("command", at), word) for at, word in enumerate(value["command"])]
    texts += [(("environment", each), text) for each, text in value.get("environment", {}).items()]
    for place, text in texts:
        for word in BRACES.findall(text):
            if word not in PLACEHOLDERS and text != "{flags}":
                yield place, f"expected one of {', '.join(PLACEHOLDERS)} between braces, got {word!r}"


def _definition(path: Path, value: Mapping[str, Any]) -> EngineDefinition:
    plain = ("title", "provider", "version", "model", "health", "seconds")
    optional = ("grace", "note", "python", "build", "environment", "files", "stubs", "upstream")
    return EngineDefinition(
        path.stem,
        path.parent,
        **{key: value[key] for key in plain},
        **{key: value[key] for key in optional if key in value},
        packages=tuple([tuple(step) for step in value["packages"]]),
        uninstall=tuple(value.get("uninstall", ())),
        command=tuple(value["command"]),
        templates=tuple(
            [
                Template(name, entry["name"], tuple(entry.get("flags", ())), entry.get("note", ""))
                for name, entry in value["templates"].items()
            ]
        ),
    )
