"""One reply shows damage, and several show whose it is: the model's if it comes and goes, the host's if it stays."""

from collections.abc import Callable
from typing import Final, NamedTuple

from conformance.errors import InvalidDocument, Unusable
from conformance.results import Evidence, Status
from conformance.wire.exchange import Exchange

REPLIES: Final = 3
"""How many replies to one request tell the model's damage from the host's."""

MODELS_DOING: Final = "which is the model's doing"
"""What is said of damage in some of the replies."""

_SCRIPTED: Final = (Evidence.SIMULATED, Evidence.ENGINE)
"""Evidence from models that say the same every time."""


class ReplyReading(NamedTuple):
    """What one reply shows: passed, failed or untested, and why in words."""

    status: Status
    words: str


def judged(
    exchange: Exchange,
    again: Callable[[], Exchange],
    read: Callable[[Exchange], ReplyReading],
    evidence: Evidence,
) -> ReplyReading:
    """Return what the replies to one request show together; the request is sent again unless its reply passes.

    `again` sends the request of the exchange once more. Damage in each of `REPLIES` replies is the host's and fails.
    Damage in some is the model's, and passes with its count. A model with a script needs one reply. Where no further
    reply can be had, damage is untested.
    """
    readings = [read(exchange)]
    lost = ""
    while not lost and len(readings) < REPLIES and readings[-1].status is not Status.PASSED:
        try:
            readings.append(read(again()))
        except (InvalidDocument, Unusable) as error:
            lost = "it was not recorded" if isinstance(error, InvalidDocument) else str(error)
    return _together(readings, lost, evidence)


def _together(readings: list[ReplyReading], lost: str, evidence: Evidence) -> ReplyReading:
    passed, failed = ([each for each in readings if each.status is status] for status in (Status.PASSED, Status.FAILED))
    if not failed:
        return (passed or readings)[-1]
    count = f"in {len(failed)} of {len(readings)} replies: {failed[0].words}"
    if passed:
        return ReplyReading(Status.PASSED, f"{passed[0].words}; {count}, {MODELS_DOING}")
    if len(failed) == REPLIES or (evidence in _SCRIPTED and len(failed) == len(readings)):
        return ReplyReading(Status.FAILED, count)
    why = f"; {REPLIES} replies would show whether it is the host's doing, and there is no further one: {lost}"
    return ReplyReading(Status.UNTESTED, count + (why if lost else "; the others do not show it"))
