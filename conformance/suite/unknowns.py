"""Which few requests settle what is unknown or contested of a profile's core facts.

A claim about a deviation is settled by a probe, any other by a reply. Scenarios are cut behind the exchange that the
chosen probes need, so that a claim about the reasoning of a tool turn costs three requests: the turn, the request with
its result, and that request with the deviation.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from conformance import scenarios
from conformance.core_facts import DEFINITIONS, Check, Definition
from conformance.errors import Unusable
from conformance.profiles import UNKNOWN, Claims, Profile
from conformance.results import Evidence, Status
from conformance.scenarios import Probe, Scenario
from conformance.simulator import Simulator
from conformance.suite.play import probed
from conformance.suite.turns import Subject, converse

_ASSUMED: Final[Claims] = {
    "reasoning.response-field": "reasoning_content",
    "thinking.mode": "default-on",
    "tools.supported": True,
    "tools.parallel": True,
}
"""What a rehearsal takes for true where it is unknown."""

_ONE_CALL: Final = "one-tool-call"
_PARALLEL: Final = "parallel-tool-calls"
"""A scenario with calls, which shows ids as well as the one with a single call does."""

_TURNS: Final = {"ids.unique-in-conversation": 2}
"""How many replies show a claim, if it takes more than the first one."""


class OpenClaim(NamedTuple):
    """A claim of a core fact that is unknown or contested, and how."""

    name: str
    fact: str
    is_contested: bool

    def __str__(self) -> str:
        """Return the claim in words."""
        return f"{self.name} ({'sources disagree' if self.is_contested else 'unknown'})"


class Settling(NamedTuple):
    """What settles a claim: a probe of a scenario, or its replies alone, and how many exchanges that takes."""

    claim: str
    scenario: str
    exchanges: int
    probe: str = ""

    def __str__(self) -> str:
        """Return where the claim is settled, in words."""
        return f"{self.scenario}: {self.probe or f'reply {self.exchanges}'}"


@dataclass(frozen=True, slots=True)
class Unknowns:
    """What is open of a profile's core facts, what settles it, and the cases to play.

    `left`: the open claims that no request of the suites settles.
    """

    open: tuple[OpenClaim, ...]
    chosen: tuple[Settling, ...]
    cases: tuple[tuple[Scenario, str], ...]

    @property
    def left(self) -> tuple[OpenClaim, ...]:
        """Return the open claims that no request of the suites settles."""
        settled = {each.claim for each in self.chosen}
        return tuple([each for each in self.open if each.name not in settled])

    def claims_of(self, case: str, probe: str) -> tuple[str, ...]:
        """Return the claims that a probe of a case settles, or the replies of the case if no probe is named."""
        scenario = case.rpartition(".")[0]
        return tuple([each.claim for each in self.chosen if (each.scenario, each.probe) == (scenario, probe)])

    def lines(self) -> Iterator[str]:
        """Yield what is open, and what settles it."""
        by_claim = {each.claim: each for each in self.chosen}
        for each in self.open:
            how = str(by_claim[each.name]) if each.name in by_claim else "no request of the suites settles it"
            yield f"  {each}: {how}"


def open_claims(profile: Profile, model: str) -> tuple[OpenClaim, ...]:
    """Return the claims of core facts that are unknown or contested for a model, but for those that others rule out."""
    claims = profile.at(model)
    found: dict[str, OpenClaim] = {}
    for definition in DEFINITIONS:
        if any(claims.get(name) == value for name, value in definition.ruled_out_by.items()):
            continue
        for name in _names(definition):
            claim = profile.claim(name, model)
            if claim is not None and (claim.value == UNKNOWN or claim.disagrees):
                found.setdefault(name, OpenClaim(name, definition.title, bool(claim.disagrees)))
    return tuple(found.values())


def unknowns(profile: Profile, model: str, variant: str = "") -> Unknowns:
    """Return the cases that settle what is open with the fewest requests, as far as a greedy choice finds them."""
    found = open_claims(profile, model)
    rehearsed = assuming(profile, model)
    options = {each.name: tuple(_options(each.name, rehearsed, model)) for each in found}
    chosen: list[Settling] = []
    # Replies cost nothing where probes have led to them already.
    for by_probe in (True, False):
        left = {name: each for name, each in options.items() if any(bool(one.probe) is by_probe for one in each)}
        while left:
            every = [one for each in left.values() for one in each if bool(one.probe) is by_probe]
            best = min(every, key=lambda one: (_cost(one, chosen), -_shared(one, every), one.scenario, one.probe))
            chosen.append(best)
            del left[best.claim]
        options = {name: each for name, each in options.items() if name not in {one.claim for one in chosen}}
    return Unknowns(found, tuple(chosen), tuple(_cases(chosen, variant)))


def assuming(profile: Profile, model: str) -> Profile:
    """Return a profile that says of what is unknown what makes a run send the most requests."""
    claims = profile.at(model)
    return profile.with_claims({name: each for name, each in _ASSUMED.items() if claims.get(name) == UNKNOWN})


def _names(definition: Definition) -> Iterable[str]:
    return dict.fromkeys([*definition.claims, *[name for check in definition.checks for name in check.claims]])


def _cost(option: Settling, chosen: Iterable[Settling]) -> int:
    """Return how many requests an option adds to what is chosen."""
    played = max([each.exchanges for each in chosen if each.scenario == option.scenario], default=0)
    return max(0, option.exchanges - played) + bool(option.probe)


def _shared(option: Settling, every: Iterable[Settling]) -> int:
    return len({each.claim for each in every if each.scenario == option.scenario})


def _options(name: str, profile: Profile, model: str) -> Iterator[Settling]:
    """Yield what settles a claim: the probes about it, or else the replies in which the checks of core facts see it."""
    claims = profile.at(model)
    checks = [check for definition in DEFINITIONS for check in definition.checks if name in check.claims]
    probes = [*_probes(name, checks)]
    for scenario, probe in probes:
        if scenario.unmet(claims) is None and (at := _earliest(scenario, probe, profile, model)):
            yield Settling(name, scenario.name, at, probe.name)
    for check in checks if not probes else ():
        also = (_PARALLEL,) if _ONE_CALL in check.scenarios else ()
        for scenario in map(scenarios.load, (*check.scenarios, *also)):
            if scenario.unmet(claims) is None:
                yield Settling(name, scenario.name, min(_TURNS.get(name, 1), len(scenario.turns)))


def _probes(name: str, checks: Iterable[Check]) -> Iterator[tuple[Scenario, Probe]]:
    """Yield the probes of core facts that a claim predicts."""
    for check in checks:
        for scenario in map(scenarios.load, check.scenarios if check.probe else ()):
            yield from [(scenario, each) for each in scenario.probes if each.name == check.name and name in each.claims]


def _without_needs(scenario: Scenario) -> Scenario:
    """Return a scenario that is played though a claim that it needs is unknown: it is what settles it."""
    return replace(scenario, needs={name: value for name, value in scenario.needs.items() if name not in _ASSUMED})


def _earliest(scenario: Scenario, probe: Probe, profile: Profile, model: str) -> int:
    """Return the first exchange that has what a probe changes, as the simulator plays it; 0 if there is none."""
    subject = Subject(profile, model, Simulator(profile).send, Evidence.SIMULATED)
    for at in range(1, probe.at + 1):
        cut = replace(scenario, turns=scenario.turns[:at])
        try:
            result = probed(replace(probe, at=at), converse(cut, "plain", subject), subject)
        except Unusable:
            continue
        if result is not None and result.status is not Status.UNTESTED:
            return at
    return 0


def _cases(chosen: Iterable[Settling], variant: str) -> Iterator[tuple[Scenario, str]]:
    """Yield the scenarios of a choice, cut behind what it needs, with the chosen probes and the rules about replies."""
    by_scenario: dict[str, list[Settling]] = {}
    for each in chosen:
        by_scenario.setdefault(each.scenario, []).append(each)
    for name, found in by_scenario.items():
        whole = scenarios.load(name)
        at = {each.probe: each.exchanges for each in found if each.probe}
        probes = tuple([replace(each, at=at[each.name]) for each in whole.probes if each.name in at])
        turns = whole.turns[: max(each.exchanges for each in found)]
        shown = variant if variant in whole.variants else whole.variants[0]
        yield replace(_without_needs(whole), turns=turns, probes=probes, exercises=()), shown
