"""Comparisons: what the replies of a case must say, as far as the script or the requests fix it.

Each is a result of the case beside its probes. What the replies do not show is untested, with the reason.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from conformance.results import Evidence, Status
from conformance.results.runs import ProbeResult
from conformance.scenarios import Scenario
from conformance.suite import as_scripted, echoes, nonces, twins
from conformance.suite.repeating import MODELS_DOING, REPLIES, ReplyReading, judged
from conformance.suite.turns import Progress, Subject
from conformance.wire.exchange import Exchange

AS_SCRIPTED: Final = "as-scripted"
"""The check that replies say what the script says; it is only in the results if it fails."""

RESULTS_PAIRED: Final = "results-paired"
"""The check that an answer contains each result, with its own call."""

ARGUMENTS_ECHOED: Final = "arguments-echoed"
"""The check that a call has the arguments that the user's message gives word for word."""

TWINS_AGREE: Final = "twins-agree"
"""The check that replies to one request, plain and streamed, agree in what is not the model's choice."""

_TITLES: Final = {
    AS_SCRIPTED: "Replies say what the script says, to the character.",
    RESULTS_PAIRED: "The answer contains each result, with its own call.",
    ARGUMENTS_ECHOED: "The call has the arguments that the message gives word for word.",
    TWINS_AGREE: "The replies to one request, plain and streamed, agree in what is not the model's choice.",
}

COMPARISONS: Final = tuple(_TITLES)

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
        yield ProbeResult(AS_SCRIPTED, _TITLES[AS_SCRIPTED], "", Status.FAILED, *difference)
        return
    yield from _of_results(scenario, variant, progress, subject, evidence)
    yield from _of_arguments(scenario, progress, subject, evidence)
    yield from _of_twins(scenario, progress, subject)


def most_repeats(scenario: Scenario) -> int:
    """Return how many requests of a scenario may be sent again because their replies are not as they must be.

    What a busy or failing server makes the client send again is not among them.
    """
    answers = len([*nonces.answering(scenario)]) + sum(turn.echo for turn in scenario.turns)
    twinned = sum(turn.twin for turn in scenario.turns)
    silent = sum(bool(turn.calls and turn.thinks) for turn in scenario.turns)
    return answers * (REPLIES - 1) + twinned * (2 * REPLIES - 1 - twins.TWINS) + silent


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
    readings = [
        judged(each.exchange, _again(progress, each.turn, subject), partial(nonces.read, each), evidence)
        for each in found
    ]
    unreached = sorted({*nonces.answering(scenario)} - {each.turn for each in found})
    readings += [ReplyReading(Status.UNTESTED, f"the answer of turn {turn} never came") for turn in unreached]
    if readings:
        yield _result(RESULTS_PAIRED, "each result with its own call", readings)


def _of_arguments(
    scenario: Scenario, progress: Progress, subject: Subject, evidence: Evidence
) -> Iterator[ProbeResult]:
    readings = [
        judged(exchange, _again(progress, number, subject), partial(echoes.read, turn), evidence)
        for number, (turn, exchange) in enumerate(zip(scenario.turns, progress.exchanges, strict=False), 1)
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


def _again(progress: Progress, turn: int, subject: Subject) -> Callable[[], Exchange]:
    """Return what sends the request of a turn once more, as it was sent."""
    return partial(subject.send, progress.bodies[turn - 1])


def _result(name: str, expected: str, readings: Sequence[ReplyReading]) -> ProbeResult:
    """Return the result of a comparison, which is the worst of its readings."""
    worst = min(readings, key=lambda each: _WORST_FIRST.index(each.status))
    return ProbeResult(name, _TITLES[name], "", worst.status, expected, worst.words)
