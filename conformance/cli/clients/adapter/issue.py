"""Print a bug report about a rule that an adapter breaks."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.arguments import seconds
from conformance.cli import _adapters

if TYPE_CHECKING:
    from conformance.results.runs import Results

EXAMPLES: Final = """\
  conformance adapter issue openai-sdk --rule shape/message     # for its tracker
  conformance adapter issue my-sdk --rule shape/message --results results
  conformance adapter issue litellm@1.83.3 --rule shape/message --run --install"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("name", metavar="ADAPTER[@VERSION]", help="an adapter of this project or of your results")
    add("--rule", metavar="RULE", required=True, help="the rule that it breaks")
    add("--version", metavar="V", default="", help="the version of the adapter, as in ADAPTER@V")
    add(
        "--provider",
        metavar="PROVIDER",
        default="",
        help="the provider, or the file of its profile (default: that with the smallest case)",
    )
    add("--results", metavar="DIR", default="", help="results to report from (default: those of this project)")
    add("--run", action="store_true", help="run the adapter now, and report what it does")
    add("--install", action="store_true", help="with --run, install the adapter if it is not installed")
    add("--scenario", metavar="SCENARIO", action="append", default=[], help="with --run, only these scenarios")
    add("--seconds", metavar="N", type=seconds, help="with --run, the timeout of a case")
    _adapters.add_folder(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the report."""
    # Imported here because these modules load httpx, which --help does not need.
    from conformance.adapters import issue
    from conformance.reporting.renderers.issue import render
    from conformance.resources import folder, unpacked
    from conformance.results.files import read_about, read_all

    name, _, version = arguments.name.partition("@")
    named = "@".join(filter(None, [name, arguments.version or version]))
    if arguments.run:
        found = issue.find([_rerun(named, arguments)], named, arguments.rule)
    else:
        given = [Path(arguments.results)] if arguments.results else []
        # One case is enough for a bug report, so results of a part of the tests are welcome.
        known = read_all(given, []) if given else read_about([unpacked(folder("reports") / "results")], named)
        found = issue.find(known, named, arguments.rule, arguments.provider)
    print(render(found), end="")
    return 0


def _rerun(named: str, arguments: argparse.Namespace) -> "Results":
    """Run an adapter for a bug report, and return its results."""
    from conformance.adapters import definition

    arguments.jobs = os.cpu_count() or 1
    chosen = definition.load(named, _adapters.definitions_folder(arguments))
    plan = _adapters.plan(chosen, arguments.provider or chosen.providers[0], arguments)
    return _adapters.run_plan(plan, arguments)[0]
