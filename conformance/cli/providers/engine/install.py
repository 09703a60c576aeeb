"""Create an engine's environment."""

import argparse
from typing import Final

from conformance import processes
from conformance.cli import _engines

EXAMPLES: Final = """\
  conformance engine install llamacpp mlx_lm"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("names", metavar="ENGINE", nargs="+", help=_engines.NAMES)
    _engines.add_folders(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the folder of each environment."""
    # Imported here because it loads httpx, which --help does not need.
    from conformance.engines.serving import ensure_installed

    cache = _engines.options(arguments).cache
    with processes.unwinding_on_signals():
        for each in _engines.definitions(arguments):
            print(ensure_installed(each, cache, _engines.logger(each)))
    return 0
