"""New entries of the index, read from files of a public repository."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance import profiles, wires
from conformance.errors import InvalidDocument, Unusable
from conformance.evidence import reading
from conformance.evidence.fetching import Absent, FileOrigin, NotMirrored
from conformance.evidence.index import REPOSITORY, UNFRAMED, IndexedRecording, PublicFile
from conformance.observations.sights import digest
from conformance.profiles.texts import by_host
from conformance.urls import host_of
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT


class Contribution(NamedTuple):
    """What is the same for all files: `repository` is `owner/name@commit`.

    `provider` and `date` are for exchanges that do not show them. `fixture`: why they are not what a provider sent.
    """

    repository: str
    licence: str
    provider: str = ""
    date: str = ""
    fixture: str = ""


def contribute(given: Contribution, paths: Iterable[str], origin: FileOrigin) -> list[IndexedRecording]:
    """Return the entries for the exchanges in files.

    Raises Unusable for a file that the repository lacks, that holds no exchanges, or whose provider or wire has no
    profile; InvalidDocument, with its place, for one that cannot be read.
    """
    matched = REPOSITORY.fullmatch(given.repository)
    if matched is None:
        raise Unusable(f"expected owner/name@commit with the 40 digits of the commit, got {given.repository!r}")
    if given.provider:
        profiles.load(given.provider)
    places = [PublicFile(matched[1], matched[2], path) for path in dict.fromkeys(paths)]
    return [each for place in places for each in _recordings(place, given, origin)]


def _provider(exchange: Exchange, named: str) -> str | None:
    """Return the provider of an exchange, with the name of its wire if that is not chat completions."""
    wire = wires.of(exchange).name
    provider = named or by_host(host_of(exchange.url), wire)
    return provider if provider is None or wire == CHAT else f"{provider}.{wire}"


def _recordings(place: PublicFile, given: Contribution, origin: FileOrigin) -> Iterator[IndexedRecording]:
    try:
        found = reading.exchanges(origin.get(place), str(place))
    except (Absent, NotMirrored) as error:
        raise Unusable(str(error)) from None
    if not found:
        raise InvalidDocument("expected exchanges with a provider, got none", str(place))
    for number, exchange, unframed in found:
        provider = _provider(exchange, given.provider)
        if provider is None:
            url = exchange.url or "no URL"
            raise Unusable(
                f"{place}: no profile has the host of interaction {number} ({url}); name one with --provider"
            )
        if not profiles.has(provider):
            raise Unusable(f"{place}: interaction {number} is on a wire that no profile has claims about: {provider}")
        yield IndexedRecording(
            place,
            number,
            digest(exchange),
            provider,
            # A model that stands in the URL is known once the exchange is translated.
            exchange.model or wires.translate((exchange,))[0].model,
            exchange.date or given.date,
            exchange.status,
            given.fixture or (UNFRAMED if unframed else ""),
            given.licence,
        )
