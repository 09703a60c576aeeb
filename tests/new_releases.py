"""Run the newest release of each SDK, and report what it breaks that the pinned release does not.

    python -m tests.new_releases [ADAPTER …] [--adapters DIR] [--results DIR] [--max-time SECONDS] > report.md

The newest release comes from the index that pip or npm is configured to use. It is compared with the stored results of
the pinned one, with the first provider. A release that cannot be installed or driven is named. `sdk-releases.yml` does
it each month. Exit codes: 0 nothing broke, 1 a release breaks a rule that the pinned one keeps.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from conformance.adapters import definition, install, runs, timeline
from conformance.adapters.definition import AdapterDefinition
from conformance.adapters.timeline import BROKEN
from conformance.cli import _releases
from conformance.errors import ConformanceError
from conformance.resources import folder
from conformance.results.files import path, read
from conformance.results.runs import Results


@dataclass(frozen=True, slots=True)
class News:
    """What the newest release of an adapter breaks or no longer breaks, or why it shows nothing."""

    name: str
    pinned: str
    newest: str
    broken: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    skipped: str = ""


def newest_of(pinned: AdapterDefinition) -> str:
    """Return the newest release of an adapter's package if it is newer than the pinned one, else an empty text."""
    version = max([each.version for each in _releases.listed(pinned)], key=Version)
    return version if Version(version) > Version(pinned.version) else ""


def compared(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rules that are broken now and were kept, and the other way round; unknown ones are neither."""
    both = sorted(before.keys() & now.keys())
    broken = [each for each in both if now[each] in BROKEN and before[each] == timeline.KEEPS]
    fixed = [each for each in both if before[each] in BROKEN and now[each] == timeline.KEEPS]
    return tuple(broken), tuple(fixed)


def news_of(pinned: AdapterDefinition, stored: Path) -> News | None:
    """Return the news of an adapter; None if its newest release is the pinned one, or it has no stored results."""
    provider = pinned.providers[0]
    named = Results(f"{pinned.name}@{pinned.version}", "", (), _releases.provider_name(pinned, provider))
    known = Path(path(stored, named))
    version = newest_of(pinned) if known.is_file() else ""
    if not version:
        return None
    chosen = pinned.at(version)
    try:
        install.install(chosen, lambda text: print(text, file=sys.stderr))
        plan = runs.plan_for(chosen, provider, install.driver(chosen))
        results, _ = runs.run(plan, 1, lambda *_: None, lambda reason: print(reason, file=sys.stderr))
    except ConformanceError as error:
        return News(pinned.name, pinned.version, version, skipped=" ".join(str(error).split())[:300])
    report = timeline.report({version: ("", results)})
    skipped = report["releases"][0]["skipped"]
    found = compared(timeline.grades_of(read(known, [])), timeline.grades_of(results))
    return News(pinned.name, pinned.version, version, *(((), ()) if skipped else found), skipped=skipped[:300])


def lines(found: list[News], left: list[str]) -> Iterator[str]:
    """Yield the report, what broke first; names and words of others stand in code spans."""
    for title, rules in (
        ("Broken by the newest release, kept by the pinned one", {each: each.broken for each in found}),
        ("Broken by the pinned release, kept by the newest one", {each: each.fixed for each in found}),
    ):
        yield f"## {title}\n"
        for each, names in rules.items():
            if names:
                listed = ", ".join([f"`{name}`" for name in names])
                yield f"- `{each.name}@{each.newest}` (pinned: `{each.pinned}`): {listed}"
        yield "" if any(rules.values()) else "Nothing.\n"
    for each in [each for each in found if each.skipped]:
        yield f"`{each.name}@{each.newest}` was skipped: `{each.skipped.replace('`', '')}`"
    if left:
        yield f"\nNot reached within the time: {', '.join(left)}"


def main(arguments: list[str] | None = None) -> int:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m tests.new_releases", description=__doc__.partition("\n")[0])
    parser.add_argument("names", metavar="ADAPTER", nargs="*", help="by default, all SDKs with a package")
    parser.add_argument("--adapters", metavar="DIR", type=Path, default=definition.FOLDER)
    parser.add_argument("--results", metavar="DIR", type=Path, default=folder("reports") / "results" / "adapters")
    parser.add_argument("--max-time", type=float, default=18_000.0, metavar="SECONDS")
    chosen = parser.parse_args(arguments)
    due, found, left = time.monotonic() + chosen.max_time, [], []
    for name in chosen.names or definition.names(chosen.adapters):
        one = definition.load(name, chosen.adapters)
        if one.agent or not one.version:
            continue
        if time.monotonic() > due:
            left.append(name)
            continue
        news = news_of(one, chosen.results)
        found += [news] if news is not None else []
    print("\n".join(lines(found, left)))
    return 1 if any(each.broken for each in found) else 0


if __name__ == "__main__":
    sys.exit(main())
