"""Check the fetched recordings with every rule about providers, and print those that somebody may have edited.

A recording that breaks a MUST is a finding, unless an entry of the expected failures or the index says why. An entry
that no recording needs any more is a finding, too: delete it.

A recording is suspect if its tokens do not fit its text or do not add up, if its reply has a member or an id of
another host, an id or a signature that somebody typed, or a round time, or if its text is that of another host's
recording. Look at each: `conformance evidence add --fixture REASON` marks it in the index, and then it confirms
nothing.
"""

import argparse
from pathlib import Path
from typing import Final

from conformance import profiles
from conformance.evidence import index
from conformance.evidence.recorded_run import RecordedRun
from conformance.evidence.suspects import SuspectFinder
from conformance.reporting.text import plural, printable
from conformance.results import Level
from conformance.results.files import write

EXAMPLES: Final = """\
  conformance evidence check --provider deepseek
  conformance evidence check --write reports/results/recorded"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--provider", metavar="PROVIDER", default="", help="only this provider (default: all)")
    parser.add_argument("--write", metavar="DIR", default="", help="write the results to DIR/<provider>.json")


def run(arguments: argparse.Namespace) -> int:
    """Print the recordings that break a MUST, and stale baseline entries; return 1 if there are any."""
    asked = arguments.provider
    indexed = {each.provider for each in index.load() if asked in ("", each.provider, each.service)}
    broken, finder = 0, SuspectFinder()
    for provider in sorted(filter(profiles.has, indexed)) or [asked]:
        run = RecordedRun(provider)
        unexpected = run.unexpected(Level.MUST)
        for played, outcome in unexpected:
            found = outcome.findings[0].message if outcome.findings else outcome.reason
            print(f"{provider}: {outcome.rule}: {found}: {played.recording.link} #{played.recording.number}")
        for recording, exchange in run.exchanges():
            for suspect in finder.add(f"{recording.place} #{recording.number}", provider, exchange):
                print(printable(f"{provider}: suspect, {suspect.reason}: {suspect.name}"))
        stale = run.stale()
        for each in stale:
            print(f"{provider}: the baseline expects {each}")
        failed = len({played.recording.digest for played, _ in unexpected})
        print(f"{provider}: {plural(len(run.played), 'recording')}, {failed} break a MUST")
        broken += failed + len(stale)
        if arguments.write and (results := run.results()).cases:
            write(Path(arguments.write), results)
    return int(bool(broken))
