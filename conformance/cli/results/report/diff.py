"""Compare two sets of results: report what broke, what is fixed, what is new and what is gone.

Returns exit code 1 for a regression. Results of different providers are not compared, and neither are those that do
not prove a whole run.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from conformance.arguments import add_partial, partial_line
from conformance.errors import Unusable
from conformance.reporting.matrix.difference import difference
from conformance.reporting.renderers.difference import render, render_markdown
from conformance.results.files import read_all
from conformance.results.runs import Results
from conformance.terminal import painter

EXAMPLES: Final = """\
  conformance report diff results-of-main/ results/
  conformance report diff --format markdown old/deepseek.json new/deepseek.json > comment.md"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("old", metavar="OLD", type=Path, help="the results before: a results file, or a folder of them")
    add("new", metavar="NEW", type=Path, help="the results after")
    add("--format", choices=("console", "markdown"), default="console", help="console (default), or markdown")
    add_partial(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the difference; return 1 for a regression."""
    old, new = read_all([arguments.old], arguments.partial), read_all([arguments.new], arguments.partial)
    if not {each.profile for each in old} & {each.profile for each in new}:
        raise Unusable(
            f"{arguments.old} is of {_profiles(old)}, and {arguments.new} of {_profiles(new)}; "
            "compare results of the same provider"
        )
    found = difference(old, new)
    lines = render_markdown(found) if arguments.format == "markdown" else render(found, painter())
    print("".join(lines), end="")
    if arguments.partial:
        print(f"\n{partial_line(arguments.partial)}")
    return int(found.is_regression)


def _profiles(many: Sequence[Results]) -> str:
    return ", ".join(sorted({each.profile for each in many}))
