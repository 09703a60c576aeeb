"""Compare the profiles with recordings of real traffic, and report which claims they confirm or contradict.

Each recorded request is sent to the simulator of its provider, for the model and date of the recording. A refusal is
compared with what the provider really answered, by status and text. Each recorded reply is checked against the profile.
A recording confirms a claim only if it shows the claimed value. PATH is what `conformance check` takes; without one,
the recordings of the public index are compared, which `conformance evidence fetch` has fetched, and this project's
cassettes of engines. What the simulator replied confirms nothing. An exchange that occurs twice counts once.

Failures that the expected-failures baseline covers do not count. Its entries name failures as PROVIDER/RULE,
PROVIDER/CLAIM or PROVIDER/requests/KIND. Each may end in /RECORDING, the number that the report shows. Failures of
fixtures that the index marks as changed or written by hand are artefacts, which do not count either.
"""

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from conformance import baseline
from conformance.arguments import positive
from conformance.artifacts import locked, write
from conformance.errors import Unusable
from conformance.evidence import index
from conformance.evidence.calibration import Calibration, calibrate
from conformance.evidence.conversations import cached_inputs
from conformance.evidence.fetching import Cache, State
from conformance.files import AUTO
from conformance.formats import Input
from conformance.profiles import is_path
from conformance.reporting.renderers.calibration import render
from conformance.reporting.text import printable_json
from conformance.resources import folder, names
from conformance.results import Evidence
from conformance.terminal import painter, print_error
from conformance.transport.shelf import CassetteFolder

EXAMPLES: Final = """\
  conformance evidence calibrate
  conformance evidence calibrate --provider deepseek --format json recordings/*.jsonl.gz
  conformance evidence calibrate --write reports/results/calibration"""

_PROVIDER: Final = "the profile to compare with (default: auto, which detects the provider from its name or host)"
_EXPECTED: Final = "the expected-failures baseline (default: the one of this project)"
_WRITE: Final = "write which recordings confirm or contradict each claim to DIR/<provider>.json"
_PATHS: Final = "a file or folder of recordings, or - for standard input (default: the public index)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help=_PATHS)
    add("--provider", default=AUTO, metavar="PROVIDER", help=_PROVIDER)
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    add("--jobs", type=positive, default=1, metavar="N", help="number of processes (default: 1)")
    add("--expected", type=Path, metavar="FILE", help=_EXPECTED)
    add("--write", type=Path, metavar="DIR", help=_WRITE)


def run(arguments: argparse.Namespace) -> int:
    """Print the report; return 1 for unexpected mismatches, and 2 if an input or a rule could not be used."""
    entries = baseline.load(arguments.expected, recordings=True)
    paths, recordings = arguments.paths, []
    if not paths:
        if is_path(arguments.provider):
            raise Unusable("--provider FILE needs recordings to compare with: name their files or folders")
        paths, recordings = _engine_cassettes(arguments.provider), _indexed(arguments.provider)
    calibration = calibrate(paths, arguments.provider, arguments.jobs, recordings)
    for message in (*calibration.unreadable, *calibration.errored):
        print_error(message)
    if not len(calibration):
        raise Unusable("nothing was checked: no input holds chat completions of a provider that has a profile")
    report = calibration.to_json(entries, datetime.now(UTC).date().isoformat())
    if arguments.format == "json":
        print(printable_json(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode()))
    else:
        print("".join(render(report, painter())), end="")
    if arguments.write is not None:
        _write(calibration, arguments.write)
    if calibration.unreadable or calibration.errored:
        return 2
    return int(bool(report["failures"]))


def _indexed(provider: str) -> list[Input]:
    """Return the conversations of the index; raises Unusable unless all of them were fetched."""
    wanted = [each for each in index.load() if provider in (AUTO, each.provider)]
    if not wanted:
        raise Unusable(f"the index has no recordings of {provider}")
    found, missing = cached_inputs(wanted, Cache())
    absent = [each for each in missing if each.state is not State.UNVERIFIED]
    if absent:
        only = f" --provider {provider}" if provider != AUTO else ""
        raise Unusable(
            f"{len(absent)} of {len(wanted)} recordings of the index are not in the cache or differ; "
            f"run `conformance evidence fetch{only}`"
        )
    return found


def _engine_cassettes(provider: str) -> list[str]:
    """Return the folders of this project's cassettes that were recorded with engines."""
    home = folder("cassettes")
    providers = names(home) if provider == AUTO else [provider]
    return [
        str(cassettes.path(model, "any").parent)
        for name in providers
        for cassettes in [CassetteFolder(home, name)]
        for model, entry in cassettes.manifest().items()
        if entry.evidence is Evidence.ENGINE
    ]


def _write(calibration: Calibration, target: Path) -> None:
    with locked(target):
        for name in calibration.profiles():
            write(target / f"{name}.json", _text(calibration.evidence(name)))


def _text(evidence: Mapping[str, Any]) -> str:
    """Return evidence as JSON with one line per claim, so that differences between versions can be read."""
    lines = [f"{_json(name)}: {_listed(value)}" for name, value in evidence.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _listed(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join(map(_json, value)) + "\n]"
    return _json(value)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
