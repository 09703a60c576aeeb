"""Check that the sources of claims, rules and scenarios can still be opened, and still hold what is quoted from them.

Files of packages are read in the archive of the cited release, which is downloaded once from the index that pip or the
registry that npm is configured to use, and never installed. Files of repositories are read at the cited commit: in git
mirrors (`--mirror`), else over HTTPS. Each cited page is fetched once, one page of a host at a time. Pages are kept for
a day, so a check that was interrupted continues.

A file has to hold the quote, or else the words of the claim's value beside the name of its model. Findings are sources
that are gone, that have moved, that hold neither, and that nobody has read lately. Notes are claimed error messages
that no page of their claim holds, and hosts that do not answer from here.

`--newest` compares each cited file with the newest release of its package, and reports what moved.

Nothing of a page or an archive is executed. Standard output shows none of it except what has moved.
"""

import argparse
import re
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.cli import _recordings
from conformance.errors import Unusable
from conformance.reporting.text import printable_json
from conformance.terminal import ProgressLine, painter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.evidence.cited.checking import Fetch, FileReader
    from conformance.evidence.cited.citations import Citation

EXAMPLES: Final = """\
  conformance evidence sources --provider deepseek
  conformance evidence sources --only packages
  conformance evidence sources --newest
  conformance evidence sources --only repositories --mirror ~/mirrors
  conformance evidence sources --max-age 180d --format json > sources.json
  conformance evidence sources --cache pages; conformance evidence sources --offline pages"""

_MAX_AGE: Final = re.compile(r"([1-9]\d{0,4})d")
_KIND: Final = "pages"
_BAR: Final = 20
_ONLY: Final = {"packages": "package", "repositories": "repo", "pages": "url"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    provider = "check only this profile, by its name or path; repeatable (default: all, and the rules and scenarios)"
    add("--provider", action="append", default=[], metavar="PROVIDER", help=provider)
    add("--only", choices=tuple(_ONLY), help="check only sources of this kind (default: all)")
    add(
        "--newest", action="store_true", help="compare files of packages with the newest release, and report what moved"
    )
    add("--max-age", type=_days, default=_days("90d"), metavar="DAYS", help="report older sources (default: 90d)")
    pages = "where pages are kept (default: pages in $CONFORMANCE_CACHE, else in wire-conformance of the user's cache)"
    add("--cache", type=Path, metavar="DIR", help=pages)
    add("--offline", type=Path, metavar="DIR", help="fetch nothing; read the pages that an earlier check kept in DIR")
    add("--mirror", type=Path, metavar="DIR", help=_recordings.MIRROR)
    add("--refresh", action="store_true", help="fetch pages again that were fetched less than a day ago")
    add("--delay", type=_seconds, default=1.0, metavar="S", help="seconds between two pages of a host (default: 1)")
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")


def run(arguments: argparse.Namespace) -> int:
    """Print the report; return 1 for findings."""
    # Imported here because --help needs neither httpx nor the rules.
    import orjson

    from conformance.artifacts import cache_root
    from conformance.evidence.cited.checking import Reader, check
    from conformance.evidence.cited.pages import Pages
    from conformance.reporting.renderers.sources import render

    if arguments.offline is not None and not arguments.offline.is_dir():
        raise Unusable(f"{arguments.offline} is not a folder")
    citations = list(_chosen(_citations(arguments.provider), arguments.only))
    progress = ProgressLine(report_at_end=True)
    if arguments.newest:
        return _newest(citations, arguments)
    reader = Reader(
        Pages(arguments.offline or arguments.cache or cache_root(_KIND)),
        datetime.now(UTC),
        None if arguments.offline else _fetch(arguments.delay),
        arguments.refresh,
        lambda done, every, url: progress.show(_bar(done, every, "pages", url)),
        lambda done, every, where: progress.show(_bar(done, every, "claims compared", where)),
    )
    with ExitStack() as stack:
        try:
            report = check(citations, reader, arguments.max_age, _files(arguments, stack, progress))
        finally:
            progress.clear()
    if arguments.format == "json":
        print(printable_json(orjson.dumps(report.to_json(), option=orjson.OPT_INDENT_2).decode()))
    else:
        print("".join(render(report, painter())), end="")
    if report.addresses + report.files and not report.answered + report.opened:
        raise Unusable("nothing was checked: no page and no file could be read")
    return int(any(problem.kind.is_finding for problem in report.problems))


def _newest(citations: "Sequence[Citation]", arguments: argparse.Namespace) -> int:
    import orjson

    from conformance.evidence.cited.newest import compare
    from conformance.reporting.renderers.sources import render_moved

    if arguments.offline is not None:
        raise Unusable("--newest asks the registries; omit --offline")
    with ExitStack() as stack:
        moved = compare(citations, _recordings.archives(stack))
    if arguments.format == "json":
        text = orjson.dumps([each.to_json() for each in moved], option=orjson.OPT_INDENT_2).decode()
        print(printable_json(text))
    else:
        print("".join(render_moved(moved, painter())), end="")
    if not moved:
        raise Unusable("nothing was compared: no claim cites a file of a package")
    return int(any(each.move.is_finding for each in moved))


def _files(arguments: argparse.Namespace, stack: ExitStack, progress: ProgressLine) -> "FileReader":
    from conformance.evidence.cited.checking import FileReader
    from conformance.evidence.fetching import Mirrors

    return FileReader(
        None if arguments.offline else _recordings.archives(stack),
        Mirrors(arguments.mirror) if arguments.mirror else None,
        lambda done, every, name: progress.show(_bar(done, every, "archives", name)),
    )


def _citations(providers: "Sequence[str]") -> "Iterator[Citation]":
    from conformance import profiles
    from conformance.evidence.cited import citations

    for name in providers or profiles.names():
        yield from citations.of_profile(profiles.load_profile(name))
    if not providers:
        yield from citations.of_rules_and_scenarios()


def _chosen(citations: "Iterable[Citation]", only: str | None) -> "Iterator[Citation]":
    """Yield citations without what is not asked for; one of several sources may show the claim alone, so it is kept."""
    for each in citations:
        if only is None:
            yield each
        elif any(getattr(source, _ONLY[only]) for source in each.sources):
            kept = [source for source in each.sources if getattr(source, _ONLY[only]) or not source.link]
            yield each._replace(sources=tuple(kept))


def _fetch(delay: float) -> "Fetch":
    from conformance.evidence.cited.fetching import Pace, fetch

    return partial(fetch, pace=Pace(delay))


def _bar(done: int, every: int, what: str, name: str) -> str:
    full = _BAR * done // every
    return f"[{'#' * full}{'.' * (_BAR - full)}] {done} of {every} {what}, {name:.80}"


def _days(text: str) -> timedelta:
    found = _MAX_AGE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a number of days such as 90d, got {text!r}")
    return timedelta(days=int(found[1]))


def _seconds(text: str) -> float:
    if not re.fullmatch(r"\d{1,4}(\.\d{1,3})?", text):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, got {text!r}")
    return float(text)
