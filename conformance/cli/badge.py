"""Make a badge of results: how many facts conform, and how many are only declared."""

import argparse
from pathlib import Path
from typing import Final

from conformance.reporting.renderers.badge import FORMATS, count
from conformance.results.files import read_all

EXAMPLES: Final = """\
  conformance badge results/deepseek.json > deepseek.svg
  conformance badge --format shields --label wire results/ > badge.json   # https://shields.io/badges/endpoint-badge"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", nargs="+", metavar="RESULTS", type=Path, help="results files, or folders of them")
    parser.add_argument("--label", default="conformance", help="the text on the left (default: conformance)")
    parser.add_argument(
        "--format", choices=tuple(FORMATS), default="svg", help="svg (default), or shields: JSON for shields.io"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the badge; always return 0, because a badge passes no verdict."""
    print(FORMATS[arguments.format](count(read_all(arguments.paths)), arguments.label), end="")
    return 0
