"""Where loop facts look."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from conformance.adapters.loop import Parts
from conformance.adapters.loop._session import Asked, Batch, Played, Prompt
from conformance.documents.pointer import Place
from conformance.scenarios import Scenario
from conformance.wire.exchange import Exchange

MAY_COME_AGAIN: Final = (408, 409, 425, 429)
"""The statuses below 500 that say nothing against the request itself, so that it may be sent again."""


class Refused(NamedTuple):
    """A request that was refused for what it is."""

    place: Place
    number: int
    exchange: Exchange


class Broken(NamedTuple):
    """A reply with status 200 that broke off or told of an error, and the prompt it belongs to (None: to none)."""

    place: Place
    number: int
    prompt: Prompt | None


def _prompts(played: Played) -> Sequence[Prompt]:
    """Return the prompts that a final text is to be had for: those before the first broken reply."""
    if not _tells_texts(played):
        return ()
    first = min(played.broken, default=len(played.conversation))
    kept = []
    for prompt in played.prompts:
        if any(number >= first for number in prompt.asked) or (not prompt.asked and played.broken):
            break
        kept.append(prompt)
    return [prompt for prompt in kept if prompt.expected.strip()]


def _answered(played: Played) -> Sequence[Batch]:
    return [batch for batch in played.batches if batch.slots]


def _failing(played: Played) -> Sequence[Batch]:
    return [batch for batch in played.batches if any(each["fails"] for each in batch.behaviours)]


def _denied(played: Played) -> Sequence[Batch]:
    return [batch for batch in played.batches if any(each["denied"] for each in batch.behaviours)]


def _gated(played: Played) -> Sequence[Batch]:
    return [batch for batch in played.batches if len(batch.calls) > 1] if _tells_gates(played) else ()


def _tells_texts(played: Played) -> bool:
    return played.answer.texts is not None


def _tells_gates(played: Played) -> bool:
    return any(event.event == "gate" for event in played.answer.events)


def _refused(played: Played) -> Sequence[Refused]:
    return [
        Refused((number, "request"), number, exchange)
        for number, exchange in enumerate(played.conversation)
        if 400 <= (exchange.status or 200) < 500 and exchange.status not in MAY_COME_AGAIN
    ]


def _broken(played: Played) -> Sequence[Broken]:
    owners = {number: prompt for prompt in played.prompts for number in prompt.asked}
    return [Broken((number, "response"), number, owners.get(number)) for number in sorted(played.broken)]


def _asked(played: Played) -> Sequence[Asked]:
    return [each for each in played.asked if (played.conversation[each.number].status or 200) < 400]


def _continued(played: Played) -> Sequence[Asked]:
    """Return the requests of all prompts but the first; a broken reply before them leaves nothing to go on from."""
    first = min(played.broken, default=len(played.conversation))
    later = {number for prompt in played.prompts if prompt.number for number in prompt.asked if number < first}
    return [each for each in _asked(played) if each.number in later]


def _goes_on(scenario: Scenario) -> bool:
    return len(scenario.prompts) > 1 and _answers(scenario)


def _answers(scenario: Scenario) -> bool:
    return not _breaks_off(scenario)


def _breaks_off(scenario: Scenario) -> bool:
    return any(not _BROKEN.isdisjoint(turn.raw) for turn in scenario.turns)


def _fails(scenario: Scenario) -> bool:
    return any(turn.fails for turn in scenario.turns)


def _denies(scenario: Scenario) -> bool:
    return any(turn.denied for turn in scenario.turns)


_BROKEN: Final = frozenset({"cut", "error-inside"})
"""The ways in which a stream misbehaves that leave no answer."""

prompts: Final = Parts("prompt with a final text in the script", _prompts, _tells_texts, _answers)
batches: Final = Parts("reply with calls that a later request carries", _answered)
failing: Final = Parts("reply with a call that fails", _failing, is_due=_fails)
denied: Final = Parts("reply with a call that is denied", _denied, is_due=_denies)
gated: Final = Parts("reply with several calls, of a loop that shows its gate", _gated, _tells_gates)
refused: Final = Parts("request that was refused", _refused)
broken: Final = Parts("reply that broke off or told of an error", _broken, is_due=_breaks_off)
continued: Final = Parts("request of a later prompt", _continued, is_due=_goes_on)
asked: Final = Parts("request that was accepted", _asked)
