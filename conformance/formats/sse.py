"""The raw text of an event stream."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from conformance.formats.inputs import Input
from conformance.formats.records import date_of_reply
from conformance.wire.assemble import DONE_EVENT
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.sse import render

UNFRAMED: Final = "only the chunks were recorded; the stream is assumed to have ended with [DONE]"


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the stream in a file; bytes that are not UTF-8 are replaced, as the standard requires."""
    # A byte order mark stays in the text: the parser of streams drops it, as the standard says.
    yield Input(path, None, "stream", (stream(data.decode("utf-8", "replace")),))


def read_chunks(chunks: Sequence[Any], path: str, line: int | None = None) -> Iterator[Input]:
    """Yield the stream of recorded chunks; if none of them is raw text, the end mark is assumed and a note says so."""
    if any(isinstance(chunk, str) for chunk in chunks):
        yield Input(path, line, "chunks", (stream(render(chunks)),))
    else:
        yield Input(path, line, "chunks", (stream(render(chunks) + DONE_EVENT),), notes=(UNFRAMED,))


def stream(text: str) -> Exchange:
    """Return an exchange of which only the text of the streamed reply is known."""
    return Exchange.of_plain(response=text, streamed=True, model=model_of(text), date=date_of_reply(text))
