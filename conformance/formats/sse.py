"""The raw text of an event stream, and streams of which only the payloads were kept."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.formats.inputs import Input
from conformance.formats.records import date_of_reply
from conformance.wire.assemble import DONE_EVENT
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.sse import render
from conformance.wires import event_name

UNFRAMED: Final = "only the chunks were recorded; the stream is assumed to have ended with [DONE]"
UNNAMED: Final = "only the payloads of events were recorded; their names are assumed to be their types"

_FIRST: Final = ("event: response.created\n", "event: message_start\n")


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


def read_events(events: Sequence[Mapping[str, Any]], path: str, line: int | None = None) -> Iterator[Input]:
    """Yield the stream of recorded events of a wire that names them by their type."""
    text = "".join([f"event: {event_name(event)}\n{render([event])}" for event in events])
    yield Input(path, line, "chunks", (stream(text),), notes=(UNNAMED,))


def is_beginning(chunk: Input) -> bool:
    """Return whether an input is the first event of a stream."""
    return any(str(each.response).startswith(_FIRST) for each in chunk.conversation)


def joined(texts: Sequence[str]) -> str:
    """Return the text of a stream from those of its chunks, each of which was read alone."""
    text = "".join([each.removesuffix(DONE_EVENT) for each in texts])
    return text + DONE_EVENT if texts[0].endswith(DONE_EVENT) else text


def stream(text: str) -> Exchange:
    """Return an exchange of which only the text of the streamed reply is known."""
    return Exchange.of_plain(response=text, streamed=True, model=model_of(text), date=date_of_reply(text))
