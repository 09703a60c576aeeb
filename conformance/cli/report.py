"""Write the published reports from results, or list those that are stale.

The reports are the matrix, the rules and a page for each provider. They depend on the results, the profiles and the
rules only, so the same input gives the same bytes. The README's headline, between its two marks, is one of them.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from conformance import artifacts
from conformance.errors import Unusable
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.table import Table, load_inputs, table
from conformance.reporting.renderers import published
from conformance.reporting.text import prose
from conformance.resources import checkout_folder
from conformance.terminal import print_error

EXAMPLES: Final = """\
  conformance replay --all && conformance report    # after a change of cassettes, profiles or rules
  conformance report --check
  conformance report --headline"""

_MARKS: Final = ("<!-- headline -->\n", "<!-- /headline -->")
_PAGES: Final = "providers"
"""The folder that holds one page per provider and nothing else."""

_RESULTS: Final = "the folder with results/ and expected-failures.yaml (default: reports; required outside a checkout)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add(
        "--check", action="store_true", help="write nothing; list stale reports and return exit code 1 if there are any"
    )
    add("--headline", action="store_true", help="print the headline and nothing else")
    add("--results", type=Path, metavar="DIR", help=_RESULTS)
    add("--out", type=Path, metavar="DIR", help="where to write the reports (default: the folder of --results)")
    add("--readme", type=Path, metavar="FILE", help="the file with the headline (default: the README of this project)")


def run(arguments: argparse.Namespace) -> int:
    """Write or check the reports; return 1 if a check finds a stale one."""
    reports = arguments.results or checkout_folder("reports", "--results DIR is required")
    out = arguments.out or reports
    made = table(load_inputs(reports))
    if arguments.headline:
        print(_headline(made), end="")
        return 0
    files = {out / name: text for name, text in published(made).items()}
    readme = arguments.readme
    if readme is None and arguments.out is None and arguments.results is None:
        readme = reports.parent / "README.md"
    if readme is not None:
        files[readme] = _with_headline(readme, made)
    stale = [path for path, text in files.items() if not path.is_file() or path.read_bytes() != text.encode()]
    obsolete = list(_obsolete(out, files))
    if arguments.check:
        return _check([*stale, *obsolete], len(files))
    with artifacts.locked(out):
        for path, text in files.items():
            artifacts.write(path, text)
        for path in obsolete:
            path.unlink()
    print(f"{len(files)} reports written, {len(stale) + len(obsolete)} of them changed")
    return 0


def _check(stale: list[Path], total: int) -> int:
    for path in stale:
        print_error(f"{path} is stale; run `conformance report`")
    print(f"{len(stale)} of {total} reports are stale" if stale else f"{total} reports are up to date")
    return int(bool(stale))


def _headline(made: Table) -> str:
    return "\n\n".join(headline(made).lines(prose)) + "\n"


def _with_headline(path: Path, made: Table) -> str:
    """Return the README with the current headline between its marks."""
    text = path.read_text("utf-8")
    begin, end = (text.find(mark) for mark in _MARKS)
    if begin < 0 or end < begin:
        message = f"{path} has no place for the headline; put {_MARKS[0].strip()} and {_MARKS[1]} on lines of their own"
        raise Unusable(message)
    return text[: begin + len(_MARKS[0])] + _headline(made) + text[end:]


def _obsolete(out: Path, files: Mapping[Path, str]) -> Iterator[Path]:
    """Yield the pages of providers that no longer exist."""
    yield from (path for path in sorted((out / _PAGES).glob("*.md")) if path not in files)
