"""Add the recordings in files of a public repository to the index."""

import argparse
from contextlib import ExitStack
from typing import Final

from conformance.cli import _recordings
from conformance.evidence import index
from conformance.evidence.contribution import Contribution, contribute
from conformance.reporting.text import plural
from conformance.resources import checkout_folder

EXAMPLES: Final = """\
  conformance evidence add owner/name@0123456789abcdef0123456789abcdef01234567 tests/cassettes/a.yaml --licence MIT"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("repository", metavar="REPO", help="owner/name@commit, with all 40 digits of the commit")
    add("paths", metavar="PATH", nargs="+", help="a file in that repository")
    add("--licence", metavar="NAME", required=True, help="the licence of the repository, such as MIT")
    add("--provider", metavar="PROVIDER", default="", help="the provider, if no host names it")
    add("--date", metavar="DATE", default="", help="the day of exchanges that do not show it")
    add("--fixture", metavar="REASON", default="", help="why these are not what the provider sent")
    _recordings.add_places(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print how many recordings of which provider each file has."""
    if not arguments.index:
        # The index of an installed package is not for changes.
        checkout_folder("conformance", "--index DIR is required")
    given = Contribution(arguments.repository, arguments.licence, arguments.provider, arguments.date, arguments.fixture)
    with ExitStack() as stack:
        found = contribute(given, arguments.paths, _recordings.origin(arguments, stack))
    index.add(found, _recordings.index_folder(arguments))
    for place, held in index.by_place(found).items():
        named = ", ".join(sorted({each.provider for each in held}))
        print(f"{place}: {plural(len(held), 'recording')} of {named}")
    return 0
