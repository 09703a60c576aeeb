"""Make a badge of results: how many facts conform, and how many are only declared."""

import argparse
from pathlib import Path
from typing import Final

from conformance.arguments import add_partial, print_accepted
from conformance.errors import Unusable
from conformance.reporting.matrix.counts import count
from conformance.reporting.renderers.badge import FORMATS
from conformance.results.files import read_all

EXAMPLES: Final = """\
  conformance report badge results/deepseek.json > deepseek.svg
  conformance report badge --format shields --label wire results/ > badge.json   # https://shields.io/badges/endpoint-badge"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", nargs="+", metavar="RESULTS", type=Path, help="results files, or folders of them")
    parser.add_argument("--label", default="conformance", help="the text on the left (default: conformance)")
    link = "where an svg badge leads to, such as mine.md of `conformance report`"
    parser.add_argument("--link", metavar="URL", default="", help=link)
    parser.add_argument(
        "--format", choices=tuple(FORMATS), default="svg", help="svg (default), or shields: JSON for shields.io"
    )
    add_partial(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the badge; always return 0, because a badge passes no verdict."""
    if ":" in arguments.link and not arguments.link.startswith(("https://", "http://")):
        raise Unusable(f"--link {arguments.link}: expected an http or https URL, or a path relative to the badge")
    counted = count(read_all(arguments.paths, arguments.partial))
    label = f"{arguments.label} (partial)" if arguments.partial else arguments.label
    print(FORMATS[arguments.format](counted, label, arguments.link), end="")
    print_accepted(arguments.partial)
    return 0
