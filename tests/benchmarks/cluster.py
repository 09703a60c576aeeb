"""What a billion exchanges cost on a cluster, from what some cost here.

    python -m tests.benchmarks.cluster [--core-hour PRICE] [--write]

Both corpora are written to Parquet and checked by `check_batches` as one core of a cluster would do it; what counts is
the least CPU time of each part of a corpus over some rounds, which other work on the machine disturbs the least. What
Spark or Ray itself needs is not in it. `--write` updates the table in docs/cluster.md.
"""

import argparse
import io
import platform
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from tabulate import tabulate

from conformance.arrow import check_batches, schema
from tests.benchmarks import corpus

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"
MARKED = re.compile(r"(?<=<!-- a billion -->\n).*?(?=<!-- /a billion -->)", re.DOTALL)
BILLION = 10**9
PROVIDER = "deepseek"
PRICE = 0.04
CORES = 1000
ROUNDS = 15
_PART_BYTES = 1_000_000
_PART_ROWS = 40


class Measured(NamedTuple):
    """What one exchange costs: seconds of one core, by provider; bytes before and in Parquet; rows and bytes out."""

    seconds: Mapping[str | None, float]
    plain_bytes: float
    parquet_bytes: float
    findings: float
    result_bytes: float


def table(sessions: list[corpus.Session]) -> pa.Table:
    samples = [sample for session in sessions for sample in session]
    return pa.table(
        {
            "id": [str(number) for number in range(len(samples))],
            "request": [sample.request for sample in samples],
            "response": [sample.reply for sample in samples],
            "status": pa.array([sample.status for sample in samples], pa.int16()),
        }
    )


def in_parquet(whole: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(whole, sink, compression="zstd")
    return sink.getvalue()


def checked(data: bytes, provider: str | None) -> pa.Table:
    return pa.Table.from_batches(check_batches(pq.ParquetFile(io.BytesIO(data)).iter_batches(), provider), schema())


def measure(sessions: list[corpus.Session], rounds: int = ROUNDS) -> Measured:
    """Return what one exchange of a corpus costs: reading it from Parquet, checking it and making rows."""
    whole = table(sessions)
    data = in_parquet(whole)
    step = min(_PART_ROWS, 1 + _PART_BYTES * len(whole) // whole.nbytes)
    parts = [in_parquet(whole.slice(begin, step)) for begin in range(0, len(whole), step)]
    least = {(provider, at): float("inf") for provider in (None, PROVIDER) for at in range(len(parts))}
    for _ in range(rounds):
        for (provider, at), before in least.items():
            began = time.process_time()
            checked(parts[at], provider)
            least[provider, at] = min(before, time.process_time() - began)
    seconds = {
        provider: sum(taken for (each, _), taken in least.items() if each == provider) / len(whole)
        for provider in (None, PROVIDER)
    }
    found = checked(data, PROVIDER)
    plain = sum(len(sample.request) + len(sample.reply) for session in sessions for sample in session)
    sizes = [each / len(whole) for each in (plain, len(data), len(found), len(in_parquet(found)))]
    return Measured(seconds, *sizes)


def rows(measured: Mapping[str, Measured], price: float) -> list[list[str]]:
    """Return the arithmetic for a billion exchanges, a column for each corpus."""
    every = list(measured.values())
    lines: list[list[str]] = [
        ["bodies of an exchange", *[f"{each.plain_bytes / 1e3:.1f} kB" for each in every]],
        ["in Parquet with zstd", *[f"{each.parquet_bytes / 1e3:.1f} kB" for each in every]],
        ["findings of an exchange", *[f"{each.findings:.1f}" for each in every]],
    ]
    for provider, name in ((None, "no provider"), (PROVIDER, f"the provider {PROVIDER}")):
        seconds = [each.seconds[provider] for each in every]
        hours = [each * BILLION / 3600 for each in seconds]
        lines += [
            [f"one exchange, {name}", *[f"{1e6 * each:.0f} µs of a core" for each in seconds]],
            [f"a billion, {name}", *[f"{each:,.0f} core-hours, {price * each:,.0f} USD" for each in hours]],
            [f"the same on {CORES:,} cores", *[f"{60 * each / CORES:,.0f} minutes" for each in hours]],
        ]
    return [
        *lines,
        ["a billion, bodies", *[f"{each.plain_bytes * BILLION / 1e12:.1f} TB" for each in every]],
        ["a billion, in Parquet", *[f"{each.parquet_bytes * BILLION / 1e12:.1f} TB" for each in every]],
        ["their findings", *[f"{each.findings:.1f} billion rows" for each in every]],
        ["their findings, in Parquet", *[f"{each.result_bytes * BILLION / 1e12:.2f} TB" for each in every]],
    ]


def report(measured: Mapping[str, Measured], price: float) -> str:
    """Return the table of the page, with what its figures depend on."""
    lines = rows(measured, price)
    shown = tabulate(lines, headers=["", *measured], tablefmt="github", disable_numparse=True)
    where = f"one core of {platform.machine()}, with Python {platform.python_version()} and pyarrow {pa.__version__}"
    return f"{shown}\n\nMeasured on {where}. {price:g} USD for a core-hour is an assumption.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core-hour", type=float, default=PRICE, metavar="PRICE", help=f"USD (default: {PRICE:g})")
    parser.add_argument("--write", action="store_true", help="update docs/cluster.md")
    arguments = parser.parse_args()
    corpora: dict[str, Any] = {"like public recordings": corpus.recorded(), "requests of coding agents": corpus.agent()}
    text = report({name: measure(sessions) for name, sessions in corpora.items()}, arguments.core_hour)
    print(text)
    if arguments.write:
        PAGE.write_text(MARKED.sub(lambda _: text, PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
