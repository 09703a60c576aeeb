"""What breaking a rule costs real clients, as measured: `reports/harm.json`, which `python -m tests.harm` writes.

A fault of servers was served to each SDK in a short scenario. A fault that breaks no client is kept apart from one that
was not measured.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from conformance.documents import read_json
from conformance.resources import folder

FILE: Final = "harm.json"

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


class RuleHarm(NamedTuple):
    """What the planted faults of a rule did: the clients that one of them broke, and all that were measured.

    Clients are `name@version`, with the worst outcome of each that broke. `faults` are the names of the faults.
    """

    broken: Mapping[str, str]
    measured: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the clients that broke, and of how many: `openai-agents 0.24.0, pi-ai 0.87.1 (2 of 31 clients)`."""
        count = f"{len(self.broken)} of {len(self.measured)} clients"
        if not self.broken:
            return f"none ({count})"
        names = [each.replace("@", " ") for each in self.broken]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f"{', '.join(names[:_NAMED])}{more} ({count})"


def of_rule(rule: str) -> RuleHarm | None:
    """Return what the faults of a rule did; None if none was measured."""
    return _shipped().get(rule)


@cache
def _shipped() -> Mapping[str, RuleHarm]:
    path = folder("reports") / FILE
    return by_rule(read_json(path)) if path.exists() else {}


def by_rule(data: Mapping[str, Any]) -> Mapping[str, RuleHarm]:
    """Return what was measured, by rule."""
    found: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for about in data["faults"]:
        for rule in about["rules"]:
            found.setdefault(rule, []).append((about["fault"], about["clients"]))
    return {rule: _summed(measured) for rule, measured in sorted(found.items())}


def _summed(measured: Iterable[tuple[str, Mapping[str, Any]]]) -> RuleHarm:
    worst: dict[str, str] = {}
    faults: dict[str, None] = {}
    for fault, clients in measured:
        faults[fault] = None
        for client, about in clients.items():
            worst[client] = min(about["outcome"], worst.get(client, NOTHING), key=list(OUTCOMES).index)
    broken = {client: worst[client] for client in sorted(worst) if worst[client] != NOTHING}
    return RuleHarm(broken, tuple(sorted(worst)), tuple(faults))
