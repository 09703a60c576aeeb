"""Run an open-source server with the scripted model, record it, and report what has changed.

An engine listens on loopback only and runs in an environment of its own, which is created when first needed. It stops
when this command ends, for whatever reason. `run` starts the command after `--` with CONFORMANCE_BASE_URL and
CONFORMANCE_MODEL set; the test suites read both if --live is given.
"""

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from conformance.arguments import add_action, seconds
from conformance.artifacts import Journal
from conformance.errors import ConformanceError
from conformance.reporting.text import printable
from conformance.terminal import print_error

if TYPE_CHECKING:
    from conformance.engines import EngineDefinition
    from conformance.engines.recording import RecordingOptions
    from conformance.engines.serving import EngineOptions, ServedEngine
    from conformance.environments import Log
    from conformance.results.runs import Case

EXAMPLES: Final = """\
  conformance engine run llamacpp -- pytest --provider=llamacpp --live
  conformance engine run mlx_lm --template kimi --port 8080
  conformance engine record --all
  conformance engine record llamacpp --protocol messages
  conformance engine drift llamacpp"""

_NAMES: Final = "see `conformance engine list`"
_REQUEST_TIMEOUT: Final = "time for one request, from sending it to the last byte of its reply (default: 120)"
_MAX_TIME: Final = "time for each engine once it has started; nothing is sent after it, and no cassette changes"


class _Action(argparse.ArgumentParser):
    """The parser of one action; it does not parse the user's command after `--`."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments before the first `--`."""
        own = list(args or ())
        at = own.index("--") if "--" in own else len(own)
        parsed, unknown = super().parse_known_args(own[:at], namespace)
        parsed.command = own[at + 1 :]
        return parsed, unknown


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=_Action)
    add_action(actions, "list", "list the engines and show which are installed")
    install = add_action(actions, "install", "create an engine's environment")
    install.add_argument("names", metavar="ENGINE", nargs="+", help=_NAMES)
    run = add_action(actions, "run", "start an engine, and stop it when the command after -- ends or on Ctrl-C")
    run.add_argument("names", metavar="ENGINE", nargs=1, help=_NAMES)
    run.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1 to listen on (default: a free one)")
    record = add_action(actions, "record", "run every scenario and probe, and record cassettes")
    record.add_argument(
        "--cassettes",
        metavar="DIR",
        default="",
        help="where to write (default: cassettes; required outside a checkout)",
    )
    record.add_argument("--resume", action="store_true", help="go on with a recording that was interrupted")
    drift = add_action(actions, "drift", "run them again, and report what differs from the recorded cassettes")
    drift.add_argument("--cassettes", metavar="DIR", default="", help="the cassettes (default: those of this project)")
    for action in (record, drift):
        action.add_argument("names", metavar="ENGINE", nargs="*", help=_NAMES)
        action.add_argument("--all", action="store_true", help="every engine")
        action.add_argument("--request-timeout", metavar="SECONDS", type=seconds, default=120.0, help=_REQUEST_TIMEOUT)
        action.add_argument("--max-time", metavar="SECONDS", type=seconds, default=math.inf, help=_MAX_TIME)
        action.add_argument("--protocol", metavar="WIRE", default="", help="the wire (default: chat completions)")
    for action in (run, record, drift):
        action.add_argument(
            "--template", metavar="TEMPLATE", default="", help="the chat template (default: the first one)"
        )
        action.add_argument("--weights", metavar="DIR", default="", help="the scripted model (default: this project's)")
    for action in actions.choices.values():
        action.add_argument("--cache", metavar="DIR", default="", help="where environments are cached")
        action.add_argument("--definitions", metavar="DIR", default="", help="use the engine definitions in DIR")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action and return its exit code.

    `run` returns that of its command, `record` returns 1 if something was not recorded, and `drift` if it changed.
    """
    # Imported here because these modules load httpx and vcrpy, which --help does not need.
    from conformance import engines, processes
    from conformance.engines.serving import KIND, EngineOptions
    from conformance.environments import cache_root
    from conformance.errors import Unusable
    from conformance.resources import folder

    named: Sequence[str] = getattr(arguments, "names", ())
    if arguments.command and arguments.action != "run":
        message = f"only `run` takes a command after --, `{arguments.action}` does not"
        raise Unusable(message)
    every = arguments.action == "list" or getattr(arguments, "all", False)
    if bool(named) is bool(every):
        message = "name engines or use --all; see `conformance engine list`"
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
    with processes.unwinding_on_signals():
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
        print(ensure_installed(each, options.cache, _logger(each)))
    return 0


def _run(definitions: "Sequence[EngineDefinition]", options: "EngineOptions", arguments: argparse.Namespace) -> int:
    from conformance.engines import command
    from conformance.engines.serving import serving

    (definition,) = definitions
    with serving(definition, options, _logger(definition)) as served:
        if arguments.command:
            code = command.run(arguments.command, served)
            ended = served.process.exit_code()
            if ended is not None:
                _logger(definition)(f"ended unexpectedly with exit code {ended}{served.process.tail()}")
            return code
        print(served.url, flush=True)
        raise served.process.failure()


def _record(definitions: "Sequence[EngineDefinition]", options: "EngineOptions", arguments: argparse.Namespace) -> int:
    from conformance.engines.recording import record_cassettes
    from conformance.resources import checkout_folder

    if arguments.cassettes:
        cassettes = Path(arguments.cassettes)
    else:
        cassettes = checkout_folder("cassettes", "--cassettes DIR is required")

    journal = Journal(cassettes / ".engine-recording.json", resume=arguments.resume)
    left = [each for each in definitions if each.name not in journal.done]

    def record(served: "ServedEngine") -> int:
        warnings: list[str] = []
        options = _options(arguments)
        results = record_cassettes(served, cassettes, _today(), _print_case, warnings.append, options)
        played = [case for case in results.cases if case.outcomes]
        print(f"{results.subject}, {results.model}: {len(played)} of {len(results.cases)} cases played")
        for line in warnings:
            print_error(line)
        if not warnings:
            journal.add(str(served.about["name"]))
        return int(bool(warnings))

    code = _serve_each(left, options, record)
    if not code:
        journal.clear()
    return code


def _drift(definitions: "Sequence[EngineDefinition]", options: "EngineOptions", arguments: argparse.Namespace) -> int:
    import tempfile

    from conformance.engines.recording import drift, record_cassettes, snapshot
    from conformance.errors import Unusable
    from conformance.resources import folder
    from conformance.transport.shelf import CassetteFolder

    cassettes = Path(arguments.cassettes) if arguments.cassettes else folder("cassettes")

    def compare(served: "ServedEngine") -> int:
        wire = arguments.protocol
        committed = snapshot(served.provider, served.model, cassettes, wire)
        with tempfile.TemporaryDirectory() as scratch:
            results = record_cassettes(served, Path(scratch), _today(), options=_options(arguments))
            if served.model not in CassetteFolder(Path(scratch), results.subject).manifest():
                raise Unusable("nothing was compared, since the time of the run (--max-time) is over")
            changes = list(drift(committed, snapshot(served.provider, served.model, Path(scratch), wire)))
        lines = [f"{served.provider}, {served.model}: {len(changes)} changes", *changes]
        print("\n".join(map(printable, lines)), flush=True)
        return int(bool(changes))

    return _serve_each(definitions, options, compare)


def _options(arguments: argparse.Namespace) -> "RecordingOptions":
    from conformance.engines.recording import RecordingOptions

    resume = getattr(arguments, "resume", False)
    return RecordingOptions(arguments.protocol, resume, arguments.request_timeout, arguments.max_time)


def _serve_each(
    definitions: "Sequence[EngineDefinition]", options: "EngineOptions", use: "Callable[[ServedEngine], int]"
) -> int:
    """Serve one engine after the other; an engine that fails is reported and does not stop the others."""
    from conformance.engines.serving import serving

    codes = []
    for definition in definitions:
        try:
            with serving(definition, options, _logger(definition)) as served:
                codes.append(use(served))
        except ConformanceError as error:
            print_error(f"{definition.name}: {error}")
            codes.append(2)
    return max(codes, default=0)


def _today() -> str:
    from datetime import UTC, datetime

    return datetime.now(tz=UTC).date().isoformat()


def _print_case(case: "Case") -> None:
    print(printable(f"{case.name}: {case.note or f'{len(case.probes)} probes'}"), flush=True)


def _logger(definition: "EngineDefinition") -> "Log":
    def log(line: str) -> None:
        print(printable(f"conformance: {definition.name}: {line}"), file=sys.stderr, flush=True)

    return log


_Run: TypeAlias = "Callable[[Sequence[EngineDefinition], EngineOptions, argparse.Namespace], int]"

_ACTIONS: Final[Mapping[str, _Run]] = {
    "drift": _drift,
    "install": _install,
    "list": _list,
    "record": _record,
    "run": _run,
}
