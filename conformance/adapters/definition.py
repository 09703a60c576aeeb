"""The definition of an adapter: each adapter is one folder, and the folder of folders is the registry."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, Final

from conformance import definitions, profiles, scenarios
from conformance.adapters.driver import SECONDS
from conformance.documents.pointer import Place
from conformance.errors import UnknownName, Unusable
from conformance.resources import unpacked
from conformance.scenarios import VARIANTS
from conformance.wire.native import CHAT
from conformance.wires import NAMES, by_name

FOLDER: Final = Path(__file__).parent / "sdks"
"""The folder with the adapters of this package, which is an archive in a wheel: see `opened`."""

_FILE: Final = "adapter.yaml"
_OPTIONAL: Final = (
    "driver", "agent", "environment", "seconds", "link", "note", "protocol", "takes_history", "history_as_given"
)  # fmt: skip
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)  # of a folder
_PINNED: Final = re.compile(r"(?P<name>@?[^@=\[]+)(?P<extras>\[[^]]*\])?(?P<pin>==|@)(?P<version>[^\s]+)")


@dataclass(frozen=True, slots=True)
class AdapterDefinition:
    """An adapter; `schemas/files/adapter.json` explains the fields.

    `models` maps each provider to the model to ask for, or to an empty string for the profile's model. `folder` holds
    the definition file and the driver. `agent` says how a whole agent is started, which has no driver of its own;
    `others` are the models that its user switches to. `history_as_given` is where it documents that its caller keeps a
    given history valid. `states` is what it can leave to a server of Responses.
    """

    name: str
    folder: Path
    title: str
    language: str
    package: str
    packages: tuple[str, ...]
    models: Mapping[str, str]
    driver: str = ""
    agent: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    alongside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    variants: tuple[str, ...] = VARIANTS
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: float = SECONDS
    link: str = ""
    note: str = ""
    protocol: str = CHAT
    takes_history: bool = False
    history_as_given: Mapping[str, str] = field(default_factory=dict)
    states: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """Return the pinned version of the main package; empty if there is none."""
        return next((found["version"] for pin in self.packages if (found := self._main(pin)) is not None), "")

    @property
    def providers(self) -> tuple[str, ...]:
        """Return the names of its providers; the first is the default."""
        return tuple(self.models)

    def at(self, version: str) -> "AdapterDefinition":
        """Return the adapter with another version of its main package; raises Unusable if it has no main package.

        Its other packages have the pins that `alongside` names for the version. Without any, a Python package loses its
        pin, so that pip chooses what fits: an environment of Python has one version of each package.
        """
        if not version or version == self.version:
            return self
        if not self.version:
            raise Unusable(f"{self.name} has no package with a version to choose; omit @{version}")
        others = next((pins for glob, pins in self.alongside.items() if fnmatchcase(version, glob)), None)
        pins = {_name(pin): pin for pin in (*self.packages, *(others or ()))}
        keep = others is not None or self.language != "python"
        packages = [
            _repinned(found, version) if (found := self._main(pin)) else pin if keep else _unpinned(pin)
            for pin in pins.values()
        ]
        return replace(self, packages=tuple(packages))

    def _main(self, package: str) -> "re.Match[str] | None":
        found = _PINNED.fullmatch(package)
        return found if found is not None and found["name"] == self.package else None


def opened(folder: Path = FOLDER) -> Path:
    """Return a folder of adapters; if that of this package is an archive, it is unpacked until the process ends."""
    return unpacked(folder) if folder == FOLDER else folder


def names(folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the names of all adapters, sorted."""
    return tuple(sorted([path.parent.name for path in opened(folder).glob(f"*/{_FILE}")]))


def load(named: str, folder: Path = FOLDER) -> AdapterDefinition:
    """Return the adapter of NAME or NAME@VERSION; raises UnknownName, or InvalidDocument with the line."""
    name, _, version = named.partition("@")
    path = opened(folder) / name / _FILE
    # To list all names takes longer than to read one file.
    if not _NAME.fullmatch(name) or not path.is_file():
        raise UnknownName("adapter", name, names(folder))
    return read(path).at(version)


def read(path: Path) -> AdapterDefinition:
    """Return the adapter in a file; raises InvalidDocument with file, line and pointer."""
    value = definitions.read(path, "adapter", partial(_errors, path.parent)).value
    return AdapterDefinition(
        name=path.parent.name,
        folder=path.parent,
        models={name: each.get("model", "") for name, each in value["providers"].items()},
        others={name: each["other"] for name, each in value["providers"].items() if "other" in each},
        packages=tuple(value["packages"]),
        alongside={glob: tuple(pins) for glob, pins in value.get("alongside", {}).items()},
        variants=tuple(value.get("variants", VARIANTS)),
        states=tuple(value.get("states", ())),
        **{key: value[key] for key in ("title", "language", "package")},
        **{key: value[key] for key in _OPTIONAL if key in value},
    )


def _errors(folder: Path, value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield the errors that a schema cannot express: unknown providers, a missing driver, unpinned packages."""
    wire = value.get("protocol", CHAT)
    if wire not in NAMES:
        yield ("protocol",), str(UnknownName("wire", wire, NAMES))
    for name in value["providers"]:
        if name not in profiles.names():
            yield ("providers", name), str(UnknownName("provider", name, profiles.names()))
        elif wire != CHAT and wire not in profiles.load(name).protocols:
            yield ("providers", name), f"expected a profile with claims about {wire}, got {name!r}"
    if "driver" in value and not (folder / value["driver"]).is_file():
        yield ("driver",), f"expected a file beside this one, got {value['driver']!r}"
    known = scenarios.driven_names()
    for name in [each for each in value.get("agent", {}).get("cannot", {}) if each not in known]:
        yield ("agent", "cannot", name), str(UnknownName("scenario for agents", name, known))
    if "states" in value and wire in NAMES and not by_name(wire).keeps_replies:
        yield ("states",), f"expected a protocol whose servers keep replies, got {wire!r}"
    yield from _errors_of_packages(value)


def _errors_of_packages(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    pinned: list[tuple[Place, str]] = [(("packages", number), each) for number, each in enumerate(value["packages"])]
    for glob, pins in value.get("alongside", {}).items():
        pinned += [(("alongside", glob, number), each) for number, each in enumerate(pins)]
    for place, package in pinned:
        if _PINNED.fullmatch(package) is None:
            yield place, f"expected a package with its version, got {package!r}"


def _name(package: str) -> str:
    found = _PINNED.fullmatch(package)
    return found["name"] if found is not None else package


def _unpinned(package: str) -> str:
    found = _PINNED.fullmatch(package)
    return f"{found['name']}{found['extras'] or ''}" if found is not None else package


def _repinned(found: "re.Match[str]", version: str) -> str:
    return f"{found['name']}{found['extras'] or ''}{found['pin']}{version}"
