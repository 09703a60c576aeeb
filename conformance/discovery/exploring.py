"""Plays every scenario with its probes against an endpoint, and keeps what it answers."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from conformance import scenarios
from conformance.discovery.interview import Interview
from conformance.discovery.wires import is_sent
from conformance.profiles import Claims, Profile
from conformance.results import Evidence, Status
from conformance.scenarios import Probe, Scenario
from conformance.suite.play import probed
from conformance.suite.probes import EXCHANGED, UNSEEN
from conformance.suite.turns import Progress, Subject, converse
from conformance.wire.exchange import Conversation, Exchange

_ACCEPTED: Final = 200
_REJECTED: Final = 400
_REFUSED: Final[Mapping[str, Any]] = {"status": 400}
_ADAPTATIONS: Final[tuple[Mapping[str, Any], ...]] = (
    {"reasoning.request-field": "reasoning"},
    {"reasoning.request-field": "reasoning_content"},
    {"reasoning.request-field": "none"},
    {"reasoning.on-earlier-tool-turn": _REFUSED},
    {"reasoning.omitted-on-plain-turn": _REFUSED},
    {"content.null-on-tool-turn": _REFUSED},
    {"content.empty-on-tool-turn": _REFUSED},
    {"request.several-calls": _REFUSED},
    {"results.name-missing": _REFUSED},
)
"""Claims under which a history is sent in another form, for an endpoint that rejects the usual one."""


_EFFECTS: Final[Mapping[str, str]] = {EXCHANGED: "damaged", UNSEEN: "ignored"}
"""What an accepted request may do all the same, as a claim, by the words of the result."""


class ProbeAnswer(NamedTuple):
    """The answer to a probe of a case: the exchanges before it, its own, what it shows beside its status, as a claim.

    `as_claimed`: the answer is the one that the claims predict. `is_sent`: the wire has a counterpart for it.
    """

    case: str
    probe: Probe
    before: Conversation
    exchange: Exchange
    effect: str
    as_claimed: bool
    is_sent: bool


class Explored(NamedTuple):
    """What an endpoint answered to the scenarios.

    `conversations` end with each exchange in turn; `played` are those of the scenarios alone, without probes.
    `ended`: why scenarios did not reach their end, by case.
    `adapted`: the claims without which an endpoint rejected the history.
    """

    conversations: tuple[Conversation, ...]
    played: tuple[Conversation, ...]
    answers: tuple[ProbeAnswer, ...]
    ended: Mapping[str, str]
    adapted: Claims


def all_cases() -> Iterator[tuple[Scenario, str]]:
    """Yield every scenario that shows claims, in each of its variants.

    Those for providers alone compare replies with requests, and no claim says what comes of that.
    """
    for scenario in map(scenarios.load, scenarios.names()):
        for variant in scenario.variants if not (scenario.for_clients or scenario.for_providers) else ():
            yield scenario, variant


def explore(interview: Interview, profile: Profile, model: str) -> Explored:
    """Play every case that the claims of a profile do not rule out, with its probes."""
    played: list[Conversation] = []
    probed_ones: list[Conversation] = []
    answers: list[ProbeAnswer] = []
    ended: dict[str, str] = {}
    adapted: dict[str, Any] = {}
    for scenario, variant in interview.played(all_cases()):
        if scenario.unmet(profile.at(model, "")) is not None:
            continue
        subject = Subject(profile.with_claims(adapted), model, interview.send, Evidence.LIVE)
        progress, further = _played(interview, scenario, variant, subject)
        adapted |= further
        subject = replace(subject, profile=profile.with_claims(adapted))
        exchanges = tuple(progress.exchanges)
        played += [exchanges[: at + 1] for at in range(len(exchanges))]
        if progress.note:
            ended[f"{scenario.name}.{variant}"] = progress.note
        found = list(_answers(scenario, variant, progress, subject))
        answers += found
        probed_ones += [(*each.before, each.exchange) for each in found]
    return Explored((*played, *probed_ones), tuple(played), tuple(answers), ended, adapted)


def _played(interview: Interview, scenario: Scenario, variant: str, subject: Subject) -> tuple[Progress, Claims]:
    """Play a scenario; if a later request of it is rejected, with the history in each other form until one passes."""
    progress = converse(scenario, variant, subject)
    if progress.bodies and (progress.exchanges[-1].status or 0) >= _REJECTED and interview.again(progress.bodies[-1]):
        progress = converse(scenario, variant, subject)
    rejected = len(progress.exchanges) > 1 and (progress.exchanges[-1].status or 0) >= _REJECTED
    for further in _ADAPTATIONS if rejected else ():
        again = converse(scenario, variant, replace(subject, profile=subject.profile.with_claims(further)))
        if len(again.exchanges) > len(progress.exchanges) or (not again.note and progress.note):
            return again, further
    return progress, {}


def _answers(scenario: Scenario, variant: str, progress: Progress, subject: Subject) -> Iterator[ProbeAnswer]:
    for probe in scenario.probes:
        sent: list[Exchange] = []
        bodies: list[Mapping[str, Any]] = []

        def send(body: Mapping[str, Any], sent: list[Exchange] = sent, bodies: list[Any] = bodies) -> Exchange:
            exchange = subject.send(body)
            sent.append(exchange)
            bodies.append(body)
            return exchange

        # If the unchanged request is refused, a refusal of a changed one shows nothing of the change.
        if probe.at > len(progress.exchanges) or progress.exchanges[probe.at - 1].status != _ACCEPTED:
            continue
        result = probed(probe, progress, replace(subject, send=send))
        if sent and result is not None and not (result.status is Status.UNTESTED and not sent):
            history = tuple(progress.exchanges[: probe.at])
            yield ProbeAnswer(
                f"{scenario.name}.{variant}",
                probe,
                history[:-1],
                sent[-1],
                next((value for words, value in _EFFECTS.items() if result.observed.endswith(words)), ""),
                result.status is Status.PASSED,
                probe.breaks is None or is_sent(probe.breaks, bodies[-1], history, sent[-1]),
            )
