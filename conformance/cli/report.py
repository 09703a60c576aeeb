"""Write the published reports from the results, or say which of them are stale.

Matrix, rules and a page for each provider, all made of reports/results/, the profiles and the rules alone: the same
input gives the same bytes. The README's headline stands between its two marks, and is written and checked likewise.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from conformance.errors import Unusable
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.observed import observed
from conformance.reporting.matrix.table import Table, table
from conformance.reporting.renderers import published
from conformance.reporting.text import prose
from conformance.resources import folder
from conformance.terminal import complain

EXAMPLES: Final = """\
  conformance replay --all && conformance report    # after a change of cassettes, profiles or rules
  conformance report --check
  conformance report --headline"""

_MARKS: Final = ("<!-- headline -->\n", "<!-- /headline -->")
_PAGES: Final = "providers"
"""The folder that holds a page for each provider and nothing else."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    add = parser.add_argument
    add("--check", action="store_true", help="write nothing; name what is stale, and end with 1 where something is")
    add("--headline", action="store_true", help="print the headline and nothing else")
    add("--results", type=Path, metavar="DIR", help="the folder with results/ and the expected failures (reports/)")
    add("--out", type=Path, metavar="DIR", help="where the reports stand (default: the same)")
    add("--readme", type=Path, metavar="FILE", help="the file with the headline (default: the project's README)")


def run(arguments: argparse.Namespace) -> int:
    """Write or check the reports; 1 where a check finds a stale one."""
    reports = arguments.results or folder("reports")
    out = arguments.out or reports
    made = table(observed(reports))
    if arguments.headline:
        print(_headline(made), end="")
        return 0
    files = {out / name: text for name, text in published(made).items()}
    files |= _readme(arguments.readme, made, own=arguments.out is None and arguments.results is None)
    stale = [*_stale(files), *_left(out, files)]
    if arguments.check:
        for path in stale:
            complain(f"{path} is stale; run `conformance report`")
        print(
            f"{len(stale)} of {len(files)} reports are stale" if stale else f"{len(files)} reports are as they must be"
        )
        return int(bool(stale))
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for path in _left(out, files):
        path.unlink()
    print(f"{len(files)} reports written, {len(stale)} of them changed")
    return 0


def _headline(made: Table) -> str:
    return "\n\n".join(headline(made).lines(prose)) + "\n"


def _readme(path: Path | None, made: Table, *, own: bool) -> dict[Path, str]:
    """Return the README with the headline of today between its marks; none where it is not asked for or not there."""
    usual = folder("reports").parent / "README.md"
    chosen = path or (usual if own and usual.is_file() else None)
    if chosen is None:
        return {}
    text = chosen.read_text("utf-8")
    begin, end = (text.find(mark) for mark in _MARKS)
    if begin < 0 or end < begin:
        message = (
            f"{chosen} has no place for the headline; put {_MARKS[0].strip()} and {_MARKS[1]} on lines of their own"
        )
        raise Unusable(message)
    return {chosen: text[: begin + len(_MARKS[0])] + _headline(made) + text[end:]}


def _stale(files: Mapping[Path, str]) -> Iterator[Path]:
    for path, text in files.items():
        if not path.is_file() or path.read_bytes() != text.encode():
            yield path


def _left(out: Path, files: Mapping[Path, str]) -> Iterator[Path]:
    """Yield the pages of providers that there are no more."""
    yield from (path for path in sorted((out / _PAGES).glob("*.md")) if path not in files)
