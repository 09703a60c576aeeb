"""Compare results with the expected-failures baseline; fail on any difference.

The gate is closed by an unexpected failure, by a stale entry (its failure is fixed, its pattern matches nothing, or it
has expired), by a case that checked nothing, and by any error in conformance itself, which no entry can cover.
"""

import argparse
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Final

from conformance import baseline
from conformance.gate import GateResult, evaluate
from conformance.reporting import renderers
from conformance.reporting.matrix.annotations import locations, of_gate
from conformance.resources import checkout_folder
from conformance.results.files import read_with_paths
from conformance.results.runs import Results
from conformance.terminal import painter

EXAMPLES: Final = """\
  conformance gate                                  # the results of this project, in a checkout
  pytest --provider=deepseek --live --results results; conformance gate results
  conformance gate --expected our-expected-failures.yaml --format junit results/ > gate.xml
  conformance gate --format markdown results/ > comment.md      # for a pull request"""

CONSOLE: Final = "console"
MARKDOWN: Final = "markdown"
FORMATS: Final = (CONSOLE, MARKDOWN, "github", "junit", "sarif")

_PATHS: Final = """\
results files, or folders of them (default, in a checkout: the committed results of providers and engines, but not of \
adapters, whose failures are for their authors to fix)"""
_EXPECTED: Final = """\
the baseline (default: expected-failures.yaml of this project for its own results, otherwise none)"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="RESULTS", help=_PATHS)
    add("--expected", type=Path, metavar="FILE", help=_EXPECTED)
    add("--format", choices=FORMATS, default=CONSOLE, metavar="F", help="one of %(choices)s (default: console)")


def run(arguments: argparse.Namespace) -> int:
    """Print what closes the gate; return 0 if it is open."""
    own = not arguments.paths
    found = read_with_paths([Path(each) for each in arguments.paths] or _own())
    expected = arguments.expected or (_from_here(baseline.default()) if own else None)
    entries = baseline.load(expected) if expected else ()
    result = evaluate([results for _, results in found], entries, datetime.now(UTC).date().isoformat())
    print("".join(_render(arguments.format, result, found, expected)), end="")
    return int(not result.passes)


def _own() -> list[Path]:
    reports = checkout_folder("reports", "name the RESULTS to check")
    return sorted(_from_here(reports / "results").glob("*.json"))


def _from_here(path: Path) -> Path:
    """Return the path relative to the current folder if it is inside, because reports name files of a repository."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _render(
    output: str, result: GateResult, found: Sequence[tuple[Path, Results]], expected: Path | None
) -> Iterable[str]:
    if output == CONSOLE:
        # Imported here, like the other formats, because a run needs only one of them.
        from conformance.reporting.renderers.gate import render

        return render(result, painter())
    if output == MARKDOWN:
        from conformance.reporting.renderers.gate import render_markdown

        return render_markdown(result)
    many = [results for _, results in found]
    annotations = of_gate(result, many, locations(found), os.fspath(expected or ""))
    rendered: Iterable[str] = import_module(f"{renderers.__name__}.{output}").render(annotations)
    return rendered
