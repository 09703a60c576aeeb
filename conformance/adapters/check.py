"""What an adapter sent, judged: the rules about clients, and the facts about loops."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from conformance import rules
from conformance.adapters import loop
from conformance.adapters.loop import Played
from conformance.engine import check
from conformance.profiles import Profile
from conformance.results import NOTHING_TO_JUDGE, Outcome, Status
from conformance.rule_ids import matches
from conformance.scenarios import Scenario
from conformance.suite.play import missed
from conformance.wire.views import Side


def outcomes(played: Played, profile: Profile) -> tuple[Outcome, ...]:
    """Judge what was played by a profile, which is the one that the session wore.

    What the scenario promises and nothing was there to judge of is untested, and where nothing was sent all of it is.
    """
    wanted = promised(played.scenario)
    if not played.conversation:
        return tuple(_nothing_sent(wanted, played))
    claims = profile.at(str(played.job["model"]))
    judged = [*_of_the_client(check(played.conversation, profile)), *loop.judge(played)]
    judged.sort(key=lambda outcome: outcome.rule)
    idle = {outcome.rule for outcome in judged if _found_nothing(outcome)} & wanted
    facts = {fact.id for fact in loop.load()}
    lost = (idle & facts) | missed(idle - facts, played.conversation, claims)
    return tuple([replace(each, status=Status.UNTESTED) if each.rule in lost else each for each in judged])


def promised(scenario: Scenario) -> Set[str]:
    """Return the ids of the rules about clients that a scenario promises to test, and of the facts that are due."""
    clients = [rule.id for rule in rules.load() if rule.on.side is Side.CLIENT]
    due = {fact.id for fact in loop.load() if fact.on.is_due(scenario)}
    return due | {each for each in clients if any(matches(glob, each) for glob in scenario.exercises)}


def _of_the_client(judged: Sequence[Outcome]) -> Iterator[Outcome]:
    sides = {rule.id: rule.on.side for rule in rules.load()}
    return (outcome for outcome in judged if sides[outcome.rule] is Side.CLIENT)


def _found_nothing(outcome: Outcome) -> bool:
    return outcome.status is Status.NOT_APPLICABLE and outcome.reason.startswith(NOTHING_TO_JUDGE)


def _nothing_sent(wanted: Set[str], played: Played) -> Iterator[Outcome]:
    error = played.answer.error
    raised = f"; the adapter raised {error.type}: {error.message:.300}" if error else ""
    levels = {rule.id: rule.level for rule in rules.load()} | {fact.id: fact.level for fact in loop.load()}
    for each in sorted(wanted | {loop.ANSWERED}):
        yield Outcome(each, Status.UNTESTED, levels[each], reason=f"no request was sent{raised}")
