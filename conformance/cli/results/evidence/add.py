"""Add recordings to the index: files of a public repository, or the file of `pytest --only-unknown`.

With REPO and PATHs, the recordings in files of a public repository enter the index. With one FILE that `pytest
--provider=P --live --only-unknown` wrote, that file is checked: its digests, its provider and host, that it holds no
secret, that its replies are not those of this project's simulator and have nothing that only another host has, and that
each exchange shows what the file says.
The index holds no recordings, so the file has to be in a public repository before it enters the index: commit it there
as it is, and give that commit with --repository.
"""

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from conformance.cli import _recordings
from conformance.errors import Unusable
from conformance.evidence import index
from conformance.evidence.contribution import Contribution, contribute
from conformance.reporting.text import plural, printable
from conformance.resources import checkout_folder

EXAMPLES: Final = """\
  conformance evidence add owner/name@0123456789abcdef0123456789abcdef01234567 tests/cassettes/a.yaml --licence MIT
  conformance evidence add results/deepseek.unknown.jsonl       # only check it
  conformance evidence add deepseek.unknown.jsonl --repository owner/name@0123456789abcdef0123456789abcdef01234567 \\
      --path recordings/deepseek.unknown.jsonl --licence CC0-1.0"""

_PATH: Final = "where FILE stands in that repository (default: its name)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("source", metavar="REPO", help="owner/name@commit, with all 40 digits of the commit; or FILE")
    add("paths", metavar="PATH", nargs="*", help="a file in that repository; none beside FILE")
    add("--licence", metavar="NAME", default="", help="the licence of the repository, such as MIT")
    add("--repository", metavar="REPO", default="", help="the repository and commit in which FILE is public")
    add("--path", metavar="PATH", default="", help=_PATH)
    add("--provider", metavar="PROVIDER", default="", help="the provider, if no host names it")
    add("--date", metavar="DATE", default="", help="the day of exchanges that do not show it")
    add("--fixture", metavar="REASON", default="", help="why these are not what the provider sent")
    _recordings.add_places(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print how many recordings of which provider each file has, or what the file of a run shows."""
    if not arguments.paths:
        return _settling(arguments)
    if not arguments.licence:
        raise Unusable("--licence is required: the licence of the repository, such as MIT")
    _check_index(arguments)
    given = Contribution(arguments.source, arguments.licence, arguments.provider, arguments.date, arguments.fixture)
    with ExitStack() as stack:
        found = contribute(given, arguments.paths, _recordings.origin(arguments, stack))
    index.add(found, _recordings.index_folder(arguments))
    for place, held in index.by_place(found).items():
        named = ", ".join(sorted({each.provider for each in held}))
        print(f"{place}: {plural(len(held), 'recording')} of {named}")
    return 0


def _check_index(arguments: argparse.Namespace) -> None:
    """Raise Unusable if the index may not be changed: that of an installed package is not for changes."""
    if not arguments.index:
        checkout_folder("conformance", "--index DIR is required")


def _settling(arguments: argparse.Namespace) -> int:
    """Check the file of a run, print what it shows, and enter it in the index if it is public."""
    # Imported here because it loads the suites, which repositories do not need.
    from conformance.evidence import settled

    path = Path(arguments.source)
    if index.REPOSITORY.fullmatch(arguments.source):
        raise Unusable("name the files of the repository behind it")
    found = settled.checked(path, arguments.fixture)
    print(f"{path}: {plural(len(found.exchanges), 'exchange')} of {found.provider} at {found.host}, {found.date}")
    for name, answer in settled.answers(path):
        print(printable(f"  {name}: {answer}"))
    if not arguments.repository:
        print(
            "The file is as it says. It is not in the index: commit it to a public repository, and add --repository "
            "owner/name@commit and --licence NAME."
        )
        return 0
    if not arguments.licence:
        raise Unusable("--licence is required: the licence under which the file is public, such as CC0-1.0")
    _check_index(arguments)
    where = arguments.path or path.name
    entries = settled.entries(found, arguments.repository, where, arguments.licence, arguments.fixture)
    index.add(entries, _recordings.index_folder(arguments))
    print(f"{entries[0].place}: {plural(len(entries), 'recording')} of {found.provider} in the index")
    return 0
