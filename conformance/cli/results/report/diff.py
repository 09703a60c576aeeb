"""Compare two sets of results: report what broke, what is fixed, what is new and what is gone.

Returns exit code 1 for a regression.
"""

import argparse
from pathlib import Path
from typing import Final

from conformance.reporting.matrix.difference import difference
from conformance.reporting.renderers.difference import render, render_markdown
from conformance.results.files import read_all
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


def run(arguments: argparse.Namespace) -> int:
    """Print the difference; return 1 for a regression."""
    found = difference(read_all([arguments.old]), read_all([arguments.new]))
    lines = render_markdown(found) if arguments.format == "markdown" else render(found, painter())
    print("".join(lines), end="")
    return int(found.is_regression)
