"""Check that the sources of claims, rules and scenarios can still be opened, and still hold what is quoted from them.

Each cited page is fetched once, one page of a host at a time, with a pause between two. Pages are kept for a day,
so a check that was interrupted continues. It reports sources that are gone, that have moved, that no longer hold their
quote, and that nobody has read lately; these are findings. Notes are claimed error messages that no page of their claim
holds, and pages that could not be read. A file in a repository is read at its commit; of a package only its version is
looked up.

Nothing of a page is executed. Standard output shows none of it except the address that it has moved to.
"""

import argparse
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.errors import Unusable
from conformance.reporting.text import printable_json
from conformance.terminal import ProgressLine, painter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.evidence.cited.checking import Fetch
    from conformance.evidence.cited.citations import Citation

EXAMPLES: Final = """\
  conformance evidence sources --provider deepseek
  conformance evidence sources --max-age 180d --format json > sources.json
  conformance evidence sources --cache pages; conformance evidence sources --offline pages"""

_MAX_AGE: Final = re.compile(r"([1-9]\d{0,4})d")
_KIND: Final = "pages"
_BAR: Final = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    provider = "check only this profile, by its name or path; repeatable (default: all, and the rules and scenarios)"
    add("--provider", action="append", default=[], metavar="PROVIDER", help=provider)
    add("--max-age", type=_days, default=_days("90d"), metavar="DAYS", help="report older sources (default: 90d)")
    pages = "where pages are kept (default: pages in $CONFORMANCE_CACHE, else in wire-conformance of the user's cache)"
    add("--cache", type=Path, metavar="DIR", help=pages)
    add("--offline", type=Path, metavar="DIR", help="fetch nothing; read the pages that an earlier check kept in DIR")
    add("--refresh", action="store_true", help="fetch pages again that were fetched less than a day ago")
    add("--delay", type=_seconds, default=1.0, metavar="S", help="seconds between two pages of a host (default: 1)")
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")


def run(arguments: argparse.Namespace) -> int:
    """Print the report; return 1 for findings."""
    # Imported here because --help needs neither httpx nor the rules.
    import orjson

    from conformance.environments import cache_root
    from conformance.evidence.cited.checking import Reader, check
    from conformance.evidence.cited.pages import Pages
    from conformance.reporting.renderers.sources import render

    if arguments.offline is not None and not arguments.offline.is_dir():
        raise Unusable(f"{arguments.offline} is not a folder")
    pages = Pages(arguments.offline or arguments.cache or cache_root(_KIND))
    citations = list(_citations(arguments.provider))
    progress = ProgressLine(report_at_end=True)
    reader = Reader(
        pages,
        datetime.now(UTC),
        None if arguments.offline else _fetch(arguments.delay),
        arguments.refresh,
        lambda done, every, url: progress.show(_bar(done, every, url)),
    )
    try:
        report = check(citations, reader, arguments.max_age)
    finally:
        progress.clear()
    if arguments.format == "json":
        print(printable_json(orjson.dumps(report.to_json(), option=orjson.OPT_INDENT_2).decode()))
    else:
        print("".join(render(report, painter())), end="")
    if report.addresses and not report.answered:
        raise Unusable("nothing was checked: no page could be read")
    return int(any(problem.kind.is_finding for problem in report.problems))


def _citations(providers: "Sequence[str]") -> "Iterator[Citation]":
    from conformance import profiles
    from conformance.evidence.cited import citations

    for name in providers or profiles.names():
        yield from citations.of_profile(profiles.load_profile(name))
    if not providers:
        yield from citations.of_rules_and_scenarios()


def _fetch(delay: float) -> "Fetch":
    from conformance.evidence.cited.fetching import Pace, fetch

    return partial(fetch, pace=Pace(delay))


def _bar(done: int, every: int, url: str) -> str:
    full = _BAR * done // every
    return f"[{'#' * full}{'.' * (_BAR - full)}] {done} of {every} pages, {url:.80}"


def _days(text: str) -> timedelta:
    found = _MAX_AGE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a number of days such as 90d, got {text!r}")
    return timedelta(days=int(found[1]))


def _seconds(text: str) -> float:
    if not re.fullmatch(r"\d{1,4}(\.\d{1,3})?", text):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, got {text!r}")
    return float(text)
