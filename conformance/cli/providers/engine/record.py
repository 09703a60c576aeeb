"""Run every scenario and probe on an engine, and record cassettes."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.artifacts import Journal
from conformance.cli import _engines
from conformance.reporting.text import printable
from conformance.resources import checkout_folder
from conformance.terminal import print_error

if TYPE_CHECKING:
    from conformance.engines.serving import ServedEngine
    from conformance.results.runs import Case

EXAMPLES: Final = """\
  conformance engine record --all
  conformance engine record llamacpp --protocol messages"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _engines.add_engines(parser)
    parser.add_argument(
        "--cassettes",
        metavar="DIR",
        default="",
        help="where to write (default: cassettes; required outside a checkout)",
    )
    parser.add_argument("--resume", action="store_true", help="go on with a recording that was interrupted")
    _engines.add_run(parser)
    _engines.add_model(parser)
    _engines.add_folders(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each case; return 1 if something was not recorded, and 2 if an engine failed."""
    # Imported here because it loads httpx and vcrpy, which --help does not need.
    from conformance.engines.recording import record_cassettes

    definitions = _engines.definitions(arguments)
    if arguments.cassettes:
        cassettes = Path(arguments.cassettes)
    else:
        cassettes = checkout_folder("cassettes", "--cassettes DIR is required")

    journal = Journal(cassettes / ".engine-recording.json", resume=arguments.resume)
    left = [each for each in definitions if each.name not in journal.done]

    def record(served: "ServedEngine") -> int:
        warnings: list[str] = []
        options = _engines.recording_options(arguments, resume=arguments.resume)
        results = record_cassettes(served, cassettes, _engines.today(), _print_case, warnings.append, options)
        played = [case for case in results.cases if case.outcomes]
        print(f"{results.subject}, {results.model}: {len(played)} of {len(results.cases)} cases played")
        for line in warnings:
            print_error(line)
        if not warnings:
            journal.add(str(served.about["name"]))
        return int(bool(warnings))

    code = _engines.serve_each(left, arguments, record)
    if not code:
        journal.clear()
    return code


def _print_case(case: "Case") -> None:
    print(printable(f"{case.name}: {case.note or f'{len(case.probes)} probes'}"), flush=True)
