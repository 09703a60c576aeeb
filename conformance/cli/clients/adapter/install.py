"""Create an adapter's environment, optionally for another version."""

import argparse
from typing import Final

from conformance.adapters import definition
from conformance.cli import _adapters

EXAMPLES: Final = """\
  conformance adapter install pydantic-ai litellm@1.83.3"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("names", metavar="ADAPTER[@VERSION]", nargs="+", help="see `conformance adapter list`")
    _adapters.add_folder(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the environment of each adapter."""
    for chosen in [definition.load(name, _adapters.definitions_folder(arguments)) for name in arguments.names]:
        print(f"{chosen.name}@{chosen.version}: {_adapters.installed(chosen)}")
    return 0
