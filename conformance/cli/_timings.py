"""The timings of a check for people, or as JSON, on standard error: the report can be piped."""

import sys
from typing import TYPE_CHECKING, Final

import orjson
from tabulate import tabulate

if TYPE_CHECKING:
    from conformance.files.timings import Timings

_LEAST: Final = 0.0005
"""A smaller share of the time is not shown."""


def show(timings: "Timings", *, as_json: bool) -> None:
    """Print where the time of a check went."""
    if as_json:
        print(orjson.dumps({"timings": timings.to_json()}).decode(), file=sys.stderr)
        return
    shown = timings.to_json()
    print(_heading(timings), file=sys.stderr)
    stages = [[name, *_figures(each)] for name, each in shown["stages"].items() if each["share"] >= _LEAST]
    print(tabulate(stages, headers=["stage", "CPU", "share"], disable_numparse=True), file=sys.stderr)
    rules = [[each["rule"], *_figures(each), each["judged"]] for each in shown["rules"]]
    if rules:
        print(tabulate(rules, headers=["rule", "CPU", "share", "judged"], disable_numparse=True), file=sys.stderr)


def _heading(timings: "Timings") -> str:
    shown = timings.to_json()
    exchanges = "1 exchange" if timings.exchanges == 1 else f"{timings.exchanges} exchanges"
    return (
        f"{exchanges}, {timings.bytes / 1e6:.1f} MB of bodies in {timings.seconds:.2f} s of CPU: "
        f"{shown['megabytes_per_second']:.1f} MB/s, {shown['microseconds_per_exchange']:.0f} µs an exchange, "
        f"{shown['times_parsing']:.1f} times what parsing the bodies takes"
    )


def _figures(each: dict[str, float]) -> list[str]:
    return [f"{1e3 * each['cpu_seconds']:.1f} ms", f"{each['share']:.1%}"]
