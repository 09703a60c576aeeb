"""Run the scenarios with the last release of each month, and print which rules each of them breaks.

The releases come from the index that pip or npm is configured to use, without pre-releases and withdrawn ones; of a
month it takes the highest version. A mirror may not know on which day a release was published: --dates takes the days
of the repository's tags, and --by minor goes by versions alone.

Results are written to DIR/<name>@<version>.<provider>.json, and a release that has them there is not run again. A
release that cannot be installed is skipped.

Exit codes: 0 printed, 2 if no release could be run.
"""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance import artifacts
from conformance.arguments import positive
from conformance.artifacts import cache_root
from conformance.cli import _adapters, _releases
from conformance.errors import Unusable
from conformance.terminal import print_error

if TYPE_CHECKING:
    from conformance.adapters.definition import AdapterDefinition
    from conformance.results.runs import Results

EXAMPLES: Final = """\
  conformance adapter timeline langchain-deepseek
  conformance adapter timeline openai-sdk-responses --months 24 --scenario 'interleaved-*' --format json
  conformance adapter timeline pydantic-ai --every 3 --write reports/timelines
  conformance adapter timeline aisdk-openai --dates tags.txt    # what git tag --format … prints, see --dates
  conformance adapter timeline aisdk-openai --by minor --minors 6"""

_KIND: Final = "timelines"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add(
        "--months",
        metavar="N",
        type=positive,
        default=12,
        help="how many months, the current one included (default: 12)",
    )
    add("--every", metavar="N", type=positive, default=1, help="one release of each N months or minors (default: 1)")
    add(
        "--by",
        choices=("month", "minor"),
        default="month",
        help="the last release of each month (default), or of each minor version",
    )
    add(
        "--minors",
        metavar="N",
        type=positive,
        default=12,
        help="with --by minor, how many, the newest first (default: 12)",
    )
    add(
        "--dates",
        metavar="FILE",
        default="",
        help="lines of a tag and a day, in place of the days of the index, as printed by "
        "git tag --format '%%(refname:short) %%(creatordate:short)'",
    )
    add("--write", metavar="DIR", default="", help="also write it to DIR/<name>.<provider>.json, which reports read")
    add(
        "--results",
        metavar="DIR",
        default="",
        help="where results are kept (default: `timelines` in the cache that CONFORMANCE_CACHE names)",
    )
    add("--format", choices=("console", "json"), default="console", help="console (default) or json")
    _releases.add_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a table of rules and releases; return 2 if no release could be run."""
    # Imported here because these modules load the rules and httpx, which --help does not need.
    import orjson

    from conformance.adapters import definition, release_days, timeline
    from conformance.reporting.renderers import releases as rendered
    from conformance.reporting.text import printable_json

    chosen = definition.load(arguments.name, _adapters.definitions_folder(arguments))
    if "@" in arguments.name:
        raise Unusable(f"{arguments.name}: a timeline has all releases; omit the version")
    _releases.check(chosen, arguments)
    dates = _days(chosen, arguments)
    today = datetime.now(UTC).date()
    if arguments.by == "minor":
        versions = release_days.last_of_minors(tuple(dates), arguments.minors, arguments.every)
    else:
        versions = release_days.last_of_months(dates, today, arguments.months, arguments.every)
    if not versions:
        raise Unusable(
            f"{chosen.package} has no dated release in the last {arguments.months} months; use --months, or --by minor"
        )
    target = Path(arguments.results) if arguments.results else cache_root(_KIND)
    with artifacts.locked(target):
        tried = {version: _tried(chosen.at(version), target, arguments) for version in versions}
    report: dict[str, Any] = {
        "adapter": chosen.name,
        "package": chosen.package,
        "provider": _releases.provider_name(chosen, arguments.provider or chosen.providers[0]),
        "date": today.isoformat(),
        "scenarios": sorted(arguments.scenario),
        "results": str(target),
        **timeline.report({version: (dates[version], found) for version, found in tried.items()}),
    }
    if arguments.write:
        print_error(f"written to {timeline.keep(Path(arguments.write), report)}")
    if arguments.format == "json":
        text = orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
        print(printable_json(text), end="")
    else:
        print("".join(rendered.timeline(report)), end="")
    return 0 if any(not isinstance(found, str) for found in tried.values()) else 2


def _days(chosen: "AdapterDefinition", arguments: argparse.Namespace) -> dict[str, str]:
    """Return the day of each release; with --by minor none, unless a file has it."""
    from conformance.adapters import release_days

    listed = dict(_releases.listed(chosen))
    if arguments.dates:
        try:
            text = Path(arguments.dates).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise Unusable(f"--dates {arguments.dates}: cannot be read: {why}") from None
        given = release_days.of_tags(text, chosen.package)
        listed |= {version: day for version, day in given.items() if version in listed}
    elif arguments.by == "minor":
        return dict.fromkeys(listed, "")
    found = release_days.plausible(listed)
    changed = sum(1 for version, day in found.items() if day != listed[version])
    if changed:
        print_error(
            f"{changed} of {len(listed)} releases have a later day at the index than a later release of the same minor "
            "version, whose day is taken; if the index is a mirror, use --dates or --by minor"
        )
    return found


def _tried(chosen: "AdapterDefinition", target: Path, arguments: argparse.Namespace) -> "Results | str":
    """Return the results of a release, from its file if they are complete there; or why it cannot be run."""
    from conformance.adapters import runs
    from conformance.results.files import read, write

    named = f"{chosen.name}@{chosen.version}"
    try:
        planned = _releases.plan(chosen, arguments)
    except Unusable as error:
        print_error(f"{named}: skipped, {error}")
        return str(error)
    if runs.is_done(target, planned):
        print_error(f"{named}: completed before")
        return read(runs.results_path(target, planned), [])
    results = _releases.runner(arguments)(planned)
    write(target, results, planned.driver.scrubber)
    print_error(f"{named}: {len(results.cases)} cases run")
    return results
