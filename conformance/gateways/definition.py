"""The definition of a gateway: packages, configuration with the provider's URL, start, fronts, backs, headers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from conformance import definitions, profiles
from conformance.definitions import BRACES
from conformance.documents import read_yaml
from conformance.documents.pointer import Place
from conformance.errors import UnknownName
from conformance.profiles import Profile
from conformance.wires import NAMES

FOLDER: Final = Path(__file__).parent

PLACEHOLDERS: Final = ("python", "modules", "package", "work", "port", "upstream", "upstream-port", "model")
"""What may stand between braces, beside the values of a back."""

_VERSION: Final = re.compile(r"(?:==|(?<=.)@)([^@=\s]+)$")


@dataclass(frozen=True, slots=True)
class FrontDefinition:
    """A wire that the clients of a gateway can speak: the path of its base URL, the model, headers, possible backs."""

    wire: str
    path: str
    model: str
    headers: Mapping[str, str] = field(default_factory=dict)
    backs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GatewayDefinition:
    """A gateway; `schemas/files/gateway.json` explains the fields. `home` is the folder of its file."""

    name: str
    home: Path
    title: str
    language: str
    package: str
    packages: tuple[str, ...]
    link: str
    fronts: Mapping[str, FrontDefinition]
    backs: Mapping[str, Mapping[str, str]]
    command: tuple[str, ...]
    seconds: float
    note: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    health: str = "/"
    issues: Mapping[str, str] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Return the pinned version of the gateway."""
        own = next(each for each in self.packages if each.startswith(self.package))
        found = _VERSION.search(own)
        return found[1] if found is not None else ""

    def front(self, wire: str) -> FrontDefinition:
        """Return the front of a wire; raises UnknownName."""
        if wire not in self.fronts:
            raise UnknownName(f"front of {self.name}", wire, self.fronts)
        return self.fronts[wire]

    def back(self, name: str) -> Mapping[str, str]:
        """Return the values of a back; raises UnknownName."""
        if name not in self.backs:
            raise UnknownName(f"back of {self.name}", name, self.backs)
        return self.backs[name]

    def back_behind(self, wire: str, name: str) -> str:
        """Return the back that a front has: the one of that name, or the only one of that provider on another wire.

        Raises UnknownName if it has neither.
        """
        backs = self.front(wire).backs or tuple(self.backs)
        if name in backs:
            return name
        provider = name.partition(".")[0]
        others = [each for each in backs if each.partition(".")[0] == provider]
        if len(others) != 1:
            raise UnknownName(f"back of {self.name} behind its front {wire}", name, backs)
        return others[0]

    def ends(self) -> Iterator[tuple[str, str]]:
        """Yield each front with each back that it can have."""
        for wire, front in self.fronts.items():
            for back in self.backs:
                if not front.backs or back in front.backs:
                    yield wire, back


def names(folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the name of every gateway."""
    return definitions.names(folder)


def load(name: str, folder: Path = FOLDER) -> GatewayDefinition:
    """Return the gateway of that name; raises UnknownName, or InvalidDocument with file, line and pointer."""
    return read(definitions.find("gateway", name, folder))


def read(path: Path) -> GatewayDefinition:
    """Return the gateway in a file; raises InvalidDocument with file, line and pointer."""
    value = definitions.read(path, "gateway", partial(_errors)).value
    plain = ("title", "language", "package", "link", "backs", "seconds")
    optional = ("note", "environment", "files", "health", "issues")
    return GatewayDefinition(
        path.stem,
        path.parent,
        packages=tuple(value["packages"]),
        fronts={wire: _front(wire, each, value.get("headers", {})) for wire, each in value["fronts"].items()},
        command=tuple(value["command"]),
        **{key: value[key] for key in plain},
        **{key: value[key] for key in optional if key in value},
    )


def _front(wire: str, value: Mapping[str, Any], common: Mapping[str, str]) -> FrontDefinition:
    headers = {**common, **value.get("headers", {})}
    return FrontDefinition(wire, value["path"], value["model"], headers, tuple(value.get("backs", ())))


def profile_of(back: str) -> Profile:
    """Return the profile of a back, on the wire that stands after a dot if there is one; raises UnknownName."""
    name, _, wire = back.partition(".")
    found = profiles.load_profile(name)
    if wire:
        if wire not in found.protocols:
            raise UnknownName(f"wire of {name}", wire, found.wires)
        return found.protocols[wire]
    return found if found.claims or not found.protocols else next(iter(found.protocols.values()))


def _errors(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield the errors that a schema cannot express: unknown names, and braces that are never replaced."""
    for wire, front in value["fronts"].items():
        if wire not in NAMES:
            yield ("fronts", wire), str(UnknownName("wire", wire, NAMES))
        for at, back in enumerate(front.get("backs", ())):
            if back not in value["backs"]:
                yield ("fronts", wire, "backs", at), str(UnknownName("back", back, value["backs"]))
    yield from _unknown_words(value)
    for back in value["backs"]:
        if back.partition(".")[0] not in profiles.names():
            yield ("backs", back), str(UnknownName("provider", back.partition(".")[0], profiles.names()))
    if not any([each.startswith(value["package"]) and _VERSION.search(each) for each in value["packages"]]):
        yield ("packages",), f"expected {value['package']} with its version"


def _unknown_words(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    known = {*PLACEHOLDERS, *(key for values in value["backs"].values() for key in values)}
    texts: list[tuple[Place, str]] = [(("command", at), word) for at, word in enumerate(value["command"])]
    texts += [(("environment", key), text) for key, text in value.get("environment", {}).items()]
    for place, text in texts:
        for word in BRACES.findall(text):
            if word not in known:
                yield place, f"expected one of {', '.join(sorted(known))} between braces, got {word!r}"


def unable() -> tuple[tuple[str, str], ...]:
    """Return the gateways that do not run here, each with the reason."""
    return tuple([(str(name), str(reason)) for name, reason in read_yaml(FOLDER / "_unable.yaml").value.items()])
