"""Hold results against the expected failures, and fail on anything that is not as it was said to be.

Closed by a failure that no entry covers, by an entry whose failure is gone, that matches nothing or is past its end,
by a case that judged nothing, and by anything that errored, which nothing excuses.
"""

import argparse
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Final

from conformance import baseline
from conformance.gate import Judgement, judge
from conformance.reporting import renderers
from conformance.reporting.matrix.annotations import of_judgement, places
from conformance.resources import folder
from conformance.results import Results
from conformance.results.files import files
from conformance.terminal import painter

EXAMPLES: Final = """\
  conformance gate                                  # the project's own results
  pytest --provider=deepseek --live --results results; conformance gate results
  conformance gate --expected our-expected-failures.yaml --format junit results/ > gate.xml"""

CONSOLE: Final = "console"
FORMATS: Final = (CONSOLE, "github", "junit", "sarif")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="RESULTS",
        help="files of results, or folders of them (default: the project's own of providers and engines; what adapters "
        "break is theirs to mend, and published)",
    )
    parser.add_argument(
        "--expected",
        type=Path,
        metavar="FILE",
        help="the expected failures (default: expected-failures.yaml of the project, for its own results; else none)",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default=CONSOLE, metavar="F", help="one of %(choices)s (default: console)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the judgement; 0 where the gate is open."""
    own = not arguments.paths
    found = files([Path(each) for each in arguments.paths] or _own())
    expected = arguments.expected or (_near(baseline.default()) if own else None)
    entries = baseline.load(expected) if expected else ()
    judgement = judge([results for _, results in found], entries, datetime.now(UTC).date().isoformat())
    print("".join(_shown(arguments.format, judgement, found, expected)), end="")
    return int(not judgement.passes)


def _own() -> list[Path]:
    return sorted(_near(folder("reports") / "results").glob("*.json"))


def _near(path: Path) -> Path:
    """Return the path from here where it leads below, as reports name files of a repository."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _shown(
    name: str, judgement: Judgement, found: Sequence[tuple[Path, Results]], expected: Path | None
) -> Iterable[str]:
    if name == CONSOLE:
        # Imported here, as the other formats are, so that a run pays for its own format alone.
        from conformance.reporting.renderers.gate import render

        return render(judgement, painter())
    many = [results for _, results in found]
    remarks = of_judgement(judgement, many, places(found), os.fspath(expected or ""))
    rendered: Iterable[str] = import_module(f"{renderers.__name__}.{name}").render(remarks)
    return rendered
