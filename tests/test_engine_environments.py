"""Cached environments are created once, are never used half-made, and are never created twice at a time."""

import subprocess
import sys
import threading
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from conformance import artifacts, environments
from conformance.engines.definition import load
from conformance.engines.serving import ensure_installed, environment_path
from conformance.errors import Unusable
from tests.fake_engine import define

pytestmark = pytest.mark.slow

OFFLINE = ["--no-index", "--disable-pip-version-check"]


def quiet(_: str) -> None:
    """Ignore the log."""


def test_an_environment_is_created_once(tmp_path: Path) -> None:
    made: list[Path] = []
    for _ in range(2):
        environments.ensure(tmp_path / "a", made.append, quiet)
    assert [tmp_path / "a"] == made


def test_a_half_made_environment_is_removed_and_created_again(tmp_path: Path) -> None:
    def broken(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        environments.ensure(tmp_path / "a", broken, quiet)
    assert not (tmp_path / "a").exists()
    # As after a power cut: the folder exists without a sign that it is complete.
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "half").touch()
    environments.ensure(tmp_path / "a", lambda folder: (folder / "whole").touch(), quiet)
    assert ["made.json", "whole"] == sorted([path.name for path in (tmp_path / "a").iterdir()])


def test_two_threads_that_need_the_same_environment_create_one(tmp_path: Path) -> None:
    logged: list[str] = []
    made: list[Path] = []
    begun, go_on = threading.Event(), threading.Event()

    def slowly(folder: Path) -> None:
        begun.set()
        go_on.wait(20)
        made.append(folder)

    def log(line: str) -> None:
        logged.append(line)
        go_on.set()

    first = threading.Thread(target=environments.ensure, args=(tmp_path / "a", slowly, quiet))
    first.start()
    assert begun.wait(20)
    environments.ensure(tmp_path / "a", made.append, log)
    first.join()
    assert (["waiting for another process that creates the same environment"], 1) == (logged, len(made))


BACKEND = """
import zipfile
def build_wheel(directory, *_):
    path = "NAME-1-py3-none-any.whl"
    with zipfile.ZipFile(f"{directory}/{path}", "w") as wheel:
        wheel.writestr("NAME.py", "")
        wheel.writestr("NAME-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: NAME\\nVersion: 1\\n")
        wheel.writestr("NAME-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("NAME-1.dist-info/RECORD", "NAME.py,,\\nNAME-1.dist-info/METADATA,,\\n")
    return path
"""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("environment")
    environments.create_venv(folder, [], [], quiet)
    return folder


@pytest.mark.exhaustive
def test_an_environment_has_what_its_steps_install_without_what_is_uninstalled(fresh: Path, tmp_path: Path) -> None:
    for name in ("left_in", "taken_out"):
        source = tmp_path / name
        source.mkdir()
        (source / f"{name}.py").write_text("")
        (source / "pyproject.toml").write_text(
            f'[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            f'[project]\nname = "{name}"\nversion = "1"\n'
        )
        (source / "backend.py").write_text(BACKEND.replace("NAME", name))
    steps = [[*OFFLINE, "--no-build-isolation", str(tmp_path / name)] for name in ("left_in", "taken_out")]
    environments.pip_install(fresh, steps, ["taken_out"], quiet)
    code = "import importlib.util as u; print([bool(u.find_spec(n)) for n in ('left_in', 'taken_out', 'conformance')])"
    done = subprocess.run([environments.python_in(fresh), "-I", "-c", code], capture_output=True, check=True)
    assert b"[True, False, False]" == done.stdout.strip()


@pytest.mark.exhaustive
def test_a_missing_package_is_reported_with_the_errors_of_pip(fresh: Path) -> None:
    with pytest.raises(Unusable) as caught:
        environments.pip_install(fresh, [[*OFFLINE, "no-such-engine==1.0"]], [], quiet)
    assert "pip cannot install --no-index" in str(caught.value)
    assert "No matching distribution found for no-such-engine==1.0" in str(caught.value)
    assert "\n" not in str(caught.value)


def wheel(folder: Path, name: str, release: str, *needs: str) -> None:
    """Write a wheel without modules that needs other packages."""
    about = f"{name}-{release}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {release}", *[f"Requires-Dist: {x}" for x in needs]]
    with zipfile.ZipFile(folder / f"{name}-{release}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{about}/METADATA", "\n".join(lines) + "\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")


def test_a_conflict_is_reported_with_the_requirements_that_conflict(fresh: Path, tmp_path: Path) -> None:
    wheel(tmp_path, "agent", "1.0", "wire<2")
    for release in ("1.0", "2.3"):
        wheel(tmp_path, "wire", release)
    step = [*OFFLINE, "--find-links", str(tmp_path), "agent==1.0", "wire==2.3"]
    with pytest.raises(Unusable) as caught:
        environments.pip_install(fresh, [step], [], quiet)
    _, _, cause = str(caught.value).partition("wire==2.3: ")
    assert "the requirements conflict; The user requested wire==2.3; agent 1.0 depends on wire<2" == cause


def test_only_the_newest_of_the_versions_that_pip_knows_are_shown() -> None:
    known = ", ".join([f"0.{number}" for number in range(300)])
    line = f"ERROR: Could not find a version that satisfies the requirement sdk==9 (from versions: {known})"
    shown = "Could not find a version that satisfies the requirement sdk==9 (from versions: …, "
    assert f"{shown}0.295, 0.296, 0.297, 0.298, 0.299)" == environments.pip_cause(["WARNING: noise", line, line])


def test_a_log_without_an_error_has_no_cause() -> None:
    assert "" == environments.pip_cause(["Collecting sdk", "killed"])


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"from": "3.99"}, "needs Python from 3.99, and this is"),
        ({"from": "3.1", "below": "3.2"}, "needs Python from 3.1 and below 3.2, and this is"),
    ],
)
def test_an_unsupported_python_is_reported_before_anything_is_created(
    tmp_path: Path, bounds: dict[str, str], words: str
) -> None:
    define(tmp_path, packages=[["no-such-engine==1.0"]], python=bounds)
    with pytest.raises(Unusable, match=words):
        ensure_installed(load("fake", tmp_path), tmp_path / "cache", quiet)
    assert not (tmp_path / "cache").exists()


def test_the_running_interpreter_is_used_if_it_has_every_pinned_package(tmp_path: Path) -> None:
    define(tmp_path)
    assert Path(sys.executable) == ensure_installed(load("fake", tmp_path), tmp_path / "cache", quiet)
    assert environments.has_packages([[f"pytest=={version('pytest')}", "numpy>=1"]])
    assert not environments.has_packages([["pytest==0.1"]])
    assert not environments.has_packages([["pytest"]])
    assert not environments.has_packages([["no-such-engine==1"]])


def test_another_recipe_has_another_environment(tmp_path: Path) -> None:
    define(tmp_path, packages=[["a==1"]])
    first = environment_path(load("fake", tmp_path), tmp_path)
    define(tmp_path, packages=[["a==2"]])
    assert first != environment_path(load("fake", tmp_path), tmp_path)


def test_environments_are_in_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CONFORMANCE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tmp_path / "wire-conformance" / "engines" == artifacts.cache_root("engines")
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "mine"))
    assert tmp_path / "mine" / "engines" == artifacts.cache_root("engines")
