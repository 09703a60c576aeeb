"""Hold results against the expected failures, and fail on anything that is not as it was said to be.

Closed by a failure that no entry covers, by an entry whose failure is gone, that matches nothing or is past its end,
by a case that judged nothing, and by anything that errored, which nothing excuses.
"""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from conformance import baseline
from conformance.cli._terminal import painter
from conformance.gate import judge
from conformance.matrix.stored import read_all
from conformance.report.gate import render
from conformance.resources import folder

EXAMPLES: Final = """\
  conformance gate                                  # the project's own results
  pytest --provider=deepseek --live --results results; conformance gate results
  conformance gate --expected our-expected-failures.yaml results/*.json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument(
        "paths", nargs="*", metavar="RESULTS", help="files of results, or folders of them (default: reports/results)"
    )
    parser.add_argument(
        "--expected",
        type=Path,
        metavar="FILE",
        help="the expected failures (default: expected-failures.yaml of the project, for its own results; else none)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the judgement; 0 where the gate is open."""
    own = not arguments.paths
    results = read_all([Path(each) for each in arguments.paths] or [folder("reports") / "results"])
    entries = baseline.load(arguments.expected) if own or arguments.expected else ()
    judgement = judge(results, entries, datetime.now(UTC).date().isoformat())
    print("".join(render(judgement, painter())), end="")
    return int(not judgement.passes)
