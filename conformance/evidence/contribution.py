"""New entries of the index, read from files of a public repository."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance import profiles
from conformance.errors import InvalidDocument, Unusable
from conformance.evidence import reading
from conformance.evidence.fetching import Absent, Origin
from conformance.evidence.index import REPOSITORY, UNFRAMED, Place, Recording
from conformance.urls import host_of


class Contribution(NamedTuple):
    """What is the same for all files: `repository` is `owner/name@commit`.

    `provider` and `date` are for exchanges that do not show them. `fixture`: why they are not what a provider sent.
    """

    repository: str
    licence: str
    provider: str = ""
    date: str = ""
    fixture: str = ""


def contribute(given: Contribution, paths: Iterable[str], origin: Origin) -> list[Recording]:
    """Return the entries for the exchanges in files.

    Raises Unusable for a file that the repository lacks, that holds no chat completions, or whose provider is unknown;
    InvalidDocument, with its place, for one that cannot be read.
    """
    matched = REPOSITORY.fullmatch(given.repository)
    if matched is None:
        raise Unusable(f"expected owner/name@commit with the 40 digits of the commit, got {given.repository!r}")
    if given.provider:
        profiles.load(given.provider)
    places = [Place(matched[1], matched[2], path) for path in dict.fromkeys(paths)]
    return [each for place in places for each in _recordings(place, given, origin)]


def _recordings(place: Place, given: Contribution, origin: Origin) -> Iterator[Recording]:
    try:
        found = reading.exchanges(origin.get(place), str(place))
    except Absent as error:
        raise Unusable(str(error)) from None
    if not found:
        raise InvalidDocument("expected chat completions, got none", str(place))
    for number, exchange, unframed in found:
        provider = given.provider or profiles.by_host(host_of(exchange.url))
        if provider is None:
            url = exchange.url or "no URL"
            raise Unusable(
                f"{place}: no profile has the host of interaction {number} ({url}); name one with --provider"
            )
        yield Recording(
            place,
            number,
            reading.digest(exchange),
            provider,
            exchange.model,
            exchange.date or given.date,
            exchange.status,
            given.fixture or (UNFRAMED if unframed else ""),
            given.licence,
        )
