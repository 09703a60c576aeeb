"""Definitions of adapters, their versions, and the environments that they are installed in."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.adapters import definition, install
from conformance.errors import ConformanceError, InvalidDocument, UnknownName, Unusable
from tests.loops import every

GOOD: dict[str, Any] = {
    "title": "An SDK",
    "language": "python",
    "package": "some-sdk",
    "packages": ["some-sdk[http]==2.0.0", "beside==1.0"],
    "alongside": {"1.*": ["beside==0.9", "older==0.1"]},
    "driver": "driver.py",
    "providers": {"deepseek": {"model": "deepseek-v4-pro"}, "groq": {}},
}


def folder(root: Path, **changes: Any) -> Path:
    """Write an adapter and return the folder of folders."""
    own = root / "sdk"
    own.mkdir(exist_ok=True)
    value = {key: each for key, each in {**GOOD, **changes}.items() if each is not None}
    (own / "adapter.yaml").write_text(json.dumps(value), "utf-8")
    (own / str(value["driver"])).write_text("", "utf-8")
    return root


@every("name", definition.names())
def test_every_adapter_of_the_project_is_valid(name: str) -> None:
    found = definition.load(name)
    assert name == found.name
    assert found.providers
    assert bool(found.packages) is bool(found.version)


def test_a_definition_has_its_defaults(tmp_path: Path) -> None:
    found = definition.load("sdk", folder(tmp_path))
    assert ("2.0.0", ("deepseek", "groq"), ("plain", "stream"), 60.0) == (
        found.version,
        found.providers,
        found.variants,
        found.seconds,
    )


@pytest.mark.parametrize(
    ("named", "packages"),
    [
        ("sdk", ("some-sdk[http]==2.0.0", "beside==1.0")),
        ("sdk@2.0.0", ("some-sdk[http]==2.0.0", "beside==1.0")),
        ("sdk@3.1", ("some-sdk[http]==3.1", "beside")),
        ("sdk@1.7.2", ("some-sdk[http]==1.7.2", "beside==0.9", "older==0.1")),
    ],
)
def test_a_version_replaces_the_pin_and_changes_the_packages_alongside(
    named: str, packages: tuple[str, ...], tmp_path: Path
) -> None:
    assert packages == definition.load(named, folder(tmp_path)).packages


def test_the_pin_of_a_scoped_npm_package_is_replaced(tmp_path: Path) -> None:
    chosen = {
        "language": "node",
        "package": "@scope/sdk",
        "packages": ["@scope/sdk@1.0.0", "ai@7.0.1"],
        "alongside": None,
    }
    root = folder(tmp_path, **chosen)
    assert ("@scope/sdk@0.9.1", "ai@7.0.1") == definition.load("sdk@0.9.1", root).packages


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"title": None}, "title"),
        ({"language": "perl"}, "/language"),
        ({"packages": ["some-sdk"]}, "/packages/0: expected a package with its version"),
        ({"alongside": {"1.*": ["beside"]}}, "/alongside/1.*/0"),
        ({"providers": {"grok": {}}}, "/providers/grok: unknown provider 'grok'"),
        ({"providers": {}}, "/providers"),
        ({"variants": ["both"]}, "/variants/0"),
        ({"surprise": 1}, "/surprise"),
    ],
)
def test_an_error_in_a_file_names_its_place(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument) as caught:
        definition.load("sdk", folder(tmp_path, **changes))
    assert words in str(caught.value)
    assert "adapter.yaml:1" in str(caught.value)


def test_a_missing_driver_is_reported(tmp_path: Path) -> None:
    root = folder(tmp_path)
    (root / "sdk" / "driver.py").unlink()
    with pytest.raises(InvalidDocument, match="expected a file beside this one"):
        definition.load("sdk", root)


@pytest.mark.parametrize("named", ["sdkk", "..", "sdk/../sdk", ""])
def test_an_unknown_name_is_reported(named: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownName):
        definition.load(named, folder(tmp_path))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of programs with an npm that only records its arguments, and a node."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "npm").write_text(
        '#!/bin/sh\necho "$@" > "$3/arguments"\ncase "$*" in *broken*) echo E404 >&2; exit 1;; esac\n'
    )
    (programs / "node").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for name in ("npm", "node"):
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return programs


NODE = {"language": "node", "package": "sdk", "packages": ["sdk@1.0.0"], "alongside": None}


def test_npm_installs_the_pinned_packages_without_their_scripts(tmp_path: Path, cache: Path, npm: Path) -> None:
    found = definition.load("sdk", folder(tmp_path, **NODE))
    assert not install.is_installed(found)
    logged: list[str] = []
    made = install.install(found, logged.append)
    assert install.is_installed(found)
    assert cache / "adapters" == made.parent
    words = (made / "arguments").read_text("utf-8").split()
    assert "--ignore-scripts" in words
    assert "sdk@1.0.0" == words[-1]
    assert ["installing sdk@1.0.0"] == logged
    assert made == install.install(found, logged.append)
    assert ["installing sdk@1.0.0"] == logged


def test_each_version_has_its_own_environment(tmp_path: Path, cache: Path, npm: Path) -> None:
    root = folder(tmp_path, **NODE)
    install.install(definition.load("sdk", root), print)
    assert not install.is_installed(definition.load("sdk@1.0.1", root))


def test_a_failed_install_is_reported_with_the_output_of_npm(tmp_path: Path, cache: Path, npm: Path) -> None:
    found = definition.load("sdk@broken", folder(tmp_path, **NODE))
    with pytest.raises(Unusable, match=r"npm cannot install sdk@broken.*E404"):
        install.install(found, print)
    assert not install.is_installed(found)


def test_a_missing_npm_is_reported(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unusable, match="npm is not on the PATH"):
        install.install(definition.load("sdk", folder(tmp_path, **NODE)), print)


def test_a_driver_for_node_stands_in_its_environment_and_runs_elsewhere(tmp_path: Path, cache: Path, npm: Path) -> None:
    root = folder(tmp_path, **NODE)
    shared = root / "_node"
    shared.mkdir()
    (shared / "driving.mjs").write_text("one", "utf-8")
    found = definition.load("sdk", root)
    made = install.install(found, print)
    driver = install.driver(found)
    own = Path(driver.command[1])
    assert (str(npm / "node"), None, 60.0) == (driver.command[0], driver.folder, driver.seconds)
    assert made in own.parents
    assert "one" == (own.parents[1] / "_node" / "driving.mjs").read_text("utf-8")
    assert driver == install.driver(found)
    (shared / "driving.mjs").write_text("two", "utf-8")
    assert own != Path(install.driver(found).command[1])


def test_an_adapter_without_packages_needs_no_environment(tmp_path: Path) -> None:
    root = folder(tmp_path, package="", packages=[], alongside=None)
    driver = install.driver(definition.load("sdk", root), seconds=5)
    assert (sys.executable, str(root / "sdk" / "driver.py")) == driver.command
    assert 5 == driver.seconds


def test_an_adapter_that_is_not_installed_is_not_driven(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(ConformanceError, match=r"run `conformance adapter install sdk@2\.0\.0`"):
        install.driver(definition.load("sdk", folder(tmp_path)))
