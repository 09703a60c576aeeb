"""Histories that come from elsewhere, and adapters that document that they send them as they are given.

Such an adapter leaves it to its caller to keep a history valid. What the history itself breaks is then at most a
SHOULD: the request fails, but the adapter does what it promises.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from conformance.documents.pointer import parse
from conformance.judge import check
from conformance.profiles import Profile
from conformance.results import Finding, Level, Outcome, Status
from conformance.scenarios import Scenario, tool_definitions
from conformance.wire.exchange import Exchange

_WORDS: Final = "the history was given so, and the adapter documents that its caller keeps it valid"


def with_given_history(outcomes: Sequence[Outcome], scenario: Scenario, profile: Profile) -> tuple[Outcome, ...]:
    """Return outcomes in which findings about what the given history itself breaks are at most a SHOULD."""
    own = _broken_by(scenario, profile)
    return tuple([_lowered(each) if each.rule in own and each.findings else each for each in outcomes])


def _broken_by(scenario: Scenario, profile: Profile) -> frozenset[str]:
    """Return the rules that the history breaks if it is sent as it stands, before the first prompt."""
    messages: list[Mapping[str, Any]] = [*scenario.history, {"role": "user", "content": scenario.asked[0]}]
    tools = [tool_definitions()[name] for name in scenario.tools]
    request = {"model": profile.model or "model", "messages": messages, **({"tools": tools} if tools else {})}
    outcomes = check((Exchange(request=request, model=profile.model),), profile)
    return frozenset([each.rule for each in outcomes if each.status is Status.FAILED])


def _lowered(outcome: Outcome) -> Outcome:
    """Return an outcome whose findings in the first request, and at the same places in later ones, are a SHOULD."""
    first = {place[1:] for each in outcome.findings if (place := parse(each.at))[:1] == ("0",)}
    findings = tuple(_each_lowered(outcome.findings, first))
    level = max([each.level for each in findings], key=lambda each: each.severity)
    return replace(outcome, level=level, findings=findings)


def _each_lowered(findings: Sequence[Finding], given: set[tuple[str, ...]]) -> Iterator[Finding]:
    for each in findings:
        is_given = parse(each.at)[1:] in given and each.level is Level.MUST
        yield replace(each, level=Level.SHOULD, message=f"{each.message}; {_WORDS}") if is_given else each
