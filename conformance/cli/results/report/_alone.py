"""What `conformance report` does without an action: write the reports, or check them."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance import artifacts
from conformance.arguments import add_partial, partial_line
from conformance.errors import Unusable
from conformance.reporting.matrix.counts import count
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.own import only_own, read_own, with_own
from conformance.reporting.matrix.table import Table, load_inputs, table
from conformance.reporting.renderers import published
from conformance.reporting.renderers.badge import message, render_svg
from conformance.reporting.renderers.own import PAGE
from conformance.reporting.text import prose
from conformance.resources import checkout_folder
from conformance.results.runs import Results
from conformance.terminal import print_error

_MARKS: Final = ("<!-- headline -->\n", "<!-- /headline -->")
_PAGES: Final = ("providers/*.md", "adapters/*.html")
"""The pages of single providers and adapters; in a checkout, their folders hold nothing else."""

_MINE: Final = "mine"
_BADGE: Final = "badge.svg"
_REPORT: Final = "report"

_RESULTS: Final = """\
your results: a file, or a folder as `pytest --results DIR` and `adapter run --results DIR` write it; \
expected-failures.yaml in it is taken into account (required outside a checkout)"""
_OUT: Final = "where to write the reports (default: report/ in the folder of --results)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add(
        "--check", action="store_true", help="write nothing; list stale reports and return exit code 1 if there are any"
    )
    add("--headline", action="store_true", help="print the headline and nothing else")
    add("--results", type=Path, metavar="DIR", help=_RESULTS)
    add("--only", choices=(_MINE,), help="mine: only your results and the providers that they were checked against")
    add(
        "--provider",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="the profile of your own that results were checked against; repeatable",
    )
    add("--expected", type=Path, metavar="FILE", help="the expected failures of your results, if they stand elsewhere")
    add("--out", type=Path, metavar="DIR", help=_OUT)
    add_partial(parser)
    add("--readme", type=Path, metavar="FILE", help="the file with the headline (default: the README of this project)")


def run(arguments: argparse.Namespace) -> int:
    """Write or check the reports; return 1 if a check finds a stale one."""
    given: Path | None = arguments.results
    if given is None:
        if arguments.only or arguments.provider or arguments.expected or arguments.partial is not None:
            message = "--only, --provider, --expected and --partial are about results of your own; add --results DIR"
            raise Unusable(message)
        reports = checkout_folder("reports", "--results DIR is required")
        made, out = table(load_inputs(reports)), arguments.out or reports
    else:
        own = read_own(given, arguments.provider, arguments.expected, arguments.partial)
        inputs = with_own(load_inputs(), own)
        made = table(only_own(inputs) if arguments.only else inputs)
        out = arguments.out or (given if given.is_dir() else given.parent) / _REPORT
    if arguments.headline:
        print(_headline(made), end="")
        return 0
    mine = [each for each in made.inputs.results if each.mine]
    files = {out / name: text for name, text in (*published(made).items(), *_badge(mine))}
    readme = arguments.readme
    if readme is None and arguments.out is None and given is None:
        readme = out.parent / "README.md"
    if readme is not None:
        files[readme] = _with_headline(readme, made)
    code = _check_or_write(files, out, mine, only_check=arguments.check)
    if arguments.partial:
        print(partial_line(arguments.partial))
    return code


def _check_or_write(files: Mapping[Path, str], out: Path, mine: Sequence[Results], *, only_check: bool) -> int:
    stale = [path for path, text in files.items() if not path.is_file() or path.read_bytes() != text.encode()]
    # The folder of a user may hold pages of the user.
    obsolete = [] if mine else list(_obsolete(out, files))
    if only_check:
        return _check([*stale, *obsolete], len(files))
    with artifacts.locked(out):
        for path, text in files.items():
            artifacts.write(path, text)
        for path in obsolete:
            path.unlink()
    print(f"{len(files)} reports written, {len(stale) + len(obsolete)} of them changed")
    if mine:
        print(f"Your page: {out / PAGE}, also in {out / 'matrix.html'}")
        print(f"Your badge: [![conformance: {message(count(mine))}]({out / _BADGE})]({out / PAGE})")
    return 0


def _badge(mine: Sequence[Results]) -> Iterator[tuple[str, str]]:
    """Yield the badge of a user's own results, which leads to their page."""
    if mine:
        yield _BADGE, render_svg(count(mine), "conformance", PAGE)


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
    """Yield the pages of providers and adapters that no longer exist."""
    yield from (path for glob in _PAGES for path in sorted(out.glob(glob)) if path not in files)
