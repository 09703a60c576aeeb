"""The clients that break if a server breaks a rule, as measured: faults of the rule were served to real SDKs.

`python -m tests.harm` measures it and writes the data beside this file, and each pair into `reports/harm.json`.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

DATA: Final = Path(__file__).with_suffix(".json")

NOTHING: Final = "nothing"
ANSWER: Final = "answer"
REQUEST: Final = "request"
CALL: Final = "call"
ERROR: Final = "error"
HANG: Final = "hang"
OUTCOMES: Final[Mapping[str, str]] = {
    HANG: "hangs",
    ERROR: "raises an exception",
    CALL: "loses a call or runs a wrong one",
    REQUEST: "sends a wrong second request",
    ANSWER: "gives another answer",
    NOTHING: "works as if nothing were wrong",
}
"""What a fault can do to a client, the worst first, in words."""

_NAMED: Final = 6
"""So many clients are named."""


class BrokenClients(NamedTuple):
    """What the planted faults of a rule did.

    `broken` are the clients (`name@version`) that one of them broke, each with the worst outcome; `measured` says of
    how many, and `faults` are the names of the faults.
    """

    broken: Mapping[str, str]
    measured: int
    faults: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the clients that broke, and of how many: `openai-agents 0.24, pi-ai 0.87 (2 of 31 clients)`."""
        count = f"{len(self.broken)} of {self.measured} clients"
        if not self.broken:
            return f"none ({count})"
        names = [short(each) for each in self.broken]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f"{', '.join(names[:_NAMED])}{more} ({count})"


def short(client: str) -> str:
    """Return a client as it is printed, with the first two parts of its version: `openai-agents 0.24`."""
    name, _, version = client.partition("@")
    return f"{name} {'.'.join(version.split('.')[:2])}".rstrip()


def of_rule(rule: str) -> BrokenClients | None:
    """Return what the faults of a rule did; None if none was measured."""
    return _shipped().get(rule)


@cache
def _shipped() -> Mapping[str, BrokenClients]:
    data: dict[str, Any] = orjson.loads(DATA.read_bytes()) if DATA.exists() else {}
    return {
        rule: BrokenClients(about["broken"], about["measured"], tuple(about["faults"])) for rule, about in data.items()
    }
