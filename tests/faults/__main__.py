"""Play the known faults of servers between the suite and a simulated provider whose script it does not know.

    python -m tests.faults PROVIDER[/WIRE] … [--write] [--quick] [--fault NAME …]

With --write, the results replace those of the same faults in reports/faults.json, and reports/faults.md is written from
it. With --quick, a fault is played until one case names it: the verdicts are the same, but the data then know of one
case only that a run needs to see the fault.
"""

import argparse
from pathlib import Path

from conformance import faults
from conformance.errors import UnknownName
from tests.faults import pages
from tests.faults.verdicts import rows


def main() -> None:
    """Play the faults and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.partition("\n")[0])
    parser.add_argument("providers", metavar="PROVIDER[/WIRE]", nargs="+", help="such as deepseek or openai/responses")
    parser.add_argument("--write", action="store_true", help="write the results into reports/")
    parser.add_argument("--quick", action="store_true", help="play each fault until one case names it")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME", help="play only this one; repeatable")
    chosen = parser.parse_args()
    for name in chosen.fault:
        try:
            faults.load(name)
        except UnknownName as error:
            parser.error(str(error))
    for text in chosen.providers:
        played = []
        for row in rows(text, chosen.fault or faults.names(), whole=not chosen.quick):
            print(pages.line(row), flush=True)
            played.append(row)
        if chosen.write:
            pages.update(Path("reports"), text, played, whole=not chosen.quick)


if __name__ == "__main__":
    main()
