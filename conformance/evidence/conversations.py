"""Recordings of the index as inputs: the exchanges of one file with one provider are a conversation."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from conformance.evidence.fetching import Cache, Checked, State, cached
from conformance.evidence.index import IndexedRecording
from conformance.formats import Input
from conformance.wire.exchange import Exchange


def inputs(checked: Iterable[Checked]) -> Iterator[Input]:
    """Yield the conversations of recordings that were verified; `checked` is in the order of files.

    Model and date are those of the index where the exchange itself does not have them.
    """
    for _, held in groupby(checked, key=lambda each: each.recording.place):
        verified = [each for each in held if each.state is State.VERIFIED]
        for provider in dict.fromkeys(each.recording.provider for each in verified):
            of_provider = [each for each in verified if each.recording.provider == provider]
            place = str(of_provider[0].recording.place)
            yield Input(
                path=place,
                line=None,
                kind="cassette",
                conversation=tuple([_exchange(each) for each in of_provider]),
                provider=provider,
                numbers=tuple([each.recording.number for each in of_provider]),
            )


def cached_inputs(recordings: Iterable[IndexedRecording], cache: Cache) -> tuple[list[Input], list[Checked]]:
    """Return the conversations that the cache holds, and the recordings that it lacks or that differ."""
    checked = list(cached(recordings, cache))
    return list(inputs(checked)), [each for each in checked if each.state is not State.VERIFIED]


def _exchange(checked: Checked) -> Exchange:
    assert checked.exchange is not None  # noqa: S101 — verified recordings have one
    found, known = checked.exchange.exchange, checked.recording
    return Exchange.of_plain(
        request=found.request,
        response=found.response,
        status=found.status,
        streamed=found.streamed,
        headers=found.headers,
        url=found.url,
        model=found.model or known.model,
        date=found.date or known.date,
    )
