"""What the actions of `conformance engine` share: arguments, definitions, and serving one engine after the other."""

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance import processes
from conformance.arguments import add_times
from conformance.errors import ConformanceError, Unusable
from conformance.reporting.text import printable
from conformance.terminal import print_error

if TYPE_CHECKING:
    from conformance.engines import EngineDefinition
    from conformance.engines.recording import RecordingOptions
    from conformance.engines.serving import EngineOptions, ServedEngine
    from conformance.environments import Log

NAMES: Final = "see `conformance engine list`"


def add_engines(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose engines."""
    parser.add_argument("names", metavar="ENGINE", nargs="*", help=NAMES)
    parser.add_argument("--all", action="store_true", help="every engine")


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run of the suite, which `recording_options` reads."""
    add = parser.add_argument
    add_times(parser, "each engine once it has started; no cassette changes if it is over")
    add("--protocol", metavar="WIRE", default="", help="the wire (default: chat completions)")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the options about what an engine serves."""
    add = parser.add_argument
    add("--template", metavar="TEMPLATE", default="", help="the chat template (default: the first one)")
    add("--weights", metavar="DIR", default="", help="the scripted model (default: this project's)")


def add_folders(parser: argparse.ArgumentParser) -> None:
    """Add the options about where definitions and environments are."""
    add = parser.add_argument
    add("--cache", metavar="DIR", default="", help="where environments are cached")
    add("--definitions", metavar="DIR", default="", help="use the engine definitions in DIR")


def definitions(arguments: argparse.Namespace) -> "list[EngineDefinition]":
    """Return the chosen engines; all of them for an action that takes no names."""
    from conformance import engines

    named: Sequence[str] = getattr(arguments, "names", ())
    if bool(named) is getattr(arguments, "all", not named):
        message = "name engines or use --all; see `conformance engine list`"
        raise Unusable(message)
    home = Path(arguments.definitions) if arguments.definitions else engines.FOLDER
    return [engines.load(name, home) for name in named or engines.names(home)]


def options(arguments: argparse.Namespace) -> "EngineOptions":
    """Return how engines are served; an action that serves none has fewer arguments."""
    # Imported here because these modules load httpx, which --help does not need.
    from conformance.artifacts import cache_root
    from conformance.engines.serving import KIND, EngineOptions
    from conformance.resources import folder

    weights = getattr(arguments, "weights", "")
    return EngineOptions(
        Path(arguments.cache).absolute() if arguments.cache else cache_root(KIND),
        Path(weights).absolute() if weights else folder("fixtures") / "model",
        getattr(arguments, "template", ""),
        getattr(arguments, "port", 0),
    )


def recording_options(arguments: argparse.Namespace, *, resume: bool = False) -> "RecordingOptions":
    """Return how the suite is run."""
    from conformance.engines.recording import RecordingOptions

    return RecordingOptions(arguments.protocol, resume, arguments.request_timeout, arguments.max_time)


def serve_each(
    chosen: "Sequence[EngineDefinition]", arguments: argparse.Namespace, use: "Callable[[ServedEngine], int]"
) -> int:
    """Serve one engine after the other; an engine that fails is reported and does not stop the others."""
    from conformance.engines.serving import serving

    codes = []
    with processes.unwinding_on_signals():
        for definition in chosen:
            try:
                with serving(definition, options(arguments), logger(definition)) as served:
                    codes.append(use(served))
            except ConformanceError as error:
                print_error(f"{definition.name}: {error}")
                codes.append(2)
    return max(codes, default=0)


def today() -> str:
    """Return the date of today in UTC."""
    return datetime.now(tz=UTC).date().isoformat()


def logger(definition: "EngineDefinition") -> "Log":
    """Return what prints the progress of an engine on standard error."""

    def log(line: str) -> None:
        print(printable(f"conformance: {definition.name}: {line}"), file=sys.stderr, flush=True)

    return log
