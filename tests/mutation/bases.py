"""Good conversations, to which mutations are applied: `fixtures/wire`, and the scenarios as the simulator plays them.

A base is JSON text, so that each mutant starts from a fresh copy. A stream in it is the list of its events, each an
object or raw text, as in the fixtures.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, TypeAlias

import orjson

from conformance import profiles, rules, scenarios, wires
from conformance.documents import read_json
from conformance.formats.records import exchange
from conformance.judge import judge
from conformance.profiles import Profile
from conformance.resources import folder
from conformance.results import Evidence, Status
from conformance.scenarios import Scenario
from conformance.simulator import Simulator
from conformance.suite.play import play
from conformance.suite.turns import Subject
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.native import CHAT

Record: TypeAlias = dict[str, Any]
"""One exchange as the fixtures have it: request, response, status, headers, stream."""

MODEL: Final = "example-model"
CLAIMS: Final[Mapping[str, Any]] = {"thinking.mode": "always", "reasoning.response-field": "reasoning_content"}
"""The claims of the provider that plays the scenarios: the canonical wire, with a model that thinks."""


@dataclass(frozen=True, slots=True)
class Base:
    """A good conversation: its name, and its records as JSON text."""

    name: str
    text: bytes

    def records(self) -> list[Record]:
        """Return a fresh copy of the records, to be changed at will."""
        copied: list[Record] = orjson.loads(self.text)
        return copied

    def beginnings(self) -> Iterator["Base"]:
        """Yield each start of a session that has at least two exchanges, so that each request is the last one once."""
        records = self.records()
        for length in range(2, len(records) + 1):
            name = self.name if length == len(records) else f"{self.name}/0-{length - 1}"
            yield Base(name, orjson.dumps(records[:length]))

    def split(self) -> Iterator["Base"]:
        """Yield each exchange as a base of its own; a session of one is itself."""
        records = self.records()
        for number, record in enumerate(records):
            name = self.name if len(records) == 1 else f"{self.name}/{number}"
            yield Base(name, orjson.dumps([record]))


def conversation(records: Iterable[Mapping[str, Any]]) -> Conversation:
    """Return the conversation that records hold."""
    return tuple(exchange(record, "mutant") for record in records)


def sessions(wire: str = CHAT) -> tuple[Base, ...]:
    """Return the good conversations on a wire, fixtures first; those that a scenario breaks on purpose are left out."""
    played = _played() if wire == CHAT else ()
    return tuple(base for base in (*_fixtures(wire), *played) if is_good(base))


def is_good(base: Base, claims: Mapping[str, Any] | None = None) -> bool:
    """Return whether a base breaks no rule, at a provider with these claims."""
    return _is_good(base.text, _key(claims))


@cache
def _is_good(text: bytes, claims: bytes) -> bool:
    # Many mutations have the same claims and begin with the same bases.
    return not broken(orjson.loads(text), orjson.loads(claims))


def _key(claims: Mapping[str, Any] | None) -> bytes:
    return orjson.dumps(dict(claims or {}), option=orjson.OPT_SORT_KEYS)


@cache
def _provider(claims: bytes) -> Profile:
    # One for all mutations with the same claims, because rules are arranged once for those of a profile.
    return profiles.of(orjson.loads(claims))


def broken(records: Iterable[Mapping[str, Any]], claims: Mapping[str, Any] | None = None) -> dict[str, Status]:
    """Return the rules that failed or errored over records."""
    return judged(conversation(records), claims)


def judged(exchanges: Conversation, claims: Mapping[str, Any] | None = None) -> dict[str, Status]:
    """Return the rules that failed or errored over exchanges, at a provider with these claims."""
    found = judge(exchanges, _provider(_key(claims)) if claims else None, rules.load()).found()
    return {outcome.rule: outcome.status for outcome in found if outcome.status in (Status.FAILED, Status.ERRORED)}


def _fixtures(wire: str) -> Iterator[Base]:
    for path in sorted((folder("fixtures") / "wire").glob("*.json")):
        base = Base(path.stem, orjson.dumps(read_json(path)))
        if {exchange.protocol for exchange in wires.translate(conversation(base.records()))} == {wire}:
            yield base


def _played() -> Iterator[Base]:
    profile = profiles.of(CLAIMS, "canonical")
    # What scenarios for providers alone ask for, such as a forced call, is more than a mutation should break.
    for scenario in map(scenarios.load, scenarios.names()):
        for variant in scenario.variants if not (scenario.for_clients or scenario.for_providers) else ():
            yield Base(f"{scenario.name}.{variant}", orjson.dumps(_play(scenario, variant, profile)))


def _play(scenario: Scenario, variant: str, profile: Profile) -> list[Record]:
    """Return the records of a scenario that the simulator answers in this process; its probes are left out."""
    simulator, played = Simulator(profile), list[Record]()

    def send(body: Mapping[str, Any]) -> Exchange:
        answered = simulator.reply(body, scenario)
        raw = answered.body if isinstance(answered.body, bytes) else b"".join(answered.body)
        is_stream = not isinstance(answered.body, bytes)
        response = _events(raw.decode()) if is_stream else orjson.loads(raw)
        headers = {"content-type": answered.headers["content-type"]}
        record = {"request": body, "response": response, "status": answered.status, "headers": headers}
        played.append(record | ({"stream": True} if is_stream else {}))
        return exchange(played[-1], "played")

    play(replace(scenario, probes=()), variant, Subject(profile, MODEL, send, Evidence.SIMULATED))
    return played


def _events(text: str) -> list[Any]:
    """Return the events of a stream's text: an object for a chunk, raw text for any other."""
    return [
        orjson.loads(event.removeprefix("data: ")) if event.startswith("data: {") else f"{event}\n\n"
        for event in text.split("\n\n")
        if event
    ]
