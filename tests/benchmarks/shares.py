"""Where the time of a check goes: the share of each part, by corpus.

    python -m tests.benchmarks.shares [--write]

The profiler measures CPU time, and of each part the least of some rounds counts. It slows down Python and not compiled
code, so parsing and the schemas take several times the share that is shown. What a built-in takes counts for the part
that calls it, but for the parser and the validator, which are parts of their own. `--write` updates the table in
docs/cluster.md.
"""

import argparse
import cProfile
import platform
import pstats
import re
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabulate import tabulate

from tests.benchmarks import corpus
from tests.benchmarks.peers import PROVIDER, Part, by_check

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"
MARKED = re.compile(r"(?<=<!-- where the time goes -->\n).*?(?=<!-- /where the time goes -->)", re.DOTALL)
ROUNDS = 15
JUDGE = "the judge: which rule judges what, and outcomes"
OTHER = "everything else"
PARTS: Mapping[str, tuple[str, ...]] = {
    "parsing JSON (orjson)": ("orjson.",),
    "schemas (jsonschema-rs)": ("jsonschema_rs.",),
    "normalising bodies": ("/wire/exchange", "/wire/plain", "/documents/json_text", "/documents/bounds"),
    "reading and assembling streams": tuple(
        f"/wire/{name}" for name in ("sse", "assemble", "patterns", "deltas", "calls", "fragments", "anomalies")
    ),
    "telling the wires apart": ("/wires/",),
    "finding turns, results and replies": ("/wire/",),
    "errors of the schemas": ("/schemas/", "/rules/validation"),
    "rules": ("/rules/",),
    JUDGE: ("/judge", "/results/", "/documents/pointer"),
}
"""The parts of a check, and what their functions have in their file and name; the first part that fits counts."""


def part_of(function: tuple[str, int, str]) -> str:
    """Return the part that a function belongs to; empty for a built-in without a part of its own."""
    file, _, name = function
    where = f"{file}:{name}"
    found = [part for part, marks in PARTS.items() if any(mark in where for mark in marks)]
    return found[0] if found else "" if file == "~" else OTHER


def seconds_of(stats: Mapping[Any, Any]) -> Counter[str]:
    """Return the seconds of each part in what a profiler measured."""
    seconds: Counter[str] = Counter()
    for function, (_, _, own, _, callers) in stats.items():
        part = part_of(function)
        if part:
            seconds[part] += own
        for caller, (_, _, for_caller, _) in callers.items() if not part else ():
            seconds[part_of(caller) or OTHER] += for_caller
    return seconds


def shares(part: Part, provider: str | None, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the shares of the parts while the exchanges of a corpus are checked, by the least time of each."""
    by_check(part, provider)
    least = dict.fromkeys((*PARTS, OTHER), float("inf"))
    for _ in range(rounds):
        profiler = cProfile.Profile(time.thread_time)
        profiler.enable()
        by_check(part, provider)
        profiler.disable()
        found = seconds_of(pstats.Stats(profiler).stats)  # type: ignore[attr-defined]  # its type leaves this out
        least = {name: min(seconds, found[name]) for name, seconds in least.items()}
    whole = sum(least.values())
    return {name: seconds / whole for name, seconds in least.items()}


def table(columns: Mapping[str, Mapping[str, float]]) -> str:
    """Return the shares as a table, a column for each corpus."""
    rows = [[part, *[f"{each.get(part, 0):.0%}" for each in columns.values()]] for part in (*PARTS, OTHER)]
    return tabulate(rows, headers=["", *columns], tablefmt="github", disable_numparse=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="update docs/cluster.md")
    arguments = parser.parse_args()
    corpora = {"recorded": corpus.recorded(), "agent": corpus.agent(), "with findings": corpus.agent(faulty=True)}
    parts = {name: Part(sessions, Path()) for name, sessions in corpora.items()}
    columns = {name: shares(part, None) for name, part in parts.items()}
    columns |= {f"{name}, provider": shares(parts[name], PROVIDER) for name in ("recorded", "agent")}
    text = f"{table(columns)}\n\nProfiled with Python {platform.python_version()} on {platform.machine()}.\n"
    print(text)
    if arguments.write:
        PAGE.write_text(MARKED.sub(lambda _: text, PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
