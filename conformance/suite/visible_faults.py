"""What green leaves out: the known faults of servers that the cases of a run report, and those that they do not.

`reports/faults.json` holds what a run shows of each; `python -m tests.faults` writes it.
"""

import textwrap
from collections.abc import Collection, Mapping
from typing import Any, Final

from conformance.documents import read_json
from conformance.resources import folder

OWN: Final = "own"
ABSENT: Final = "absent"
"""The verdicts of a run that names the fault, and of a fault that no reply could have."""

_FILE: Final = "faults.json"
_SHOWN: Final = 12
"""So many names of faults are printed."""


def visible_faults(wire: str, played: Collection[str], width: int, *, is_whole: bool) -> str:
    """Return one line on the faults that a run on a wire can see, wrapped to a width; empty if nothing is known.

    `played` are the names of its cases. `is_whole`: none was left out, so that what only all of them show counts too.
    """
    path = folder("reports") / _FILE
    known: Any = read_json(path) if path.exists() else {}
    faults = {name: each for name, each in known.get(wire, {}).get("faults", {}).items() if _is_known(each)}
    if not faults:
        return ""
    unseen = [name for name, each in faults.items() if not _is_seen(each, played, is_whole=is_whole)]
    text = f"This run can see {len(faults) - len(unseen)} of {len(faults)} known faults of providers"
    if unseen:
        more = f" and {len(unseen) - _SHOWN} more (reports/faults.md)" if len(unseen) > _SHOWN else ""
        text += f"; not these: {', '.join(unseen[:_SHOWN])}{more}"
    return "\n".join(textwrap.wrap(f"{text}.", width, break_on_hyphens=False))


def _is_known(fault: Mapping[str, Any]) -> bool:
    return not fault["harmless"] and fault["verdict"] != ABSENT


def _is_seen(fault: Mapping[str, Any], played: Collection[str], *, is_whole: bool) -> bool:
    """Return whether the cases report a fault in each variant that a server may have it in."""
    if fault["verdict"] != OWN:
        return False
    variants = [each for each in fault["variants"].values() if each["verdict"] == OWN]
    return is_whole or all(any(case in played for case in each["cases"]) for each in variants)
