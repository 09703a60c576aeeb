"""What one direction of an exchange says: texts, reasoning, calls, results, tools and settings, each with its place.

Both ends of a gateway are read into this form, whatever wires they speak, and so can be compared piece by piece.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place, parse, place_of, render, value_at
from conformance.wire.exchange import CUT, Exchange
from conformance.wire.index import Index
from conformance.wire.reasoning import carried_fields, reasoning_text
from conformance.wire.text import content_text, said_text
from conformance.wire.values import as_object, as_word, objects, rendered
from conformance.wires import by_name

_ERROR: Final = 400
_DETAILS: Final = ("reasoning_details", "thinking_blocks")


class Kind(StrEnum):
    """The kinds of pieces; the texts of each are compared with those of the same kind."""

    SYSTEM = "system text"
    USER = "user text"
    ANSWER = "answer"
    REASONING = "reasoning"
    SIGNATURE = "signature of reasoning"
    CALL = "call"
    RESULT = "result"
    IMAGE = "image"
    TOOL = "tool"


class SpokenPiece(NamedTuple):
    """One piece: its value, and where it is in the translated exchange.

    `turn`: the number of its message. `name`: that of a call or a tool; `role` for an image is in `name`. `id`: that of
    a call, the one that a result answers, or the type of an image. `failed`: whether a result says that its tool
    failed.
    """

    kind: Kind
    value: Any
    place: Place
    turn: int
    name: str = ""
    id: Any = None
    failed: bool = False


_PARTS: Final = (Kind.SYSTEM, Kind.USER, Kind.IMAGE)


@dataclass(frozen=True)
class Spoken:
    """One direction of an exchange at one end: `request` or `response`."""

    exchange: Exchange
    direction: str

    @property
    def is_reply(self) -> bool:
        """Return whether it is a reply."""
        return self.direction == "response"

    @cached_property
    def pieces(self) -> tuple[SpokenPiece, ...]:
        """Return the pieces in their order."""
        return tuple(_of_reply(self.reply, self.reply_place) if self.is_reply else _of_request(self.body))

    def of(self, *kinds: Kind) -> list[SpokenPiece]:
        """Return the pieces of some kinds."""
        return [each for each in self.pieces if each.kind in kinds]

    @property
    def body(self) -> Mapping[str, Any]:
        """Return the request as one of chat completions."""
        return as_object(self.exchange.request)

    @cached_property
    def index(self) -> Index:
        """Return the elements of the exchange."""
        return Index((self.exchange,))

    @property
    def reply(self) -> Mapping[str, Any]:
        """Return the message of the reply, empty if there is none."""
        found = self.index.replies
        return found[0].message if found else {}

    @property
    def reply_place(self) -> Place:
        """Return where the message of the reply is."""
        found = self.index.replies
        return (*found[0].place[1:], "message") if found else ("response",)

    @property
    def finish_reason(self) -> Any:
        """Return why the reply ended; None if it does not say."""
        found = self.index.replies
        return found[0].finish_reason if found else None

    @property
    def finish_place(self) -> Place:
        """Return where the reply says why it ended."""
        found = self.index.replies
        return (*found[0].place[1:], "finish_reason") if found else ("response",)

    @property
    def usage(self) -> Mapping[str, Any]:
        """Return the counts of the reply, the last ones of a stream."""
        found = self.index.usages
        return found[-1].value if found else {}

    @property
    def usage_place(self) -> Place:
        """Return where the counts are."""
        found = self.index.usages
        return found[-1].place[1:] if found else ("response",)

    @property
    def is_refused(self) -> bool:
        """Return whether the reply is an error by its status."""
        return (self.exchange.status or 0) >= _ERROR

    @property
    def error_in_stream(self) -> str:
        """Return what an error inside the stream says, empty if there is none."""
        found = [each for stream in self.index.all_streams for each in stream.errors]
        body = self.exchange.response
        if found:
            return found[0].detail or "an error"
        return rendered(body["error"]) if type(body) is dict and body.get("error") and not self.is_refused else ""

    @property
    def error_place(self) -> Place:
        """Return where the error inside a stream is."""
        found = [(*stream.place[1:], *each.at) for stream in self.index.all_streams for each in stream.errors]
        return found[0] if found else ("response",)

    @property
    def is_cut(self) -> bool:
        """Return whether the reply breaks off before its end."""
        found = self.index.replies
        ended = bool(found) and found[0].complete and found[0].finish_reason is not None
        return not self.is_refused and (not ended or CUT in self.exchange.headers)

    @property
    def native(self) -> Any:
        """Return the body as it was on its own wire; a stream is text."""
        exchange = self.exchange.as_received
        return exchange.response if self.is_reply else exchange.request

    @cached_property
    def raw(self) -> str:
        """Return the text of the body, with what a stream adds up to, for values that may be anywhere."""
        native = self.exchange.native
        whole = native.reply if self.is_reply and native is not None else dict(self.reply) if self.is_reply else None
        text = self.native if type(self.native) is str else rendered(self.native)
        return text + (rendered(whole) if whole else "")

    def setting(self, name: str) -> "tuple[Any, str] | None":
        """Return the value of a setting and where it is in the native request; None if the request lacks it."""
        body = as_object(self.exchange.as_received.request)
        return next(_settings(body, by_name(self.exchange.protocol).settings(name)), None)

    def nearest(self, name: str) -> str:
        """Return the place of the innermost member that the native request has of those which could hold a setting."""
        body: Any = as_object(self.exchange.as_received.request)
        paths = by_name(self.exchange.protocol).settings(name)
        found: Place = ("request",)
        for key in paths[0] if paths else ():
            body = as_object(body).get(key)
            if body is None:
                break
            found = (*found, key)
        return render(found)

    def native_at(self, place: Place) -> Any:
        """Return the value at a part of the translated exchange, as it was on its own wire."""
        body = {self.direction: self.native}
        return value_at(body, place_of(parse(self.pointer(place))))

    def piece_pointer(self, piece: SpokenPiece) -> str:
        """Return where a piece is in the body that came or went: of a part of a content, that part."""
        pointer = self.pointer(piece.place)
        if piece.kind not in _PARTS:
            return pointer
        held = self.native_at(piece.place)
        for name in ("content", "parts"):
            if type(held) is dict and type(held.get(name)) is list:
                found = [at for at, part in enumerate(held[name]) if piece.value in _strings_in(part)]
                return f"{pointer}/{name}/{found[0]}" if found else pointer
        return pointer

    def pointer(self, place: Place) -> str:
        """Return where a part of the translated exchange is in the body that came or went."""
        native = self.exchange.native
        at: Place = (0, *place)
        return render((native.place(at) if native is not None else at)[1:])


def holds(raw: str, value: str) -> bool:
    """Return whether a body holds a text, as it is or as JSON escapes it."""
    return bool(value) and (value in raw or rendered(value)[1:-1] in raw)


def _of_request(body: Mapping[str, Any]) -> Iterator[SpokenPiece]:
    for number, tool in objects(body.get("tools")):
        function = as_object(tool.get("function"))
        yield SpokenPiece(Kind.TOOL, function, ("request", "tools", number), -1, as_word(function.get("name")))
    for number, message in objects(body.get("messages")):
        place: Place = ("request", "messages", number)
        role = message.get("role")
        if role == "assistant":
            yield from _of_assistant(message, place, number)
        elif role == "tool":
            failed, identity = message.get("is_error") is True, message.get("tool_call_id")
            text = content_text(message.get("content"))
            yield SpokenPiece(Kind.RESULT, text, place, number, "", identity, failed)
            yield from _images(message, place, number)
        else:
            kind = Kind.SYSTEM if role in ("system", "developer") else Kind.USER
            yield from _texts(kind, message.get("content"), (*place, "content"), number)
            yield from _images(message, place, number)


def _texts(kind: Kind, content: Any, place: Place, number: int) -> Iterator[SpokenPiece]:
    if type(content) is str and content:
        yield SpokenPiece(kind, content, place, number)
    for at, part in objects(content):
        if type(part.get("text")) is str and part["text"]:
            yield SpokenPiece(kind, part["text"], (*place, at), number)


def _images(message: Mapping[str, Any], place: Place, number: int) -> Iterator[SpokenPiece]:
    for at, part in objects(message.get("content")):
        data = max(_strings(part), key=len, default="")
        if "text" not in part and data:
            head, _, payload = data.rpartition(";base64,")
            own = (*place, "content", at)
            kind = head.removeprefix("data:") or None
            yield SpokenPiece(Kind.IMAGE, payload, own, number, as_word(message.get("role")), kind)


def _strings_in(part: Any) -> list[str]:
    """Return the texts of a part, of an image its data alone."""
    return [each.partition("base64,")[2] or each for each in _strings(part)]


def _strings(value: Any) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif type(value) in (dict, list):
        for each in value.values() if type(value) is dict else value:
            yield from _strings(each)


def _of_reply(message: Mapping[str, Any], place: Place) -> Iterator[SpokenPiece]:
    yield from _of_assistant(message, place, 0)


def _of_assistant(message: Mapping[str, Any], place: Place, number: int) -> Iterator[SpokenPiece]:
    said: set[str] = set()
    for field in carried_fields(dict(message)):
        text = reasoning_text(dict(message), field)
        if text.strip() and text not in said:
            said.add(text)
            yield SpokenPiece(Kind.REASONING, text, (*place, field), number, field)
    for field in _DETAILS:
        for at, item in objects(message.get(field)):
            for key in ("signature", "data"):
                if item.get(key) and type(item[key]) is str:
                    yield SpokenPiece(Kind.SIGNATURE, item[key], (*place, field, at), number)
    text = said_text(message.get("content"))
    if text.strip():
        yield SpokenPiece(Kind.ANSWER, text, (*place, "content"), number)
    for at, call in objects(message.get("tool_calls")):
        function, own = as_object(call.get("function")), (*place, "tool_calls", at)
        name = as_word(function.get("name"))
        yield SpokenPiece(Kind.CALL, function.get("arguments"), own, number, name, call.get("id"))
        sealed = as_object(as_object(call.get("extra_content")).get("google")).get("thought_signature")
        if type(sealed) is str and sealed:
            yield SpokenPiece(Kind.SIGNATURE, sealed, own, number)


def _settings(body: Mapping[str, Any], paths: Iterable[Sequence[str]]) -> Iterator[tuple[Any, str]]:
    for path in paths:
        value: Any = body
        for key in path:
            value = as_object(value).get(key)
        if value is not None:
            yield value, render(("request", *path))
