"""What was measured: `reports/harm.json`, one entry for each fault on a wire and variant, with a line per client.

What the package reads of it, the clients that break by rule, is a file of its own there.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from conformance import faults, rules
from conformance.adapters import definition
from conformance.artifacts import write
from conformance.broken_clients import NOTHING, OUTCOMES, BrokenClients
from conformance.faults import ServerFault
from conformance.wire.native import CHAT
from conformance.wire.views import Side
from conformance.wires import NAMES

FILE: Final = "harm.json"
ABSENT: Final = "absent"
"""No reply of the scenarios can have the fault."""

ENOUGH: Final = 25
"""So many clients on chat completions show what a fault of a rule costs."""


class Pair(NamedTuple):
    """A fault in a variant on a wire, and a client."""

    fault: str
    wire: str
    variant: str
    client: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured, and what could not be: the clients that do not work on healthy replies, with the reason."""

    pairs: dict[Pair, dict[str, str]]
    unmeasurable: dict[str, str]

    def clients(self, rule: str, wire: str) -> frozenset[str]:
        """Return the clients to which a fault of a rule was served on a wire."""
        breaking = {name for name in faults.names() if rule in rules_of(faults.load(name), wire)}
        return frozenset(
            [
                pair.client
                for pair, found in self.pairs.items()
                if pair.wire == wire and pair.fault in breaking and found["outcome"] != ABSENT
            ]
        )


def rules_of(fault: ServerFault, wire: str) -> tuple[str, ...]:
    """Return the rules about replies that a fault breaks on a wire."""
    known = rules.by_id()
    listed = [known[each] for each in fault.breaks.get(wire, ()) if each in known]
    return tuple([rule.id for rule in listed if rule.on.side is Side.PROVIDER])


def lacks(measured: Measured, pair: Pair) -> bool:
    """Return whether a rule about replies that a fault breaks was measured with too few clients, and not with this one.

    On chat completions, `ENOUGH` are enough; on another wire, all have to be measured.
    """
    for rule in rules_of(faults.load(pair.fault), pair.wire):
        clients = measured.clients(rule, pair.wire)
        if pair.client not in clients and (pair.wire != CHAT or len(clients) < ENOUGH):
            return True
    return False


def planned(wire: str) -> Iterator[tuple[ServerFault, str]]:
    """Yield every fault of replies of a wire with its variants, so that a run that is stopped has seen most rules.

    The first fault of each rule comes first, in streams, and harmless faults last.
    """
    listed = [each for each in map(faults.load, faults.names()) if wire in each.wires]
    every = [(each, variant) for each in listed for variant in each.variants]
    ranks = _ranks(listed, wire)
    yield from sorted(every, key=lambda one: (one[0].harmless, ranks[one[0].name], one[1] != faults.STREAM))


def _ranks(listed: Sequence[ServerFault], wire: str) -> Mapping[str, int]:
    """Return for each fault how many come before it that break the same rule; those of no rule come last."""
    seen: Counter[str] = Counter()
    ranks = {}
    for fault in listed:
        broken = rules_of(fault, wire)
        ranks[fault.name] = min([seen[rule] for rule in broken], default=len(listed))
        seen.update(broken)
    return ranks


def pairs_of(wire: str, client: str) -> int:
    """Return how many pairs a client has in a complete table; some clients have streams or plain replies only."""
    name = client.partition("@")[0]
    variants = definition.load(name).variants if name in definition.names() else faults.BOTH
    return sum(variant in variants for _, variant in planned(wire))


def read(folder: Path) -> Measured:
    """Return what was measured before; faults that are gone are left out."""
    known = {(fault.name, wire, variant) for wire in NAMES for fault, variant in planned(wire)}
    path = folder / FILE
    data: dict[str, Any] = orjson.loads(path.read_bytes()) if path.exists() else {"faults": (), "unmeasurable": {}}
    pairs = {
        Pair(about["fault"], about["wire"], about["variant"], client): dict(found)
        for about in data["faults"]
        if (about["fault"], about["wire"], about["variant"]) in known
        for client, found in {**about["clients"], **about["absent"]}.items()
    }
    return Measured(pairs, dict(data["unmeasurable"]))


def value(measured: Measured) -> dict[str, Any]:
    """Return the document."""
    listed: dict[tuple[str, str, str], dict[str, dict[str, str]]] = {}
    for pair, found in sorted(measured.pairs.items()):
        listed.setdefault(pair[:3], {})[pair.client] = found
    return {
        "faults": [_about(*key, clients) for key, clients in listed.items()],
        "unmeasurable": dict(sorted(measured.unmeasurable.items())),
    }


def _about(name: str, wire: str, variant: str, clients: Mapping[str, dict[str, str]]) -> dict[str, Any]:
    fault = faults.load(name)
    return {
        "fault": name,
        "wire": wire,
        "variant": variant,
        "harmless": fault.harmless,
        "rules": list(rules_of(fault, wire)),
        "clients": {client: found for client, found in clients.items() if found["outcome"] != ABSENT},
        "absent": {client: found for client, found in clients.items() if found["outcome"] == ABSENT},
    }


def save(folder: Path, rules: Path, measured: Measured) -> None:
    """Write the data, a line for each client, and a file with the clients that break by rule, a line for each."""
    document = value(measured)
    lines = [_lines(about) for about in document["faults"]]
    unmeasurable = orjson.dumps(document["unmeasurable"], option=orjson.OPT_INDENT_2).decode()
    text = '{\n"faults": [\n' + ",\n".join(lines) + f'\n],\n"unmeasurable": {unmeasurable}\n}}\n'
    write(folder / FILE, text)
    summed = [f"{_json(rule)}: {_json(about._asdict())}" for rule, about in by_rule(document).items()]
    write(rules, "{\n" + ",\n".join(summed) + "\n}\n")


def _lines(about: Mapping[str, Any]) -> str:
    head = ", ".join([f"{_json(key)}: {_json(about[key])}" for key in about if key not in ("clients", "absent")])
    parts = [f'"{key}": {{{_rows(about[key])}}}' for key in ("clients", "absent")]
    return f" {{{head},\n  {', '.join(parts)}}}"


def _rows(clients: Mapping[str, Any]) -> str:
    rows = [f"   {_json(client)}: {_json(found)}" for client, found in clients.items()]
    return "\n" + ",\n".join(rows) if rows else ""


def _json(thing: Any) -> str:
    return orjson.dumps(thing).decode()


class Reach(NamedTuple):
    """With how many clients of a wire a rule was measured, and how many there are."""

    rule: str
    wire: str
    measured: int
    clients: int

    @property
    def is_enough(self) -> bool:
        """Return whether these are enough."""
        return self.measured >= (min(ENOUGH, self.clients) if self.wire == CHAT else self.clients)


def reach(listed: Sequence[Mapping[str, Any]]) -> list[Reach]:
    """Return for each rule and wire with how many clients one of its faults was measured."""
    clients: dict[str, set[str]] = {}
    measured: dict[tuple[str, str], set[str]] = {}
    for about in listed:
        clients.setdefault(about["wire"], set()).update(about["clients"], about["absent"])
        for rule in about["rules"]:
            measured.setdefault((rule, about["wire"]), set()).update(about["clients"])
    return [Reach(rule, wire, len(found), len(clients[wire])) for (rule, wire), found in sorted(measured.items())]


def missing(listed: Sequence[Mapping[str, Any]], reach: Reach) -> dict[str, list[str]]:
    """Return the clients of a wire to which no fault of a rule was served, by the reason."""
    on_wire = [each for each in listed if each["wire"] == reach.wire]
    about = [each for each in on_wire if reach.rule in each["rules"]]
    variants = {variant for fault, variant in planned(reach.wire) if reach.rule in rules_of(fault, reach.wire)}
    served = {client for each in about for client in each["clients"]}
    asked = _asked(on_wire)
    found: dict[str, list[str]] = {}
    for client in sorted({client for each in on_wire for client in (*each["clients"], *each["absent"])} - served):
        own = {variant for variant in variants if (client, variant) in asked}
        tried = {each["variant"] for each in about if client in each["absent"]}
        if not own:
            reason = f"{'streamed' if variants == {faults.PLAIN} else 'plain'} replies only"
        else:
            reason = "no reply that can have a fault of it" if own <= tried else "not measured yet"
        found.setdefault(reason, []).append(client)
    return found


def _asked(listed: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Return the clients with the variants of replies that they ask for."""
    clients = {client for each in listed for client in (*each["clients"], *each["absent"])}
    return {(client, variant) for client in clients for variant in _variants(client.partition("@")[0])}


@cache
def _variants(name: str) -> Sequence[str]:
    return definition.load(name).variants if name in definition.names() else faults.BOTH


def by_rule(document: Mapping[str, Any]) -> dict[str, BrokenClients]:
    """Return what was measured, by rule."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for about in document["faults"]:
        for rule in about["rules"] if about["clients"] else ():
            found.setdefault(rule, []).append(about)
    return {rule: _summed(listed) for rule, listed in sorted(found.items())}


def _summed(listed: Sequence[Mapping[str, Any]]) -> BrokenClients:
    worst: dict[str, str] = {}
    for client, found in [each for about in listed for each in about["clients"].items()]:
        worst[client] = min(found["outcome"], worst.get(client, NOTHING), key=list(OUTCOMES).index)
    broken = {client: worst[client] for client in sorted(worst) if worst[client] != NOTHING}
    return BrokenClients(broken, len(worst), tuple(sorted({about["fault"] for about in listed})))
