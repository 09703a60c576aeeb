"""Run an open-source server here with the scripted model, record it, and say what has changed.

An engine listens on loopback only, lives in an environment of its own that is made when it is first needed, and ends
with the command, however that ends. A command behind `--` finds it without being told: with --live, the suites read
CONFORMANCE_BASE_URL and CONFORMANCE_MODEL.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from conformance.errors import ConformanceError
from conformance.terminal import complain

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.engines import EngineDefinition
    from conformance.engines.serving import EngineOptions, ServedEngine
    from conformance.environments import Log
    from conformance.results import Case

EXAMPLES: Final = """\
  conformance engine run llamacpp -- pytest --provider=llamacpp --live
  conformance engine run mlx_lm --template kimi --port 8080
  conformance engine record --all
  conformance engine drift llamacpp"""


class _Action(argparse.ArgumentParser):
    """The parser of one action; what stands behind `--` is the user's own command and is not read."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse what stands before the first `--`."""
        own = list(args or ())
        at = own.index("--") if "--" in own else len(own)
        parsed, unknown = super().parse_known_args(own[:at], namespace)
        parsed.errand = own[at + 1 :]
        return parsed, unknown


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=_Action)
    actions.add_parser("list", help="the engines, and which are installed")
    install = actions.add_parser("install", help="make an engine's environment")
    install.add_argument("names", metavar="NAME", nargs="+", help="see `conformance engine list`")
    run = actions.add_parser("run", help="start an engine, and end it with the command behind --, or on Ctrl-C")
    run.add_argument("names", metavar="NAME", nargs=1, help="see `conformance engine list`")
    run.add_argument("--port", type=int, default=0, help="where it listens on 127.0.0.1 (default: a free port)")
    record = actions.add_parser("record", help="play every scenario and probe, and keep the cassettes")
    drift = actions.add_parser("drift", help="play them again, and say what is not as in the committed cassettes")
    for action in (record, drift):
        action.add_argument("names", metavar="NAME", nargs="*", help="see `conformance engine list`")
        action.add_argument("--all", action="store_true", help="every engine")
        action.add_argument("--cassettes", metavar="DIR", default="", help="where they stand (default: the project's)")
    for action in (run, record, drift):
        action.add_argument("--template", metavar="T", default="", help="the chat template (default: the first)")
        action.add_argument("--weights", metavar="DIR", default="", help="the scripted model (default: the project's)")
    for action in actions.choices.values():
        action.add_argument("--cache", metavar="DIR", default="", help="where environments are kept")
        action.add_argument("--definitions", metavar="DIR", default="", help="other definitions than the project's")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action; the exit code of `run` is its command's, that of `drift` 1 where something has changed."""
    # Imported here because the harness loads httpx and vcrpy, which the other verbs need not wait for.
    from pathlib import Path

    from conformance import engines
    from conformance.engines.command import exiting_on_signals
    from conformance.engines.serving import KIND, EngineOptions
    from conformance.environments import cache_root
    from conformance.errors import Unusable
    from conformance.resources import folder

    named: Sequence[str] = getattr(arguments, "names", ())
    if arguments.errand and arguments.action != "run":
        message = f"a command behind -- belongs to `run`, not to `{arguments.action}`"
        raise Unusable(message)
    everyone = arguments.action == "list" or getattr(arguments, "all", False)
    if bool(named) is bool(everyone):
        message = "name the engines, or say --all; see `conformance engine list`"
        raise Unusable(message)
    home = Path(arguments.definitions) if arguments.definitions else engines.FOLDER
    definitions = [engines.load(name, home) for name in named or engines.names(home)]
    weights = getattr(arguments, "weights", "")
    options = EngineOptions(
        Path(arguments.cache).absolute() if arguments.cache else cache_root(KIND),
        Path(weights).absolute() if weights else folder("fixtures") / "model",
        getattr(arguments, "template", ""),
        getattr(arguments, "port", 0),
    )
    with exiting_on_signals():
        return _ACTIONS[arguments.action](definitions, options, arguments)


def _list(definitions: "Sequence[EngineDefinition]", options: "EngineOptions", _: argparse.Namespace) -> int:
    from conformance.engines.serving import is_installed
    from conformance.environments import pinned_versions

    for each in definitions:
        version = pinned_versions(each.packages).get(each.version, "")
        state = "installed" if is_installed(each, options.cache) else "not installed"
        templates = ", ".join([template.name for template in each.templates])
        print(f"{each.name:18}  {state:13}  {version} {each.build}".rstrip() + f"  ({each.title}; {templates})")
    return 0


def _install(definitions: "Sequence[EngineDefinition]", options: "EngineOptions", _: argparse.Namespace) -> int:
    from conformance.engines.serving import ensure_installed

    for each in definitions:
        print(ensure_installed(each, options.cache, _telling(each)))
    return 0


def _run(definitions: "Sequence[EngineDefinition]", options: "EngineOptions", arguments: argparse.Namespace) -> int:
    from conformance.engines import command
    from conformance.engines.serving import serving

    (definition,) = definitions
    with serving(definition, options, _telling(definition)) as served:
        if arguments.errand:
            code = command.run(arguments.errand, served)
            ended = served.process.exit_code()
            if ended is not None:
                _telling(definition)(f"ended unexpectedly with exit code {ended}{served.process.tail()}")
            return code
        print(served.url, flush=True)
        raise served.process.failure()


def _record(definitions: "Sequence[EngineDefinition]", options: "EngineOptions", arguments: argparse.Namespace) -> int:
    from conformance.engines.recording import record_cassettes

    def play(served: "ServedEngine", cassettes: "Path") -> int:
        results = record_cassettes(served, cassettes, _today(), _shown)
        played = [case for case in results.cases if case.outcomes]
        print(f"{results.subject}, {results.model}: {len(played)} of {len(results.cases)} cases were played")
        return 0

    return _each(definitions, options, arguments, play)


def _drift(definitions: "Sequence[EngineDefinition]", options: "EngineOptions", arguments: argparse.Namespace) -> int:
    import tempfile
    from pathlib import Path

    from conformance.engines.recording import drift, record_cassettes, snapshot

    def play(served: "ServedEngine", cassettes: "Path") -> int:
        committed = snapshot(served.provider, served.model, cassettes)
        with tempfile.TemporaryDirectory() as scratch:
            record_cassettes(served, Path(scratch), _today())
            changes = list(drift(committed, snapshot(served.provider, served.model, Path(scratch))))
        print("\n".join([f"{served.provider}, {served.model}: {len(changes)} changes", *changes]), flush=True)
        return int(bool(changes))

    return _each(definitions, options, arguments, play)


def _each(
    definitions: "Sequence[EngineDefinition]",
    options: "EngineOptions",
    arguments: argparse.Namespace,
    play: "Callable[[ServedEngine, Path], int]",
) -> int:
    """Play against one engine after the other; one that cannot be run is told of and does not end the others."""
    from pathlib import Path

    from conformance.engines.serving import serving
    from conformance.resources import folder

    cassettes = Path(arguments.cassettes) if arguments.cassettes else folder("cassettes")
    codes = []
    for definition in definitions:
        try:
            with serving(definition, options, _telling(definition)) as served:
                codes.append(play(served, cassettes))
        except ConformanceError as error:
            complain(f"{definition.name}: {error}")
            codes.append(2)
    return max(codes)


def _today() -> str:
    from datetime import UTC, datetime

    return datetime.now(tz=UTC).date().isoformat()


def _shown(case: "Case") -> None:
    print(f"{case.name}: {case.note or f'{len(case.probes)} probes'}", flush=True)


def _telling(definition: "EngineDefinition") -> "Log":
    def told(words: str) -> None:
        print(f"conformance: {definition.name}: {words}", file=sys.stderr, flush=True)

    return told


_Doing: TypeAlias = "Callable[[Sequence[EngineDefinition], EngineOptions, argparse.Namespace], int]"

_ACTIONS: Final[Mapping[str, _Doing]] = {
    "drift": _drift,
    "install": _install,
    "list": _list,
    "record": _record,
    "run": _run,
}
