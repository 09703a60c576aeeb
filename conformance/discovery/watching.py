"""What an endpoint shows today beside what it showed when it was recorded, and beside the claims of its profile."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from conformance.discovery.exploring import Explored, explore
from conformance.discovery.interview import Interview
from conformance.discovery.shipped import shown
from conformance.discovery.verdicts import claim_of, verdicts
from conformance.discovery.wires import bodies, has_counterpart
from conformance.observations.collected import ObservedClaims, collect, combined, id_formats
from conformance.observations.comparing import is_change
from conformance.observations.sights import digest
from conformance.profiles import UNKNOWN, Claim, Profile
from conformance.wire.exchange import Conversation, Exchange
from conformance.wires import translate

_OF_THE_MODEL: Final = ("ids.numbering", "reply.id-format")
"""Claims that one model or its luck decides, so that a difference shows no change of the wire."""

_OF_THE_NAME: Final = "reply.model"
"""The claim that only a request with an alias for a model's name shows, which traffic need not hold."""


class Observed(NamedTuple):
    """What an endpoint showed: claims, the exchanges by digest, and why scenarios ended early, by case.

    `as_claimed`: the claims about deviations to which every answer was the one that the profile predicts.
    """

    claims: ObservedClaims
    exchanges: Mapping[str, Exchange]
    as_claimed: frozenset[str]
    ended: Mapping[str, str]


class Drift(NamedTuple):
    """One claim of which an endpoint shows another value than before, or than is claimed.

    `recorded` is None if nothing was recorded, `claimed` None if the profile makes no claim. `before` is the exchange
    that showed the recorded value; None if there is none.
    """

    claim: str
    claimed: Claim | None
    recorded: Any
    now: Any
    before: Exchange | None
    after: Exchange | None

    def to_json(self) -> dict[str, Any]:
        """Return the change as a JSON object, with both exchanges."""
        return {
            "claim": self.claim,
            "claimed": None if self.claimed is None else self.claimed.value,
            "claimed_since": "" if self.claimed is None else self.claimed.since,
            "recorded": self.recorded,
            "now": self.now,
            "before": _exchange(self.before),
            "after": _exchange(self.after),
        }


def _exchange(exchange: Exchange | None) -> dict[str, Any] | None:
    if exchange is None:
        return None
    request, response = bodies(exchange)
    return {"request": request, "status": exchange.status, "response": response}


def observe(interview: Interview, profile: Profile, model: str) -> Observed:
    """Play every case by the claims of a profile, and return what the answers show."""
    explored = explore(interview, profile, model)
    claims = _claims(explored, profile, model)
    return Observed(
        claims,
        {digest(each): each for each in interview.exchanges},
        _as_claimed(explored, profile, model),
        explored.ended,
    )


def observe_traffic(conversations: Iterable[Conversation], profile: Profile, model: str) -> Observed:
    """Return what recorded traffic with a model shows by itself: no request of it was made to show anything."""
    values = profile.at(model, "")
    sessions = [_on_wire(conversation, profile.wire) for conversation in conversations]
    parts = [each[: number + 1] for each in sessions for number, one in enumerate(each) if one.model == model]
    accepted = [part for part in parts if part[-1].status in (None, 200)]
    rejected = [part for part in parts if part[-1].status not in (None, 200)]
    seen = collect(accepted, values)
    claims = shown(combined(seen) | id_formats(seen) | combined(collect(rejected, values)), profile.wire)
    watched = {name: each for name, each in claims.items() if _is_watched(name) and name != _OF_THE_NAME}
    return Observed(watched, {digest(part[-1]): part[-1] for part in parts}, frozenset(), {})


def _on_wire(conversation: Conversation, wire: str) -> Conversation:
    """Return the exchanges of a conversation that were on a wire, translated."""
    return tuple([exchange for exchange in translate(conversation) if exchange.protocol == wire])


def _as_claimed(explored: Explored, profile: Profile, model: str) -> frozenset[str]:
    values = profile.at(model, "")
    names = {True: set[str](), False: set[str]()}
    for answer in filter(lambda each: each.is_sent, explored.answers):
        names[answer.as_claimed].add(claim_of(answer, values))
    return frozenset(names[True] - names[False])


def _claims(explored: Explored, profile: Profile, model: str) -> ObservedClaims:
    values = profile.at(model, "")
    accepted = [each for each in explored.conversations if each[-1].status == 200]
    played = [each for each in explored.played if each[-1].status == 200]
    rejected = [each for each in explored.conversations if each[-1].status != 200]
    claims = combined(collect(played, values)) | combined(collect(rejected, values))
    claims |= id_formats(collect(accepted, values))
    claims = shown(claims, profile.wire) | verdicts(explored.answers, values)[0]
    return {name: each for name, each in claims.items() if _is_watched(name) and has_counterpart(name, profile.wire)}


def _is_watched(name: str) -> bool:
    return name not in _OF_THE_MODEL


def drifts(profile: Profile, model: str, recorded: Observed | None, now: Observed) -> tuple[Drift, ...]:
    """Return the claims that changed since the recording, or that differ from the profile where nothing was recorded.

    A value that the profile's claim allows for is not a change. Neither is what was not seen today.
    """
    found = []
    for name, each in sorted(now.claims.items()):
        claim = profile.claim(name, model, "")
        claimed = None if claim is None else claim.value
        before = recorded.claims.get(name) if recorded is not None else None
        recorded_value = None if before is None else before.value
        if name in now.as_claimed or not is_change(name, each.value, recorded_value, claimed):
            continue
        known = claim if claimed != UNKNOWN else None
        then = recorded.exchanges.get(before.digest) if recorded is not None and before is not None else None
        found.append(Drift(name, known, recorded_value, each.value, then, now.exchanges.get(each.digest)))
    return tuple(found)
