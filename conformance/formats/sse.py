"""The raw text of an event stream, kept as it came."""

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.formats.inputs import Input
from conformance.formats.records import DONE, day_of_reply
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.sse import render

UNFRAMED = "only the chunks were kept: that the stream ended with [DONE] is assumed"


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the stream that a file holds; bytes that are not UTF-8 are replaced, as the standard has it."""
    yield Input(path, None, "stream", (stream(data.decode("utf-8", "replace")),))


def read_chunks(chunks: Sequence[Any], path: str, line: int | None = None) -> Iterator[Input]:
    """Yield the stream whose chunks were kept; where no raw text is among them, their framing was not."""
    if any(isinstance(chunk, str) for chunk in chunks):
        yield Input(path, line, "chunks", (stream(render(chunks)),))
    else:
        yield Input(path, line, "chunks", (stream(render(chunks) + DONE),), notes=(UNFRAMED,))


def stream(text: str) -> Exchange:
    """Return the exchange of which only the text of the streamed reply is known."""
    return Exchange.of_plain(response=text, streamed=True, model=model_of(text), date=day_of_reply(text))
