"""Run the scenarios with the last release of each month, and print which rules each of them breaks.

The releases come from the index that pip or npm is configured to use, without pre-releases and withdrawn ones; of a
month it takes the highest version. Results are written to DIR/<name>@<version>.<provider>.json, and a release that has
them there is not run again. A release that cannot be installed is skipped.

Exit codes: 0 printed, 2 if no release could be run.
"""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance import artifacts
from conformance.cli import _adapters, _releases
from conformance.environments import cache_root
from conformance.errors import Unusable
from conformance.terminal import print_error

if TYPE_CHECKING:
    from conformance.adapters.definition import AdapterDefinition
    from conformance.results.runs import Results

EXAMPLES: Final = """\
  conformance adapter timeline langchain-deepseek
  conformance adapter timeline openai-sdk-responses --months 24 --scenario 'interleaved-*' --format json
  conformance adapter timeline pydantic-ai --every 3 --write reports/timelines"""

_KIND: Final = "timelines"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--months", metavar="N", type=int, default=12, help="how many months, the current one included (default: 12)")
    add("--every", metavar="N", type=int, default=1, help="one release of each N months (default: 1)")
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

    from conformance.adapters import definition, timeline
    from conformance.reporting.renderers import releases as rendered
    from conformance.reporting.text import printable_json

    for option in ("months", "every"):
        if getattr(arguments, option) < 1:
            raise Unusable(f"--{option} {getattr(arguments, option)}: expected 1 or more")
    chosen = definition.load(arguments.name, _adapters.definitions_folder(arguments))
    dates = dict(_releases.listed(chosen))
    today = datetime.now(UTC).date()
    months = timeline.last_of_months(dates, today, arguments.months, arguments.every)
    if not months:
        raise Unusable(f"{chosen.package} has no dated release in the last {arguments.months} months; use --months")
    target = Path(arguments.results) if arguments.results else cache_root(_KIND)
    with artifacts.locked(target):
        tried = {version: _tried(chosen.at(version), target, arguments) for version in months}
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
