"""Say what changed between two sets of results: what broke, what was mended, what appeared and what is gone.

Ends with exit code 1 where something is worse than before.
"""

import argparse
from pathlib import Path
from typing import Final

from conformance.reporting.matrix.difference import difference
from conformance.reporting.renderers.difference import render, render_markdown
from conformance.results.files import read_all
from conformance.terminal import painter

EXAMPLES: Final = """\
  conformance diff results-of-main/ results/
  conformance diff --format markdown old/deepseek.json new/deepseek.json > comment.md"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("old", metavar="OLD", type=Path, help="a file of results, or a folder of them")
    parser.add_argument("new", metavar="NEW", type=Path, help="the same, later")
    parser.add_argument(
        "--format", choices=("console", "markdown"), default="console", help="console (default), or markdown"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the difference; 1 for a regression."""
    found = difference(read_all([arguments.old]), read_all([arguments.new]))
    lines = render_markdown(found) if arguments.format == "markdown" else render(found, painter())
    print("".join(lines), end="")
    return int(found.is_regression)
