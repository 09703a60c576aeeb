"""Compare the profiles with recordings of real traffic, and report which claims they confirm or contradict.

Each recorded request is sent to the simulator of its provider, for the model and date of the recording. A refusal is
compared with what the provider really answered, by status and text. Each recorded reply is checked against the profile.
PATH is what `conformance check` takes. An exchange that occurs both alone and in a session counts once.

Failures that the expected-failures baseline covers do not count. Its entries name failures as PROVIDER/RULE,
PROVIDER/CLAIM or PROVIDER/requests/KIND. Each may end in /RECORDING, the number that the report shows.
"""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import orjson

from conformance import artifacts, baseline
from conformance.arguments import positive
from conformance.errors import Unusable
from conformance.evidence.calibration import Calibration, calibrate
from conformance.files import AUTO
from conformance.reporting.renderers.calibration import render
from conformance.terminal import painter, print_error

EXAMPLES: Final = """\
  conformance calibrate recordings/*.jsonl.gz
  conformance calibrate --provider deepseek --format json cassettes/deepseek
  conformance calibrate --write reports/results/calibration recordings"""

_PROVIDER: Final = "the profile to compare with (default: auto, which detects the provider from its name or host)"
_EXPECTED: Final = "the expected-failures baseline (default: the one of this project)"
_WRITE: Final = "write how often each claim was confirmed and contradicted to DIR/<provider>.json"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="a file or folder of recordings, or - for standard input")
    add("--provider", default=AUTO, metavar="PROVIDER", help=_PROVIDER)
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    add("--jobs", type=positive, default=1, metavar="N", help="number of processes (default: 1)")
    add("--expected", type=Path, metavar="FILE", help=_EXPECTED)
    add("--write", type=Path, metavar="DIR", help=_WRITE)


def run(arguments: argparse.Namespace) -> int:
    """Print the report; return 1 for unexpected mismatches, and 2 if an input or a rule could not be used."""
    entries = baseline.load(arguments.expected, recordings=True)
    calibration = calibrate(arguments.paths, arguments.provider, arguments.jobs)
    for message in (*calibration.unreadable, *calibration.errored):
        print_error(message)
    if not len(calibration):
        raise Unusable("nothing was checked: no input holds chat completions of a provider that has a profile")
    report = calibration.to_json(entries, datetime.now(UTC).date().isoformat())
    if arguments.format == "json":
        print(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())
    else:
        print("".join(render(report, painter())), end="")
    if arguments.write is not None:
        _write(calibration, arguments.write)
    if calibration.unreadable or calibration.errored:
        return 2
    return int(bool(report["failures"]))


def _write(calibration: Calibration, folder: Path) -> None:
    with artifacts.locked(folder):
        for name in calibration.profiles():
            evidence = orjson.dumps(calibration.evidence(name), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
            artifacts.write(folder / f"{name}.json", evidence)
