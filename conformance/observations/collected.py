"""One value for each claim, from what many exchanges show of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from conformance import observations
from conformance.errors import ConformanceError
from conformance.observations.id_patterns import pattern
from conformance.observations.sights import Sight, digest, kinds
from conformance.profiles import Claims, check_claim
from conformance.wire.exchange import Conversation
from conformance.wire.index import Index

HIGH: Final = "high"
MEDIUM: Final = "medium"
LOW: Final = "low"

_LISTS: Final = frozenset({"words", "blanks"})
"""The kinds whose value is a list, of everything that was seen."""

_SEVERAL: Final = frozenset(
    {
        "after-finish", "again", "blank", "call-index", "call-shape", "error-shape", "field", "json-type", "reasons",
        "role", "status", "usage-place",
    }
)  # fmt: skip
"""The kinds whose value may be a list, if no single one fits all that was seen."""

_ELSEWHERE: Final = frozenset(
    {
        "error.extra-fields", "reasoning.request-field", "request.extra-fields", "request.ignored-fields",
        "request.known-message-fields", "request.known-part-types", "request.max-tokens-fields", "thinking.efforts",
        "thinking.mode", "thinking.off", "thinking.on", "tools.choices",
    }
)  # fmt: skip
"""The claims that other modules derive, or that what this project sends cannot show."""

_IDS: Final = ("ids.format", "ids.format-in-stream", "reply.id-format")
_STREAMED: Final = "ids.format-in-stream"
_VAGUE: Final = ("turn", "model")
"""Values that come last if exchanges fit several, because they say less."""

_AT_WORST: Final = {
    "reply.call-index": "sometimes",
    "reply.call-type": "sometimes",
    "stream.nulls": "explicit",
    "usage.total": "larger",
    "stream.calls-a-delta": "several",
}
"""Values that allow for all others, if exchanges show different ones."""

_PRECISE: Final = frozenset({"error-shape"})
"""The kinds of which exchanges fit several values, of which the first says the most."""


class ObservedClaim(NamedTuple):
    """What exchanges show of one claim: its value, the digest of the first that shows it, its confidence, a note."""

    value: Any
    digest: str
    confidence: str = HIGH
    note: str = ""


ObservedClaims: TypeAlias = dict[str, ObservedClaim]
"""What exchanges show, by claim."""


class Seen(NamedTuple):
    """A sight, and the digest of the exchange that shows it."""

    sight: Sight
    digest: str


def values(observed: Mapping[str, ObservedClaim]) -> dict[str, Any]:
    """Return the values alone."""
    return {name: each.value for name, each in observed.items()}


def collect(conversations: Iterable[Conversation], claims: Claims) -> Mapping[str, tuple[Seen, ...]]:
    """Return what the last exchange of each conversation shows, by claim."""
    found: dict[str, list[Seen]] = {}
    for conversation in conversations:
        number = len(conversation) - 1
        shown = observations.of(conversation, number, Index(conversation), claims)
        name = digest(conversation[-1])
        for claim, sights in shown.items():
            found.setdefault(claim, []).extend([Seen(sight, name) for sight in sights])
    return {claim: tuple(each) for claim, each in found.items()}


def combined(seen: Mapping[str, Sequence[Seen]]) -> ObservedClaims:
    """Return the claims of which what was seen gives one value, which a profile may have."""
    return {
        name: found
        for name, sights in sorted(seen.items())
        if name not in _ELSEWHERE
        and name not in _IDS
        and (found := _value(name, sights)) is not None
        and _is_claimable(name, found.value)
    }


def _is_claimable(name: str, value: Any) -> bool:
    """Return False for a value that no profile can have, such as a type of JSON that errors never have."""
    try:
        check_claim(name, value)
    except ConformanceError:
        return False
    return True


def _value(name: str, seen: Sequence[Seen]) -> ObservedClaim | None:
    kind = kinds()[name]
    certain = [each for each in seen if not each.sight.partial]
    if kind in _LISTS:
        return _listed(seen, is_certain=bool(certain))
    if not certain:
        return None
    return _single(name, kind, certain)


def _listed(seen: Sequence[Seen], *, is_certain: bool) -> ObservedClaim | None:
    # Of several values that fit, the first says the most; an empty list says that there was nothing to list.
    listed = [value for each in seen for value in each.sight.values[:1] if value != []]
    return ObservedClaim(sorted(dict.fromkeys(listed), key=str), seen[0].digest) if listed or is_certain else None


def _single(name: str, kind: str, certain: Sequence[Seen]) -> ObservedClaim | None:
    """Return the value that fits all that was seen, or else the one that allows for the most."""
    common = [value for value in certain[0].sight.values if all(value in each.sight.values for each in certain)]
    # The sort is stable: precise values keep their order before the vague ones.
    common.sort(key=lambda value: value in _VAGUE)
    if common and kind not in _PRECISE:
        return ObservedClaim(common[0], certain[0].digest, MEDIUM if len(common) > 1 else HIGH)
    if name in _AT_WORST:
        worst = _AT_WORST[name]
        first = next((each.digest for each in certain if worst in each.sight.values), certain[0].digest)
        return ObservedClaim(worst, first, MEDIUM)
    if kind in _SEVERAL:
        several = list(dict.fromkeys(each.sight.values[0] for each in certain))
        return ObservedClaim(several[0] if len(several) == 1 else several, certain[0].digest)
    if kind == "flag":
        # One exception disproves uniqueness, and one example proves everything else that may happen.
        worse = not name.startswith("ids.unique")
        return ObservedClaim(worse, next(each.digest for each in certain if each.sight.values == (worse,)))
    return None


def id_formats(seen: Mapping[str, Sequence[Seen]]) -> ObservedClaims:
    """Return the formats of the ids that replies have: of their own, and of tool calls, also in streams."""
    samples = {
        claim: [(each.sight.values[0], each.sight.function) for each in seen[claim] if each.sight.values[0]]
        for claim in _IDS
        if claim in seen
    }
    claims = {
        claim: ObservedClaim(pattern(each), seen[claim][0].digest, MEDIUM) for claim, each in samples.items() if each
    }
    plain, streamed = claims.get("ids.format"), claims.get(_STREAMED)
    if plain and streamed and plain.value == streamed.value:
        del claims[_STREAMED]
        claims["ids.format"] = plain._replace(value=pattern([*samples["ids.format"], *samples[_STREAMED]]))
    elif streamed and not plain:
        claims["ids.format"] = claims.pop(_STREAMED)
    return claims
