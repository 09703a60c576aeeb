"""Calibrate the profiles on recordings: tell whether real traffic is refused, and answered, as they claim.

Every recorded request is played at the simulator of its provider, as of the recording's own model and day, and status
and text of a refusal are compared with what the provider really gave. Every recorded reply is judged by the profile.
PATH is what `conformance check` takes. An exchange that is met twice, as one of a session and alone, counts once.

A failure that `reports/expected-failures.yaml` covers does not count. Its entries name failures as PROVIDER/RULE,
PROVIDER/CLAIM or PROVIDER/requests/KIND, each also with /RECORDING behind, which is the number that is printed.
"""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import orjson

from conformance import baseline
from conformance.errors import Unusable
from conformance.evidence.calibration import Calibration, calibrate
from conformance.files import AUTO
from conformance.reporting.renderers.calibration import render
from conformance.terminal import complain, painter

EXAMPLES: Final = """\
  conformance calibrate recordings/*.jsonl.gz
  conformance calibrate --provider deepseek --format json cassettes/deepseek
  conformance calibrate --write reports/results/calibration recordings"""

_PROVIDER: Final = "whose profile to judge by (default: auto, that of the one that an input tells by name or host)"
_EXPECTED: Final = "the expected failures (default: those of this project)"
_WRITE: Final = "write how often each claim was confirmed and contradicted to DIR/<provider>.json"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="a file or folder of recordings, or - for standard input")
    add("--provider", default=AUTO, metavar="P", help=_PROVIDER)
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    add("--jobs", type=_number, default=1, metavar="N", help="judge in N processes (default: 1)")
    add("--expected", type=Path, metavar="FILE", help=_EXPECTED)
    add("--write", type=Path, metavar="DIR", help=_WRITE)


def run(arguments: argparse.Namespace) -> int:
    """Calibrate and print the report; return 1 for what is unexpectedly false, missed or contradicted."""
    entries = baseline.load(arguments.expected, recordings=True)
    calibration = calibrate(arguments.paths, arguments.provider, arguments.jobs)
    for message in (*calibration.unreadable, *calibration.errored):
        complain(message)
    if not len(calibration):
        raise Unusable("nothing was judged, since no input holds chat completions of a provider that has a profile")
    shown = calibration.to_json(entries, datetime.now(UTC).date().isoformat())
    if arguments.format == "json":
        print(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
    else:
        print("".join(render(shown, painter())), end="")
    if arguments.write is not None:
        _write(calibration, arguments.write)
    if calibration.unreadable or calibration.errored:
        return 2
    return int(bool(shown["failures"]))


def _write(calibration: Calibration, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in calibration.profiles():
        evidence = orjson.dumps(calibration.evidence(name), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        (folder / f"{name}.json").write_bytes(evidence)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text!r}")
    return int(text)
