"""An engine from nothing to ready: environment, model, process; and what is to be said of it on every recording."""

import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conformance import environments
from conformance.engines import model
from conformance.engines.definition import Definition, Template, filled, load
from conformance.engines.process import HOST, Running, free_port, require_loopback, started
from conformance.environments import Told
from conformance.errors import Unusable

KIND: Final = "engines"


@dataclass(frozen=True, slots=True)
class Options:
    """How an engine is run. `cache`: the folder of environments. `model`: that of the scripted model."""

    cache: Path
    model: Path
    template: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True)
class Served:
    """An engine that answers.

    `url` is the base URL for clients, up to and with `/v1`. `about` is what the manifest of its cassettes says.
    `hidden` are the folders of this machine that may stand in its replies, and what to write instead.
    """

    url: str
    model: str
    provider: str
    about: Mapping[str, Any]
    running: Running
    hidden: Mapping[str, str]


def is_installed(definition: Definition, cache: Path) -> bool:
    """Say whether the engine's packages are there, in the cache or beside this package."""
    return environments.is_here(definition.packages) or environments.is_made(environment_path(definition, cache))


def environment_path(definition: Definition, cache: Path) -> Path:
    """Return where the engine's environment stands or will stand; engines of the same packages share one."""
    return environments.cached_path(cache, definition.provider, [definition.packages, definition.uninstall])


def installed(definition: Definition, cache: Path, told: Told) -> Path:
    """Return the interpreter of an environment with the engine's packages, made first where there is none.

    The running interpreter is taken where it has them all, which is what `pip install 'wire-conformance[engine]'` is
    for. Raises Unusable where this Python does not fit, and where a package cannot be had.
    """
    if environments.is_here(definition.packages):
        return Path(sys.executable)
    _require_python(definition)

    def make(folder: Path) -> None:
        environments.make_python(folder, definition.packages, definition.uninstall, told)

    return environments.python_in(environments.made(environment_path(definition, cache), make, told))


def _require_python(definition: Definition) -> None:
    here = sys.version_info[:2]
    first, below = definition.python.get("from"), definition.python.get("below")
    if (first and here < _release(first)) or (below and here >= _release(below)):
        bounds = " and ".join([f"{word} {at}" for word, at in (("from", first), ("below", below)) if at])
        raise Unusable(f"{definition.title} needs a Python {bounds}, and this is {here[0]}.{here[1]}")


def _release(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


@contextmanager
def serving(definition: Definition, options: Options, told: Told) -> Iterator[Served]:
    """Start an engine, wait until it answers, and end it; the engine behind a gateway goes before it.

    Raises Unusable for whatever stands in the way, with what to change or the end of the engine's log.
    """
    template = definition.template(options.template)
    port = free_port(options.port)
    if not definition.upstream:
        with _alone(definition, template, port, options, told, None) as served:
            yield served
        return
    behind = load(definition.upstream, definition.home)
    with (
        serving(behind, Options(options.cache, options.model, template.name), told) as upstream,
        _alone(definition, template, port, options, told, upstream) as served,
    ):
        yield served


@contextmanager
def _alone(
    definition: Definition, template: Template, port: int, options: Options, told: Told, upstream: Served | None
) -> Iterator[Served]:
    python = installed(definition, options.cache, told)
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
            known["model"] = str(model.prepared(options.model, work / name, definition.model, template.name, python))
        if upstream is not None:
            known |= {"upstream": upstream.url, "upstream-name": upstream.model}
        for file, text in definition.files.items():
            (work / file).write_text(filled(text, known), encoding="utf-8")
        environment = {key: filled(text, known) for key, text in definition.environment.items()}
        if definition.stubs:
            environment["PYTHONPATH"] = str(definition.home / definition.stubs["folder"])
        command = definition.words(template.flags, known)
        log = work / "engine.log"
        with started(definition.title, command, environment, work, log, definition.grace) as running:
            told(f"starts {definition.title}")
            running.wait_until_ready(f"http://{HOST}:{port}{definition.health}", definition.seconds, told)
            require_loopback(definition.title, port)
            hidden = {str(work): "/work", str(python.parent.parent): "/environment", str(definition.home): "/engines"}
            about = _about(definition, template, upstream, model.fingerprint(options.model))
            yield Served(f"http://{HOST}:{port}/v1", name, definition.provider, about, running, hidden)


def _about(definition: Definition, template: Template, upstream: Served | None, weights: str) -> Mapping[str, Any]:
    """Return what is to be known of what was seen of an engine: version, model, template, flags, stubs."""
    about: dict[str, Any] = {
        "name": definition.name,
        "versions": dict(environments.pins(definition.packages)),
        "weights": weights,
        "template": template.name,
        "flags": list(template.flags),
        "default": template == definition.template(),
    }
    about |= {"build": definition.build} if definition.build else {}
    about |= {"stubs": definition.stubs["note"]} if definition.stubs else {}
    return about | ({"upstream": dict(upstream.about)} if upstream is not None else {})
