"""Fetch the files of the index into the cache and verify them.

It gets the files by commit, over HTTPS or from git mirrors, and verifies the digest of every recording. A file is gone
if its repository has none at that commit; a mirror that lacks the repository or the commit says nothing of it.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Final

from conformance.arguments import positive
from conformance.cli import _recordings
from conformance.errors import UnknownName, Unusable
from conformance.evidence import index
from conformance.evidence.fetching import Cache, Checked, State, fetch
from conformance.reporting.text import plural
from conformance.terminal import ProgressLine

EXAMPLES: Final = """\
  conformance evidence fetch --provider deepseek
  conformance evidence fetch --mirror ~/mirrors"""

_BAD: Final = (State.GONE, State.DIFFERS, State.FAILED)
_JOBS: Final = "number of files to fetch at once (default: 4)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--provider", metavar="PROVIDER", default="", help="only recordings of this provider")
    parser.add_argument("--jobs", type=positive, default=4, metavar="N", help=_JOBS)
    _recordings.add_places(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what became of the recordings; return 1 if one is gone, differs or could not be fetched."""
    provider = arguments.provider
    indexed = index.load(_recordings.index_folder(arguments))
    wanted = [each for each in indexed if not provider or provider in (each.provider, each.service)]
    if not wanted:
        raise UnknownName("provider with recordings", provider, sorted({each.provider for each in indexed}))
    progress = ProgressLine(report_at_end=True)
    with ExitStack() as stack:
        origin = _recordings.origin(arguments, stack, arguments.jobs)
        checked = list(
            fetch(
                wanted,
                origin,
                Cache(),
                arguments.jobs,
                lambda done, total: progress.show(f"{done} of {plural(total, 'file')}"),
            )
        )
    progress.clear()
    for line in _report(checked):
        print(line)
    if all(each.state is State.NOT_MIRRORED for each in checked):
        raise Unusable("nothing was checked: no mirror has these files")
    return int(any(each.state in _BAD for each in checked))


def _report(checked: Sequence[Checked]) -> Iterator[str]:
    """Yield what became of the recordings: problems first, then a line per repository, then the sum."""
    problems = dict.fromkeys(
        (each.recording.place, each.state, each.reason) for each in checked if each.state is not State.VERIFIED
    )
    for place, state, reason in problems:
        yield f"{state}: {place}: {reason}"
    by_repository: dict[str, Counter[State]] = {}
    for each in checked:
        by_repository.setdefault(each.recording.place.repository, Counter())[each.state] += 1
    for repository, counted in by_repository.items():
        yield f"{repository}: {_counted(counted)}"
    yield f"{plural(len(checked), 'recording')}: {_counted(Counter(each.state for each in checked))}"


def _counted(counted: Counter[State]) -> str:
    return ", ".join(f"{counted[state]} {state}" for state in State if counted[state])
