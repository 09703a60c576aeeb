"""The raw text of an event stream, and streams of which only the payloads were kept."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from conformance.documents import parse_json
from conformance.errors import InvalidDocument, Unrecognized
from conformance.formats.inputs import ACCEPTED, Input
from conformance.formats.records import as_text, date_of_reply
from conformance.wire.assemble import DONE_EVENT
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.sse import render
from conformance.wires import event_name, other_api

UNFRAMED: Final = "only the chunks were recorded; the stream is assumed to have ended with [DONE]"
UNNAMED: Final = "only the payloads of events were recorded; their names are assumed to be their types"

_BEGINNINGS: Final = ("response.created", "message_start")
_FIRST: Final = tuple([f"event: {name}\n" for name in _BEGINNINGS])

_EVENT: Final = re.compile(rb"^[^\n{]{0,200}\bdata: ?(\{[^\n]*\}|\[DONE\])[ \t\r]*$", re.MULTILINE)
"""An event of a stream in a line of a log."""
_OF_WIRE: Final = re.compile(
    rb'"choices"\s*:\s*\[|"candidates"\s*:\s*\[|"type"\s*:\s*"(?:message_start|content_block_|response\.)'
)
"""What the events of a wire have, and those of other streams do not."""


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the stream in a file; bytes that are not UTF-8 are replaced, as the standard requires."""
    # A byte order mark stays in the text: the parser of streams drops it, as the standard says.
    read = stream(data.decode("utf-8", "replace"))
    if name := other_api(read):
        raise Unrecognized(f"{ACCEPTED}; got a stream of another API: {name}", path, 1)
    yield Input(path, None, "stream", (read,))


def read_chunks(chunks: Sequence[Any], path: str, line: int | None = None) -> Iterator[Input]:
    """Yield the stream of recorded chunks; if none of them is raw text, the end mark is assumed and a note says so."""
    if any(isinstance(chunk, str) for chunk in chunks):
        yield Input(path, line, "chunks", (stream(render(chunks)),))
    else:
        yield Input(path, line, "chunks", (stream(render(chunks) + DONE_EVENT),), notes=(UNFRAMED,))


def read_events(events: Sequence[Mapping[str, Any]], path: str, line: int | None = None) -> Iterator[Input]:
    """Yield the stream of recorded events of a wire that names them by their type."""
    text = "".join(map(_framed, events))
    yield Input(path, line, "chunks", (stream(text),), notes=(UNNAMED,))


def streams(payloads: Iterable[Any]) -> Iterator[str]:
    """Yield the texts of the streams that payloads of events make in their order, such as those in the lines of a log.

    A payload is a chunk, an event of a wire that names them by their type, or the text `[DONE]`, which logs may lack.
    """
    given = list(payloads)
    is_ended = any(isinstance(each, str) for each in given)
    text, mark, is_done, is_chat = "", "", False, False
    for each in (*given, None):
        known = each if isinstance(each, Mapping) else {}
        name, own = event_name(known) if known else "", as_text(known.get("id")) if "choices" in known else ""
        if text and (each is None or is_done or name in _BEGINNINGS or (own and mark and own != mark)):
            yield text + (DONE_EVENT if is_chat and not is_ended else "")
            text, mark, is_chat = "", "", False
        text += _framed(known) if known else f"data: {each}\n\n"
        mark, is_done, is_chat = own or mark, isinstance(each, str), is_chat or "choices" in known


def _framed(payload: Mapping[str, Any]) -> str:
    """Return the text of a chunk, or of an event under the name of its type."""
    name = event_name(payload)
    return (f"event: {name}\n" if name else "") + render([payload])


def is_logged(data: bytes) -> bool:
    """Return whether lines of a log hold events of a stream of a wire."""
    return any(map(_OF_WIRE.search, _EVENT.findall(data)))


def read_logged(data: bytes, path: str) -> Iterator[Input]:
    """Yield the streams whose events stand in the lines of a log."""
    payloads: list[object] = []
    for each in [found.decode("utf-8", "replace") for found in _EVENT.findall(data)]:
        with suppress(InvalidDocument):
            payloads.append(each if each == "[DONE]" else parse_json(each))
    for text in streams(payloads):
        yield Input(path, None, "stream", (stream(text),))


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
