"""Replay cassettes and write the results that the published reports are made of.

This does for many providers what `pytest --provider=P --results=DIR` does for one. The results of a provider's default
model are <provider>.json; the files of its other models also name the model.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.arguments import positive
from conformance.resources import checkout_folder, folder
from conformance.terminal import print_error

if TYPE_CHECKING:
    from conformance.suite.cassettes import Replay

EXAMPLES: Final = """\
  conformance provider replay --all --jobs 2
  conformance provider replay --provider deepseek --results results"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument("--all", action="store_true", help="replay the cassettes of every provider")
    whose.add_argument("--provider", default="", metavar="PROVIDER", help="replay the cassettes of this provider")
    add = parser.add_argument
    add("--model", default="", metavar="MODEL", help="replay only the cassettes of this model")
    add("--jobs", type=positive, default=1, metavar="N", help="number of processes (default: 1)")
    add("--cassettes", type=Path, metavar="DIR", help="the folder of cassettes (default: those of this project)")
    add(
        "--results",
        type=Path,
        metavar="DIR",
        help="where to write (default: reports/results; required outside a checkout)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print where the results of each model are; return 1 if one could not be replayed."""
    # Imported here because these modules load httpx and vcrpy, which --help does not need.
    from conformance.suite.cassettes import recorded, replay

    cassettes = arguments.cassettes or folder("cassettes")
    results = arguments.results or checkout_folder("reports", "--results DIR is required") / "results"
    wanted = recorded(cassettes, arguments.provider, arguments.model)
    played = replay(wanted, cassettes, results, arguments.jobs, _print)
    return int(any(each.problem for each in played))


def _print(replayed: "Replay") -> None:
    if replayed.problem:
        print_error(f"{replayed.provider}, {replayed.model}: {replayed.problem}")
    else:
        print(f"{replayed.provider}, {replayed.model}: {replayed.path}", flush=True)
