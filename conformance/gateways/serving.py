"""A real gateway from nothing to ready: environment, configuration, process, between a provider and its clients."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx

from conformance import environments
from conformance.definitions import filled
from conformance.engines.process import HOST, EngineProcess, free_port, started
from conformance.environments import Log
from conformance.errors import Unusable
from conformance.gateways.definition import GatewayDefinition
from conformance.gateways.playing import Front
from conformance.gateways.upstream import Upstream

KIND: Final = "gateways"

WORK: Final = "conformance-gateway-"
"""How the name of the folder begins in which a gateway runs."""

_POLL: Final = 0.2
_GRACE: Final = 5.0


def environment_path(definition: GatewayDefinition, cache: Path) -> Path:
    """Return the folder of a gateway's environment."""
    return environments.cached_path(cache, definition.name, [definition.language, list(definition.packages)])


def is_installed(definition: GatewayDefinition, cache: Path) -> bool:
    """Return whether the gateway's packages are in the cache."""
    return environments.is_complete(environment_path(definition, cache))


def ensure_installed(definition: GatewayDefinition, cache: Path, log: Log) -> Path:
    """Return the folder of an environment with the gateway's packages, created if there is none.

    Raises Unusable if a package cannot be installed.
    """

    def create(folder: Path) -> None:
        if definition.language == "node":
            environments.npm_install(folder, definition.packages, log)
        else:
            environments.create_venv(folder, [definition.packages], (), log)

    return environments.ensure(environment_path(definition, cache), create, log)


@contextmanager
def serving_gateway(
    definition: GatewayDefinition, wire: str, back: str, upstream: Upstream, cache: Path, log: Log
) -> Iterator[Front]:
    """Start a gateway before a provider, wait until it answers, yield its front, and end it.

    Raises Unusable if that fails, with the end of its log.
    """
    environment = ensure_installed(definition, cache, log)
    front, port = definition.front(wire), free_port()
    with tempfile.TemporaryDirectory(prefix=WORK) as scratch:
        work = Path(scratch).resolve()
        known = {
            "python": str(environments.python_in(environment)),
            "modules": str(environment / "node_modules"),
            "package": str(definition.home),
            "work": str(work),
            "port": str(port),
            "upstream": upstream.url,
            "upstream-port": str(urlsplit(upstream.url).port),
            "model": upstream.model,
        }
        known |= {key: filled(text, known) for key, text in definition.back(back).items()}
        for name, text in definition.files.items():
            target = work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(filled(text, known), encoding="utf-8")
        command = [filled(word, known) for word in definition.command]
        variables = {"HOME": str(work), **{key: filled(text, known) for key, text in definition.environment.items()}}
        with started(definition.title, command, variables, work, work / "gateway.log", _GRACE) as process:
            log(f"starting {definition.title}")
            _wait(process, f"http://{HOST}:{port}{definition.health}", definition.seconds)
            process.require_loopback(port)
            yield Front(
                f"http://{HOST}:{port}{front.path}",
                wire,
                filled(front.model, known),
                headers=tuple([(name, filled(text, known)) for name, text in front.headers.items()]),
            )


def _wait(process: EngineProcess, url: str, seconds: float) -> None:
    """Return as soon as the URL gives any answer; raises Unusable if the gateway ends or takes too long."""
    start = time.monotonic()
    with httpx.Client(timeout=5.0, trust_env=False) as client:
        while True:
            code = process.exit_code()
            if code is not None:
                raise Unusable(f"{process.title} ended during start-up with exit code {code}{process.tail()}")
            with suppress(httpx.HTTPError):
                client.get(url)
                return
            if time.monotonic() - start > seconds:
                raise Unusable(f"{process.title} did not answer at {url} within {seconds:g} seconds{process.tail()}")
            time.sleep(_POLL)
