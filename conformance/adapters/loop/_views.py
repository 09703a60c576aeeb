"""Views: where loop facts look."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from conformance.adapters.loop import LoopView
from conformance.adapters.loop._session import Batch, ClientSession, Prompt, SessionRequest
from conformance.documents.pointer import Place
from conformance.scenarios import Scenario
from conformance.simulator.repeats import TRUNCATING
from conformance.wire.exchange import Exchange

RETRYABLE: Final = (408, 409, 425, 429)
"""The statuses below 500 that do not reject the request itself, so that it may be sent again."""


class RejectedRequest(NamedTuple):
    """A request that was rejected because of its content."""

    place: Place
    number: int
    exchange: Exchange


class IncompleteReply(NamedTuple):
    """A reply with status 200 that is truncated or contains an error, and the prompt that it belongs to, if any."""

    place: Place
    number: int
    prompt: Prompt | None


def _prompts(session: ClientSession) -> Sequence[Prompt]:
    """Return the prompts that must end with a final text: those before the first incomplete reply."""
    if not _reports_texts(session):
        return ()
    first = min(session.incomplete, default=len(session.conversation))
    texts = session.answer.texts or ()
    found = []
    for prompt in session.prompts:
        if any(number >= first for number in prompt.requests) or (not prompt.requests and session.incomplete):
            break
        if prompt.number >= len(texts) and _was_refused_for_good(session):
            break
        found.append(prompt)
    return [prompt for prompt in found if prompt.expected.strip()]


def _was_refused_for_good(session: ClientSession) -> bool:
    """Return whether the script refuses a request as too long, and the client reports an error after that."""
    return _refuses(session.scenario) and session.answer.error is not None and bool(_rejected(session))


def _resent(session: ClientSession) -> Sequence[Batch]:
    return [batch for batch in session.batches if batch.slots]


def _failing(session: ClientSession) -> Sequence[Batch]:
    return [batch for batch in session.batches if any(behaviour["fails"] for behaviour in batch.behaviours)]


def _denied(session: ClientSession) -> Sequence[Batch]:
    return [batch for batch in session.batches if any(behaviour["denied"] for behaviour in batch.behaviours)]


def _gated(session: ClientSession) -> Sequence[Batch]:
    return [batch for batch in session.batches if len(batch.calls) > 1] if _reports_gates(session) else ()


def _reports_texts(session: ClientSession) -> bool:
    return session.answer.texts is not None


def _reports_gates(session: ClientSession) -> bool:
    return any(event.event == "gate" for event in session.answer.events)


def _rejected(session: ClientSession) -> Sequence[RejectedRequest]:
    return [
        RejectedRequest((number, "request"), number, exchange)
        for number, exchange in enumerate(session.conversation)
        if 400 <= (exchange.status or 200) < 500 and exchange.status not in RETRYABLE
    ]


def _incomplete(session: ClientSession) -> Sequence[IncompleteReply]:
    owners = {number: prompt for prompt in session.prompts for number in prompt.requests}
    return [IncompleteReply((number, "response"), number, owners.get(number)) for number in sorted(session.incomplete)]


def _accepted(session: ClientSession) -> Sequence[SessionRequest]:
    return [request for request in session.requests if (session.conversation[request.number].status or 200) < 400]


def _later(session: ClientSession) -> Sequence[SessionRequest]:
    """Return the requests of all prompts but the first; an incomplete reply before them leaves no history to send."""
    first = min(session.incomplete, default=len(session.conversation))
    later = {number for prompt in session.prompts if prompt.number for number in prompt.requests if number < first}
    return [request for request in _accepted(session) if request.number in later]


def _first(session: ClientSession) -> Sequence[SessionRequest]:
    """Return the first request of a session that begins with a history."""
    return _accepted(session)[:1] if session.scenario.history else ()


def _has_history(scenario: Scenario) -> bool:
    return bool(scenario.history)


def _has_later_prompts(scenario: Scenario) -> bool:
    return len(scenario.asked) > 1 and _is_complete(scenario)


def _is_complete(scenario: Scenario) -> bool:
    return not _truncates(scenario) and not _refuses(scenario)


def _refuses(scenario: Scenario) -> bool:
    return any("context-length" in turn.first for turn in scenario.turns)


def _truncates(scenario: Scenario) -> bool:
    return any(not TRUNCATING.isdisjoint((*turn.raw, *turn.first)) for turn in scenario.turns)


def _fails(scenario: Scenario) -> bool:
    return any(turn.fails for turn in scenario.turns)


def _denies(scenario: Scenario) -> bool:
    return any(turn.denied for turn in scenario.turns)


prompts: Final = LoopView("prompt with a final text in the script", _prompts, _reports_texts, _is_complete)
resent_batches: Final = LoopView("reply with calls that a later request includes", _resent)
failing_batches: Final = LoopView("reply with a call that fails", _failing, is_guaranteed=_fails)
denied_batches: Final = LoopView("reply with a call that is denied", _denied, is_guaranteed=_denies)
gated_batches: Final = LoopView("reply with several calls, of a loop that reports its gate", _gated, _reports_gates)
rejected_requests: Final = LoopView("rejected request", _rejected)
incomplete_replies: Final = LoopView(
    "reply that is truncated or contains an error", _incomplete, is_guaranteed=_truncates
)
later_requests: Final = LoopView("request of a later prompt", _later, is_guaranteed=_has_later_prompts)
first_requests: Final = LoopView("first request after a given history", _first, is_guaranteed=_has_history)
accepted_requests: Final = LoopView("accepted request", _accepted)
