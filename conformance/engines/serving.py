"""An engine from nothing to ready: environment, model, process; and the description that its cassettes carry."""

import hashlib
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conformance import environments, processes
from conformance.definitions import filled
from conformance.engines.definition import EngineDefinition, Template, load
from conformance.engines.process import HOST, EngineProcess, free_port, started
from conformance.environments import Log
from conformance.errors import Unusable
from conformance.resources import unpacked

KIND: Final = "engines"

_WEIGHTS: Final = "model.safetensors"
_MODEL_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How to run an engine. `cache`: the folder of environments. `model`: the folder of the scripted model."""

    cache: Path
    model: Path
    template: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True)
class ServedEngine:
    """An engine that answers.

    `url` is the base URL for clients, including `/v1`. `about` goes into the manifest of its cassettes. `hidden` maps
    folders of this machine that may occur in its replies to what is recorded instead.
    """

    url: str
    model: str
    provider: str
    about: Mapping[str, Any]
    process: EngineProcess
    hidden: Mapping[str, str]


def is_installed(definition: EngineDefinition, cache: Path) -> bool:
    """Return whether the engine's packages are in the cache or in the running interpreter's environment."""
    return environments.has_packages(definition.packages) or environments.is_complete(
        environment_path(definition, cache)
    )


def environment_path(definition: EngineDefinition, cache: Path) -> Path:
    """Return the folder of the engine's environment; engines with the same packages share one."""
    return environments.cached_path(cache, definition.provider, [definition.packages, definition.uninstall])


def ensure_installed(definition: EngineDefinition, cache: Path, log: Log) -> Path:
    """Return the interpreter of an environment with the engine's packages, created if there is none.

    The running interpreter is used if it has them all, as after `pip install 'wire-conformance[engine]'`. Raises
    Unusable if the version of Python does not fit or a package cannot be installed.
    """
    if environments.has_packages(definition.packages):
        return Path(sys.executable)
    _require_python(definition)

    def create(folder: Path) -> None:
        environments.create_venv(folder, definition.packages, definition.uninstall, log)

    return environments.python_in(environments.ensure(environment_path(definition, cache), create, log))


def _require_python(definition: EngineDefinition) -> None:
    here = sys.version_info[:2]
    first, below = definition.python.get("from"), definition.python.get("below")
    if (first and here < _release(first)) or (below and here >= _release(below)):
        bounds = " and ".join([f"{word} {at}" for word, at in (("from", first), ("below", below)) if at])
        raise Unusable(f"{definition.title} needs Python {bounds}, and this is {here[0]}.{here[1]}")


def _release(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


@contextmanager
def serving(definition: EngineDefinition, options: EngineOptions, log: Log) -> Iterator[ServedEngine]:
    """Start an engine, wait until it answers, and end it; the engine behind a gateway is started first.

    Raises Unusable if that fails, with what to change or the end of the engine's log.
    """
    template = definition.template(options.template)
    port = free_port(options.port)
    if not definition.upstream:
        with _serving_one(definition, template, port, options, log, None) as served:
            yield served
        return
    behind = load(definition.upstream, definition.home)
    with (
        serving(behind, EngineOptions(options.cache, options.model, template.name), log) as upstream,
        _serving_one(definition, template, port, options, log, upstream) as served,
    ):
        yield served


@contextmanager
def _serving_one(
    definition: EngineDefinition,
    template: Template,
    port: int,
    options: EngineOptions,
    log: Log,
    upstream: ServedEngine | None,
) -> Iterator[ServedEngine]:
    python = ensure_installed(definition, options.cache, log)
    with tempfile.TemporaryDirectory(prefix="conformance-engine-") as scratch:
        work = Path(scratch).resolve()
        name = template.model
        known = {
            "python": str(python),
            "package": str(definition.home),
            "work": str(work),
            "port": str(port),
            "name": name,
        }
        if definition.model != "none":
            known["model"] = str(_prepare_model(definition, template, unpacked(options.model), work / name, python))
        if upstream is not None:
            known |= {"upstream": upstream.url, "upstream-name": upstream.model}
        for file, text in definition.files.items():
            (work / file).write_text(filled(text, known), encoding="utf-8")
        environment = {key: filled(text, known) for key, text in definition.environment.items()}
        if definition.stubs:
            environment["PYTHONPATH"] = str(definition.home / definition.stubs["folder"])
        command = definition.words(template.flags, known)
        with started(definition.title, command, environment, work, work / "engine.log", definition.grace) as process:
            log(f"starting {definition.title}")
            process.wait_until_ready(f"http://{HOST}:{port}{definition.health}", definition.seconds, log)
            process.require_loopback(port)
            hidden = {str(work): "/work", str(python.parent.parent): "/environment", str(definition.home): "/engines"}
            about = _about(definition, template, upstream, _fingerprint(unpacked(options.model)))
            yield ServedEngine(f"http://{HOST}:{port}/v1", name, definition.provider, about, process, hidden)


def _prepare_model(definition: EngineDefinition, template: Template, source: Path, target: Path, python: Path) -> Path:
    """Return the path of the scripted model with a chat template: `<target>.gguf` for `gguf`, a folder for `folder`.

    The engine's own interpreter writes it, since only that one has the packages that read the weights. Raises Unusable
    if the model is missing or cannot be written.
    """
    is_file = definition.model == "gguf"
    script = _model_file(source, "to_gguf.py" if is_file else "to_folder.py")
    path = target.with_name(f"{target.name}.gguf") if is_file else target
    command = [str(python), str(script), str(source), str(path), "--template", template.name]
    processes.run(command, f"cannot prepare the scripted model with template {template.name}", _MODEL_SECONDS)
    return path


def _fingerprint(source: Path) -> str:
    """Return the beginning of the SHA-256 of the weights; raises Unusable if they are missing."""
    return hashlib.sha256(_model_file(source, _WEIGHTS).read_bytes()).hexdigest()[:12]


def _model_file(source: Path, name: str) -> Path:
    path = source / name
    if not path.is_file():
        raise Unusable(f"the scripted model is not in {source}: there is no {name}; name its folder with --weights")
    return path


def _about(
    definition: EngineDefinition, template: Template, upstream: ServedEngine | None, weights: str
) -> Mapping[str, Any]:
    """Return what identifies an engine in a manifest: version, model, template, flags, stubs."""
    about: dict[str, Any] = {
        "name": definition.name,
        "versions": dict(environments.pinned_versions(definition.packages)),
        "weights": weights,
        "template": template.name,
        "flags": list(template.flags),
        "default": template == definition.template(),
    }
    about |= {"build": definition.build} if definition.build else {}
    about |= {"stubs": definition.stubs["note"]} if definition.stubs else {}
    return about | ({"upstream": dict(upstream.about)} if upstream is not None else {})
