"""Compare results with the expected-failures baseline; fail on any difference.

The gate is closed by an unexpected failure, by a stale entry (its failure is fixed, its pattern matches nothing, or it
has expired), by an entry that covers more failures than its `max`, by a baseline that matches more than a tenth of the
checks of a run, by a case that checked nothing, and by any error in conformance itself, which no entry can cover.

Results that do not prove a whole run are refused with exit code 2: those of a run that was interrupted or filtered,
edited ones, and those of another provider.
"""

import argparse
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Final

from conformance import artifacts, baseline, profiles
from conformance.arguments import add_outputs, add_partial, partial_line, print_accepted
from conformance.baseline import Entry
from conformance.errors import Unusable
from conformance.gate import GateResult, check_subjects, evaluate
from conformance.profiles import naming
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
  conformance gate --format github --output sarif=gate.sarif --output junit=gate.xml results/   # one run, three reports
  conformance gate --format markdown results/ > comment.md      # for a pull request"""

CONSOLE: Final = "console"
MARKDOWN: Final = "markdown"
FORMATS: Final = (CONSOLE, MARKDOWN, "github", "junit", "sarif")

_PATHS: Final = """\
results files, or folders of them (default, in a checkout: the committed results of providers and engines, but not of \
adapters, whose failures are for their authors to fix)"""
_EXPECTED: Final = """\
the baseline (default: expected-failures.yaml of this project for its own results, otherwise none)"""

_PROVIDER: Final = "refuse results of any other provider"
_WIDE: Final = "accept a baseline that matches more than a tenth of the checks of a run"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="RESULTS", help=_PATHS)
    add("--expected", type=Path, metavar="FILE", help=_EXPECTED)
    add("--format", choices=FORMATS, default=CONSOLE, metavar="F", help="one of %(choices)s (default: console)")
    add("--provider", default="", metavar="PROVIDER", help=_PROVIDER)
    add("--allow-wide-baseline", action="store_true", help=_WIDE)
    add_outputs(parser, FORMATS)
    add_partial(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what closes the gate; return 0 if it is open."""
    own = not arguments.paths
    today = datetime.now(UTC).date().isoformat()
    found = read_with_paths([Path(each) for each in arguments.paths] or _own(), arguments.partial)
    many = [results for _, results in found]
    _check_provider(arguments.provider, found)
    expected = arguments.expected or (_from_here(baseline.default()) if own else None)
    entries: Sequence[Entry] = ()
    if expected is not None:
        entries = baseline.load(expected, today=today)
        check_subjects(many, entries, str(expected))
    result = evaluate(many, entries, today, allow_wide=arguments.allow_wide_baseline)
    accepted = arguments.partial or ()
    for output, path in arguments.output:
        artifacts.write(path, "".join(_render(output, result, found, expected, accepted)))
    print("".join(_render(arguments.format, result, found, expected, accepted)), end="")
    if arguments.format not in (CONSOLE, MARKDOWN):
        print_accepted(accepted)
    return int(not result.passes)


def _check_provider(provider: str, found: Sequence[tuple[Path, Results]]) -> None:
    """Raise Unusable if results are of another provider than the named one, a profile's name or path.

    Any wire of it will do.
    """
    meant = None if profiles.is_path(provider) else naming.find(provider)
    named = {Path(provider).stem if profiles.is_path(provider) else provider, meant.profile if meant else provider}
    for path, results in found if provider else ():
        if named.isdisjoint((results.profile, results.service, results.subject)):
            raise Unusable(f"{path} is of {results.profile}, and not of {provider}, which --provider names")


def _own() -> list[Path]:
    reports = checkout_folder("reports", "name the RESULTS to check")
    return sorted(_from_here(reports / "results").glob("*.json"))


def _from_here(path: Path) -> Path:
    """Return the path relative to the current folder if it is inside, because reports name files of a repository."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _render(
    output: str,
    result: GateResult,
    found: Sequence[tuple[Path, Results]],
    expected: Path | None,
    accepted: Sequence[str],
) -> Iterable[str]:
    if output == CONSOLE:
        # Imported here, like the other formats, because a run needs only some of them.
        from conformance.reporting.renderers.gate import render

        return render(result, painter(), partial_line(accepted))
    if output == MARKDOWN:
        from conformance.reporting.renderers.gate import render_markdown

        return render_markdown(result, partial_line(accepted))
    many = [results for _, results in found]
    annotations = of_gate(result, many, locations(found), os.fspath(expected or ""))
    rendered: Iterable[str] = import_module(f"{renderers.__name__}.{output}").render(annotations)
    return rendered
