"""Run every scenario and probe again, and report what differs from the recorded cassettes."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.cli import _engines
from conformance.errors import Unusable
from conformance.reporting.text import printable

if TYPE_CHECKING:
    from conformance.engines.serving import ServedEngine

EXAMPLES: Final = """\
  conformance engine drift llamacpp
  conformance engine drift --all --max-time 600"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _engines.add_engines(parser)
    parser.add_argument("--cassettes", metavar="DIR", default="", help="the cassettes (default: those of this project)")
    _engines.add_run(parser)
    _engines.add_model(parser)
    _engines.add_folders(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the changes; return 1 if there are any, and 2 if an engine failed."""
    # Imported here because these modules load httpx and vcrpy, which --help does not need.
    import tempfile

    from conformance.engines.recording import drift, record_cassettes, snapshot
    from conformance.resources import folder
    from conformance.transport.shelf import CassetteFolder

    cassettes = Path(arguments.cassettes) if arguments.cassettes else folder("cassettes")

    def compare(served: "ServedEngine") -> int:
        wire = arguments.protocol
        committed = snapshot(served.provider, served.model, cassettes, wire)
        with tempfile.TemporaryDirectory() as scratch:
            results = record_cassettes(
                served, Path(scratch), _engines.today(), options=_engines.recording_options(arguments)
            )
            if served.model not in CassetteFolder(Path(scratch), results.subject).manifest():
                raise Unusable("nothing was compared, since the time of the run (--max-time) is over")
            changes = list(drift(committed, snapshot(served.provider, served.model, Path(scratch), wire)))
        lines = [f"{served.provider}, {served.model}: {len(changes)} changes", *changes]
        print("\n".join(map(printable, lines)), flush=True)
        return int(bool(changes))

    return _engines.serve_each(_engines.definitions(arguments), arguments, compare)
