"""Comparisons: what the replies of a case must say, as far as the script or the requests fix it.

Each is a result of the case beside its probes. What the replies do not show is untested, with the reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from conformance.errors import InvalidDocument, Unusable
from conformance.results import Evidence, Status
from conformance.results.comparisons import (
    ARGUMENTS_ECHOED,
    AS_SCRIPTED,
    COMPARISONS,
    RESULTS_PAIRED,
    TITLES,
    TWINS_AGREE,
)
from conformance.results.runs import ProbeResult
from conformance.scenarios import Scenario
from conformance.suite import as_scripted, echoes, nonces, twins
from conformance.suite.repeating import MODELS_DOING, REPLIES, ReplyReading, judged, lost
from conformance.suite.turns import Progress, Subject

_WORST_FIRST: Final = (Status.FAILED, Status.UNTESTED, Status.PASSED)


def compared(
    scenario: Scenario, variant: str, progress: Progress, subject: Subject, evidence: Evidence
) -> Iterator[ProbeResult]:
    """Yield what the comparisons of a case show; damage is looked at again in further replies to the same request.

    `scenario` has its placeholders, and `evidence` is that of the conversation.
    """
    scripted = evidence in (Evidence.SIMULATED, Evidence.ENGINE)
    conversation = tuple(progress.exchanges)
    filled = nonces.filled(scenario, variant)
    difference = as_scripted.difference(filled, conversation, subject.profile, evidence) if scripted else None
    if difference is not None:
        # One cause gives one failure: what differs from the script cannot be as the requests have it either.
        yield ProbeResult(AS_SCRIPTED, TITLES[AS_SCRIPTED], "", Status.FAILED, *difference)
        return
    yield from _of_results(scenario, variant, progress, subject, evidence)
    yield from _of_arguments(scenario, progress, subject, evidence)
    yield from _of_twins(scenario, progress, subject)


def most_repeats(scenario: Scenario) -> int:
    """Return how many requests of a scenario may be sent again because their replies are not as they must be.

    What a busy or failing server makes the client send again is not among them.
    """
    answering = [*nonces.answering(scenario)]
    answers = len(answering) + sum(turn.echo for turn in scenario.turns)
    answers += sum(nonces.renews(scenario, turn) for turn in answering)
    twinned = sum(turn.twin for turn in scenario.turns)
    silent = sum(bool(turn.calls and turn.thinks) for turn in scenario.turns)
    return answers * (REPLIES - 1) + twinned * (2 * REPLIES - 1 - twins.TWINS) + silent


def further_requests(scenario: Scenario, turns: int) -> int:
    """Return how many requests the comparisons of the first turns of a scenario send in any case."""
    renewed = sum(nonces.renews(scenario, turn) for turn in nonces.answering(scenario) if turn <= turns)
    return renewed + twins.TWINS * sum(turn.twin for turn in scenario.turns[:turns])


def notice(result: ProbeResult) -> str:
    """Return what a comparison that did not fail leaves open or counts, in one line; empty if it shows neither."""
    if result.name not in COMPARISONS or result.status is Status.FAILED:
        return ""
    if result.status is Status.UNTESTED:
        return f"probes/{result.name}: untested: {result.observed}"
    return (
        f"probes/{result.name}: {result.observed}"
        if MODELS_DOING in result.observed or echoes.REORDERED in result.observed
        else ""
    )


def _of_results(
    scenario: Scenario, variant: str, progress: Progress, subject: Subject, evidence: Evidence
) -> Iterator[ProbeResult]:
    found = [*nonces.answers(scenario, variant, progress.exchanges)]
    readings = []
    for each in found:
        body = progress.bodies[each.turn - 1]
        readings.append(judged(each.exchange, partial(subject.send, body), partial(nonces.read, each), evidence))
        if readings[-1].status is Status.PASSED and nonces.renews(scenario, each.turn):
            readings.append(_of_other_results(each, body, subject, evidence))
    unreached = sorted({*nonces.answering(scenario)} - {each.turn for each in found})
    readings += [ReplyReading(Status.UNTESTED, f"the answer of turn {turn} never came") for turn in unreached]
    if readings:
        yield _result(RESULTS_PAIRED, "each result with its own call", readings)


def _of_other_results(
    expected: nonces.ExpectedAnswer, body: Mapping[str, Any], subject: Subject, evidence: Evidence
) -> ReplyReading:
    """Return what the answer shows to the same request with other results."""
    other, changed = nonces.renewed(expected, body)
    try:
        exchange = subject.send(changed)
    except (InvalidDocument, Unusable) as error:
        return ReplyReading(Status.UNTESTED, f"there is no answer to other results: {lost(error)}")
    return judged(exchange, partial(subject.send, changed), partial(nonces.read, other), evidence)


def _of_arguments(
    scenario: Scenario, progress: Progress, subject: Subject, evidence: Evidence
) -> Iterator[ProbeResult]:
    readings = [
        judged(exchange, partial(subject.send, body), partial(echoes.read, turn), evidence)
        for turn, exchange, body in zip(scenario.turns, progress.exchanges, progress.bodies, strict=False)
        if turn.echo
    ]
    if readings:
        yield _result(ARGUMENTS_ECHOED, "the arguments as given", readings)


def _of_twins(scenario: Scenario, progress: Progress, subject: Subject) -> Iterator[ProbeResult]:
    readings = [
        twins.read(exchange, body, subject.send, subject.claims)
        for turn, exchange, body in zip(scenario.turns, progress.exchanges, progress.bodies, strict=False)
        if turn.twin
    ]
    if readings:
        yield _result(TWINS_AGREE, twins.AGREE, readings)


def _result(name: str, expected: str, readings: Sequence[ReplyReading]) -> ProbeResult:
    """Return the result of a comparison: the worst of its readings, where counted damage is worse than none."""
    worst = min(readings, key=lambda each: (_WORST_FIRST.index(each.status), MODELS_DOING not in each.words))
    return ProbeResult(name, TITLES[name], "", worst.status, expected, worst.words)
