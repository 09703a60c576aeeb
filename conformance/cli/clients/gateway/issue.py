"""Print a bug report about what a gateway loses: the four bodies, and how to repeat it with curl and 30 lines."""

import argparse
from pathlib import Path
from typing import Final

from conformance.cli import _gateways
from conformance.resources import checkout_folder

EXAMPLES: Final = """\
  conformance gateway issue portkey --fact gateway/tools-kept
  conformance gateway issue litellm --fact gateway/reasoning-kept --front messages --results results"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("name", metavar="GATEWAY", help="a gateway in the results, with or without its version")
    add("--fact", metavar="FACT", required=True, help="the fact that does not hold")
    add("--front", metavar="WIRE", default="", help="the front (default: that with the smallest case)")
    add("--back", metavar="PROVIDER", default="", help="the back (default: that with the smallest case)")
    add("--results", metavar="DIR", default="", help="results to report from (default: those of this project)")
    _gateways.add_folder(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the report."""
    from conformance.gateways import definition
    from conformance.gateways.loss import find
    from conformance.reporting.renderers import gateway_issue
    from conformance.results.files import read_about

    if arguments.results:
        given = Path(arguments.results)
    else:
        given = checkout_folder("reports", "--results DIR is required") / "results" / "gateways"
    files = sorted(given.glob("*.json")) if given.is_dir() else [given]
    found = find(read_about(files, arguments.name), arguments.name, arguments.fact, arguments.front, arguments.back)
    name, folder = found.results.subject.partition("@")[0], _gateways.folder(arguments)
    known = definition.load(name, folder) if name in definition.names(folder) else None
    print(gateway_issue.render(found, known), end="")
    return 0
