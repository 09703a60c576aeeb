"""One value for each claim, from what all exchanges of a discovery show of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from conformance.discovery.found import MEDIUM, Claims, Found
from conformance.discovery.patterns import pattern
from conformance.evidence import observed
from conformance.evidence.observed import Sight
from conformance.evidence.reading import digest
from conformance.evidence.reads import kinds
from conformance.profiles import Claims as Values
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index

_LISTS: Final = frozenset({"words", "blanks"})
"""The kinds whose value is a list, of everything that was seen."""

_SEVERAL: Final = frozenset(
    {"blank", "field", "reasons", "usage-place", "call-index", "call-shape", "role", "again", "after-finish", "status"}
)
"""The kinds whose value may be a list, if no single one fits all that was seen."""

_ELSEWHERE: Final = frozenset(
    {
        "error.extra-fields", "reasoning.request-field", "request.extra-fields", "request.ignored-fields",
        "request.known-message-fields", "request.known-part-types", "request.max-tokens-fields", "thinking.efforts",
        "thinking.mode", "thinking.off", "thinking.on", "tools.choices",
    }
)  # fmt: skip
"""The claims that other modules derive, or that what this project sends cannot show."""

_OF_A_CALL: Final = ("function", "id", "index", "type")

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


class Seen(NamedTuple):
    """A sight, and the digest of the exchange that shows it."""

    sight: Sight
    digest: str


def collect(conversations: Iterable[Conversation], claims: Values) -> Mapping[str, tuple[Seen, ...]]:
    """Return what the last exchange of each conversation shows, by claim."""
    found: dict[str, list[Seen]] = {}
    for conversation in conversations:
        number = len(conversation) - 1
        shown = observed.of(conversation, number, Index(conversation), claims)
        name = digest(conversation[-1])
        for claim, sights in shown.items():
            found.setdefault(claim, []).extend([Seen(sight, name) for sight in sights])
    return {claim: tuple(each) for claim, each in found.items()}


def combined(seen: Mapping[str, Sequence[Seen]]) -> Claims:
    """Return the claims of which what was seen gives one value."""
    return {
        name: found
        for name, sights in sorted(seen.items())
        if name not in _ELSEWHERE and name not in _IDS and (found := _value(name, sights)) is not None
    }


def _value(name: str, seen: Sequence[Seen]) -> Found | None:
    kind = kinds()[name]
    certain = [each for each in seen if not each.sight.partial]
    if kind in _LISTS:
        return _listed(name, seen, is_certain=bool(certain))
    if not certain:
        return None
    return _single(name, kind, certain)


def _listed(name: str, seen: Sequence[Seen], *, is_certain: bool) -> Found | None:
    listed = [value for each in seen for value in each.sight.values[:1] if value != []]
    if name == "reply.call-fields":
        listed = [each for each in listed if each not in _OF_A_CALL]
    return Found(sorted(dict.fromkeys(listed), key=str), seen[0].digest) if listed or is_certain else None


def _single(name: str, kind: str, certain: Sequence[Seen]) -> Found | None:
    """Return the value that fits all that was seen, or else the one that allows for the most."""
    common = [value for value in certain[0].sight.values if all(value in each.sight.values for each in certain)]
    common.sort(key=lambda value: value in _VAGUE)
    if common:
        return Found(common[0], certain[0].digest, MEDIUM if len(common) > 1 else "high")
    if name in _AT_WORST:
        worst = _AT_WORST[name]
        return Found(worst, next((e.digest for e in certain if worst in e.sight.values), certain[0].digest), MEDIUM)
    if kind in _SEVERAL:
        return Found(list(dict.fromkeys(each.sight.values[0] for each in certain)), certain[0].digest)
    if kind == "flag":
        worse = not name.startswith("ids.unique")
        return Found(worse, next(each.digest for each in certain if each.sight.values == (worse,)))
    return None


def id_formats(conversations: Iterable[Conversation]) -> Claims:
    """Return the formats of the ids that replies have: of their own, and of tool calls, also in streams."""
    found: dict[str, list[tuple[str, str]]] = {}
    first: dict[str, str] = {}
    for conversation in conversations:
        exchange = conversation[-1]
        for claim, identifier, name in _ids(exchange):
            found.setdefault(claim, []).append((identifier, name))
            first.setdefault(claim, digest(exchange))
    claims = {claim: Found(pattern(samples), first[claim], MEDIUM) for claim, samples in found.items()}
    if claims.get(_STREAMED) and claims.get("ids.format") and _is_one(found):
        both = pattern([*found["ids.format"], *found[_STREAMED]])
        del claims[_STREAMED]
        claims["ids.format"] = claims["ids.format"]._replace(value=both)
    elif _STREAMED in claims and "ids.format" not in claims:
        claims["ids.format"] = claims.pop(_STREAMED)
    return claims


def _is_one(found: Mapping[str, list[tuple[str, str]]]) -> bool:
    """Return True if ids have the same format in streams as elsewhere."""
    return pattern(found["ids.format"]) == pattern(found[_STREAMED])


def _ids(exchange: Exchange) -> Iterator[tuple[str, str, str]]:
    index = Index((exchange,))
    for reply in index.replies:
        for call in reply.calls:
            if isinstance(call.id, str) and call.id:
                yield _STREAMED if reply.streamed else "ids.format", call.id, str(call.name or "")
    body = exchange.response
    if isinstance(body, dict) and "choices" in body and isinstance(body.get("id"), str) and body["id"]:
        yield "reply.id-format", body["id"], ""
    for stream in index.streams:
        for identifier in {chunk.get("id") for chunk in stream.value.chunks if isinstance(chunk, dict)}:
            if isinstance(identifier, str) and identifier:
                yield "reply.id-format", identifier, ""
