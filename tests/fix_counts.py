"""Count how many findings about clients have a fix, by wire: `python -m tests.fix_counts PROVIDER FILE…`.

PROVIDER is a name, or auto. Not counted is `error/request-accepted`: it reports what a host answered once, which no
change of the request undoes; what caused the answer is a finding of its own where a rule finds it.
"""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from conformance.files.checking import Checker, File, Task
from conformance.results import Level

RECORDED = "error/request-accepted"


def count(provider: str, paths: Iterable[Path]) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return how many findings at SHOULD and above clients have, by wire and rule, and how many of them have a fix."""
    checker = Checker(Task(provider=provider, fixes=True, level=Level.SHOULD))
    found, fixed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for report in [checked.report for path in paths for checked in checker.file(File(path))]:
        for outcome in report["outcomes"] if report.get("protocol") else ():
            for finding in outcome["findings"]:
                if finding["side"] == "client" and outcome["rule"] != RECORDED:
                    key = report["protocol"].split(",")[0], outcome["rule"]
                    found[key] += 1
                    fixed[key] += "fixes" in finding
    return found, fixed


def main(provider: str, *names: str) -> None:
    """Print the share of each wire, and the rules whose findings have no fix."""
    found, fixed = count(provider, map(Path, names))
    for wire in sorted({wire for wire, _ in found}):
        every, own = (sum(count for (at, _), count in each.items() if at == wire) for each in (found, fixed))
        print(f"{wire}: {own} of {every} ({own / every:.0%})")
    for (wire, rule), left in (found - fixed).most_common():
        print(f"  {wire} {rule}: {left} of {found[wire, rule]} without a fix")


if __name__ == "__main__":
    main(*sys.argv[1:])
