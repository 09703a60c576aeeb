"""List the engines and show which are installed."""

import argparse
from typing import Final

from conformance.cli import _engines

EXAMPLES: Final = """\
  conformance engine list
  conformance engine list --definitions engines/"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _engines.add_folders(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print one line per engine."""
    # Imported here because these modules load httpx, which --help does not need.
    from conformance.engines.serving import is_installed
    from conformance.environments import pinned_versions

    cache = _engines.options(arguments).cache
    for each in _engines.definitions(arguments):
        version = pinned_versions(each.packages).get(each.version, "")
        state = "installed" if is_installed(each, cache) else "not installed"
        templates = ", ".join([template.name for template in each.templates])
        print(f"{each.name:18}  {state:13}  {version} {each.build}".rstrip() + f"  ({each.title}; {templates})")
    return 0
