"""Serve the faults of real servers to real SDKs, and record what each costs them.

    python -m tests.harm [CLIENT …] [--wire WIRE] [--fault NAME] [--max-time SECONDS] [--jobs N] [--write] [--again]

Without clients: all that are installed (`conformance adapter install NAME`). What the rules lack is measured first: a
fault of each rule about replies, with 25 clients on chat completions and with all on the other wires. Pairs that
reports/harm.json has already are skipped, so that a later run completes the table; --again measures these, too. With
--write, the results are added to reports/harm.json after each client, and the other files are written from it.
"""

import argparse
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from conformance.adapters import definition
from conformance.adapters.definition import AdapterDefinition
from conformance.adapters.driver import Surroundings
from conformance.adapters.install import is_installed
from conformance.errors import UnknownName, Unusable
from tests.harm import data, pages
from tests.harm.data import ABSENT, Measured, Pair
from tests.harm.playing import SCENARIOS, Client, FaultySessions, Unmeasurable, surroundings
from tests.harm.workers import Worker, command_for

REPORTS = Path("reports")


@dataclass
class Run:
    """A run over some clients: what is measured so far, and until when it may go on."""

    measured: Measured
    chosen: argparse.Namespace
    due: float
    left: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def client(self, one: AdapterDefinition, server: FaultySessions, around: Surroundings, *, demand: bool) -> None:
        """Measure the faults of one client, as long as its share of the time allows; with `demand`, what rules lack."""
        with self.lock:
            share = max(0.0, self.due - time.monotonic()) * self.chosen.jobs / max(self.left, 1)
            self.left -= 1
        until = min(self.due, time.monotonic() + max(share, 1.0))
        with Worker(command_for(one), one.environment, around) as worker:
            client = Client(one, worker, server, scenarios=tuple(self.chosen.scenario or SCENARIOS))
            self._pairs(client, until, demand=demand)
        if self.chosen.write:
            with self.lock:
                pages.write_all(REPORTS, self.measured)

    def _pairs(self, client: Client, until: float, *, demand: bool) -> None:
        wire, broken = client.definition.protocol, set()
        for fault, variant in data.planned(wire):
            pair = Pair(fault.name, wire, variant, client.name)
            is_done = pair in self.measured.pairs and not self.chosen.again
            is_out = variant not in client.definition.variants or variant in broken
            if is_done or is_out or (self.chosen.fault and fault.name not in self.chosen.fault):
                continue
            if demand and not self._lacks(pair):
                continue
            if time.monotonic() > until:
                return
            try:
                played = client.play(fault, variant)
            except (Unmeasurable, Unusable) as error:
                broken.add(variant)
                self._note(f"{client.name} {variant}", str(error))
                continue
            self._add(pair, *(("", (ABSENT, "")) if played is None else played))

    def _lacks(self, pair: Pair) -> bool:
        with self.lock:
            return data.lacks(self.measured, pair)

    def _note(self, name: str, why: str) -> None:
        with self.lock:
            self.measured.unmeasurable[name] = why[:300]
        print(f"{name}: cannot be measured {why[:200]}", flush=True)

    def _add(self, pair: Pair, scenario: str, found: tuple[str, str]) -> None:
        outcome, detail = found
        about = {"outcome": outcome, "detail": detail, "scenario": scenario, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
        with self.lock:
            self.measured.pairs[pair] = {key: text for key, text in about.items() if text}
            self.measured.unmeasurable.pop(f"{pair.client} {pair.variant}", None)
        print(f"{pair.client:<36} {pair.wire} {pair.variant:<6} {pair.fault:<36} {outcome:<8} {detail}", flush=True)


def main() -> None:
    """Measure, print a line for each pair, and write the reports."""
    parser = argparse.ArgumentParser(prog="python -m tests.harm", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "clients", metavar="CLIENT", nargs="*", help="such as openai-sdk; see `conformance adapter list`"
    )
    parser.add_argument("--wire", action="append", default=[], help="only clients of this wire; repeatable")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME", help="only this fault; repeatable")
    parser.add_argument("--max-time", type=float, default=600.0, metavar="SECONDS", help="shared by the clients")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="clients at a time")
    parser.add_argument("--write", action="store_true", help="add the results to reports/")
    parser.add_argument(
        "--scenario",
        action="append",
        choices=SCENARIOS,
        default=[],
        help="serve faults in this one only; what a fault does to a history shows if it has more turns",
    )
    parser.add_argument("--again", action="store_true", help="measure also pairs that were measured before")
    chosen = parser.parse_args()
    try:
        listed = installed(chosen.clients, chosen.wire)
    except UnknownName as error:
        parser.error(str(error))
    run = Run(data.read(REPORTS), chosen, time.monotonic() + chosen.max_time, len(listed))
    with surroundings() as (server, around), ThreadPoolExecutor(max(1, chosen.jobs)) as pool:
        for demand in (False,) if chosen.again else (True, False):
            run.left = len(listed)
            for future in [pool.submit(run.client, one, server, around, demand=demand) for one in listed]:
                future.result()
    if chosen.write:
        pages.write_all(REPORTS, run.measured)
    print(pages.counted(run.measured), file=sys.stderr)


def installed(named: Sequence[str], wires: Sequence[str]) -> list[AdapterDefinition]:
    """Return the SDKs that are installed, those of the smallest share first; whole agents have no driver."""
    listed = [definition.load(name) for name in named or definition.names()]
    chosen = [one for one in listed if not one.agent and one.packages and (not wires or one.protocol in wires)]
    missing = [one.name for one in chosen if not is_installed(one)]
    if missing and named:
        print(f"not installed, so not measured: {', '.join(missing)}", file=sys.stderr)
    return [one for one in chosen if is_installed(one)]


if __name__ == "__main__":
    main()
