"""Definitions of engines: what their files may contain, and that the project's own are sound."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conformance import engines, profiles
from conformance.definitions import filled
from conformance.engines.definition import read
from conformance.environments import pinned_versions
from conformance.errors import InvalidDocument
from tests.fake_engine import define

ALL = [engines.load(name) for name in engines.names()]


@pytest.mark.parametrize("definition", ALL, ids=lambda each: str(each.name))
def test_the_main_package_of_an_engine_is_pinned(definition: engines.EngineDefinition) -> None:
    assert definition.version in pinned_versions(definition.packages)


@pytest.mark.parametrize("definition", ALL, ids=lambda each: str(each.name))
def test_an_engine_listens_on_loopback_only(definition: engines.EngineDefinition) -> None:
    texts = [" ".join(definition.command), *definition.files.values()]
    launched = [word.partition("{package}")[2] for word in definition.command if word.startswith("{package}")]
    texts += [(definition.home / word.strip("/")).read_text() for word in launched]
    assert any("127.0.0.1" in text for text in texts)
    assert not any("0.0.0.0" in text.replace("127.0.0.1", "") for text in texts)  # noqa: S104 — it is looked for


@pytest.mark.parametrize("definition", ALL, ids=lambda each: str(each.name))
def test_the_profile_of_an_engine_has_claims_about_each_template(definition: engines.EngineDefinition) -> None:
    profile = profiles.load(definition.provider)
    modes = {each.name: profile.at(each.model).get("thinking.mode", "unknown") for each in definition.templates}
    assert "qwen3" in modes
    assert [] == [name for name, mode in modes.items() if mode == "unknown"]


def test_the_extra_has_the_pins_of_the_embedded_engine() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    (step,) = engines.load("llamacpp").packages
    assert sorted(step) == project["project"]["optional-dependencies"]["engine"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"provider": "lamacpp"}, "/provider: unknown provider 'lamacpp'; did you mean llamacpp"),
        ({"command": ["{python}", "{prot}"]}, "/command/1: expected one of python, package"),
        ({"environment": {"A": "{nothing}"}}, "/environment/A: expected one of python"),
        ({"stubs": {"note": "kernels", "folder": "stubs"}}, "/stubs/folder: expected a folder beside the definition"),
        ({"upstream": "fkae", "model": "none"}, "/upstream: unknown engine 'fkae'; did you mean fake"),
        ({"upstream": "fake"}, "/model: "),
        ({"packges": []}, "/packges: "),
        ({"seconds": 0}, "/seconds: "),
    ],
)
def test_an_error_in_a_definition_names_its_line(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    path = define(tmp_path, **changes)
    with pytest.raises(InvalidDocument) as caught:
        read(path)
    assert words in str(caught.value)
    assert caught.value.line is not None


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("import sgl_kernel.deep as it; print(it.call(1, 2).more)", "<class 'sitecustomize.StandIn'>"),
        ("from torchvision.ops import decorate\n@decorate()\ndef f(): return 7\nprint(f())", "7"),
        ("from torchvision import Base\nclass A(Base[int]): pass\nprint(A().name)", "<class 'sitecustomize.StandIn'>"),
        ("import vllm._custom_ops as it; print(it.rotary_embedding.__name__)", "rotary_embedding"),
        ("import sgl_kernel; print(hasattr(sgl_kernel.f, '__fspath__'))", "False"),
        ("import importlib.util as it; print(it.find_spec('no_such_package'))", "None"),
    ],
)
def test_stand_ins_for_kernels_accept_anything(code: str, shown: str) -> None:
    definition = engines.load("sglang")
    environment = {"PYTHONPATH": str(definition.home / definition.stubs["folder"])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (0, shown) == (done.returncode, done.stdout.strip()), done.stderr


def test_flags_are_separate_words_and_unknown_braces_stay(tmp_path: Path) -> None:
    definition = read(define(tmp_path, command=["{python}", "{flags}", '{"a": {port}}']))
    assert ("py", "--x", "y", '{"a": 1}') == definition.words(["--x", "y"], {"python": "py", "port": "1"})
    assert "{other}" == filled("{other}", {"port": "1"})
