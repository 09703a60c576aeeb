"""What translations share: a body in the making that remembers where its parts come from."""

from collections.abc import Container, Iterable, Mapping, Sized
from itertools import count, repeat
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.pointer import Place
from conformance.errors import InvalidDocument
from conformance.wire.blocks import Block, message_of, note_moved_texts
from conformance.wire.codec import Codec
from conformance.wire.content import EMPTY_SYSTEM, EMPTY_TEXT
from conformance.wire.exchange import Exchange
from conformance.wire.held_places import HeldPlaces
from conformance.wire.losses import Losses
from conformance.wire.native import Native, NativeEvent
from conformance.wire.sse import Reading
from conformance.wire.values import objects

_JOINED: Final = "comes back in one message with the tool results before it"


class SubPlaces(NamedTuple):
    """Where the parts of a call and of a result stand in the native value, by their place in the canonical one."""

    call: Mapping[Place, Place] = {}
    result: Mapping[Place, Place] = {}


_OF_RESULT: Final = ("role", "tool_call_id", "content")
_WHOLE: Final = SubPlaces()


class Draft:
    """Canonical messages in the making, as the judge reads them: nothing is repaired, and every part has a place.

    A wire walks over a native body once and hands what it finds to a draft. `places`: the native place of each part, by
    its place in the translated exchange; neither has the number of the exchange. Those of messages that an earlier
    request had are only in `all_places`. `turns`: how many of the messages are the assistant's.
    """

    marks_before = False

    def __init__(self, inside: SubPlaces = _WHOLE) -> None:
        self.messages: list[dict[str, Any]] = []
        self.turns = 0
        self.places: dict[Place, Place] = {}
        self._inside = inside
        self._earlier: Mapping[Place, Place] = {}
        self._held = 0

    def hold(self, earlier: "Draft", end: int) -> None:
        """Take the places of the messages before a position from the draft of an earlier request."""
        places = earlier.all_places()
        # A history that is cut again and again must not leave a table of each request.
        while isinstance(places, HeldPlaces) and end <= places.end:
            places = places.earlier
        self._earlier, self._held = places, end

    def all_places(self) -> Mapping[Place, Place]:
        """Return the places, those of messages that an earlier request had among them."""
        return HeldPlaces(self.places, self._earlier, self._held) if self._held else self.places

    def mark(self) -> bool | None:
        """Return None if what was read may still change: neighbouring messages of the assistant become one."""
        return None if self.messages and self.messages[-1].get("role") == "assistant" else True

    def resume(self, earlier: "Draft", mark: object) -> None:
        """Go on after messages that were taken over; a draft has all that it needs."""

    def lose(self, place: Place, reason: str) -> None:
        """Note what the walk leaves out at a native place; the judge has the native body for that."""

    def rest(self, value: Mapping[str, Any], known: Container[str], place: Place, reason: str) -> None:
        """Note the members of a native value that the walk does not read."""

    def piece(self, codec: Codec, value: Mapping[str, Any], _place: Place) -> Any:
        """Return a content part; what has no counterpart keeps its own form. None if it is left out."""
        return codec.written_or_kept(value)

    def pieces(self, codec: Codec, values: Any, place: Place) -> list[Any]:
        """Return the content parts of a list, without those that are left out."""
        found = [self.piece(codec, value, (*place, number)) for number, value in objects(values)]
        return [part for part in found if part is not None]

    def texts(self, codec: Codec, values: Any, place: Place) -> Any:
        """Return the content parts of a result."""
        return self.pieces(codec, values, place)

    def add(self, message: dict[str, Any], native: Place) -> Place:
        """Add a message that comes from a native place; return its own place."""
        place: Place = ("request", "messages", len(self.messages))
        self.messages.append(message)
        self.turns += message.get("role") == "assistant"
        self.places[place] = native
        return place

    def instruct(self, content: Any, native: Place) -> None:
        """Add the instructions that stand before all messages, unless there are none."""
        if content:
            self.add({"role": "system", "content": content}, native)

    def say(self, role: Any, content: Any, native: Place) -> None:
        """Add a message whose content is not a list of pieces."""
        self.add({"role": role, "content": content}, native)

    def ask(self, role: Any, blocks: Iterable[Block], native: Place) -> None:
        """Add a message of results and content parts: results stay where they stand, as messages of their own."""
        parts: list[Any] = []
        for block in blocks:
            if block.kind != "result":
                parts.append(block.value)
                continue
            if parts:
                self.add({"role": role, "content": parts}, native)
                parts = []
            self._answer(block)
        if parts:
            self.add({"role": role, "content": parts}, native)

    def _answer(self, block: Block) -> None:
        at = self.add(block.value, block.place)
        for own, native in self._inside.result.items():
            self.places[at + own] = block.place + native

    def turn(self, blocks: Iterable[Block], native: Place) -> None:
        """Add what the assistant says, thinks and calls; neighbouring messages of the assistant are one."""
        last = self.messages[-1] if self.messages else {}
        if last.get("role") == "assistant":
            at: Place = ("request", "messages", len(self.messages) - 1)
        else:
            last = {"role": "assistant", "content": None}
            at = self.add(last, native)
        self.fill(last, at, blocks)

    def fill(self, message: dict[str, Any], at: Place, blocks: Iterable[Block]) -> None:
        """Add blocks to an assistant message that is at a place: its texts are one text, its reasoning stays whole."""
        places = self.places
        for kind, value, native in blocks:
            if kind == "text":
                message["content"] = (message["content"] or "") + value
                places.setdefault((*at, "content"), native)
            elif kind == "call":
                calls = message.setdefault("tool_calls", [])
                to: Place = (*at, "tool_calls", len(calls))
                calls.append(value)
                places[to] = native
                for own, inner in self._inside.call.items():
                    places[to + own] = native + inner
            elif kind == "detail":
                details = message.setdefault("reasoning_details", [])
                places[*at, "reasoning_details", len(details)] = native
                places.setdefault((*at, "reasoning_details"), native)
                details.append(value)


class Transcript(Draft):
    """Canonical messages in the making, as the converter needs them: a valid transcript, with every loss named.

    Reasoning has its position among the blocks as its `index`, results come before what the user says after them, and
    neighbouring messages of the assistant stay two.
    """

    def __init__(self) -> None:
        super().__init__()
        self.losses = Losses()

    def lose(self, place: Place, reason: str) -> None:
        """Note what the walk leaves out at a native place."""
        self.losses.add(place, reason)

    def rest(self, value: Mapping[str, Any], known: Container[str], place: Place, reason: str) -> None:
        """Note the members of a native value that the walk does not read; null counts as absent."""
        for key, each in value.items():
            if key not in known and each is not None:
                self.losses.add((*place, key), reason)

    def piece(self, codec: Codec, value: Mapping[str, Any], place: Place) -> Any:
        """Return a content part, and note what it cannot hold; None if there is no such part."""
        if value.get("text") == "":
            self.losses.add(place, EMPTY_TEXT)
            return None
        return codec.convert(dict(value), place, self.losses)

    def texts(self, codec: Codec, values: Any, place: Place) -> Any:
        """Return the content parts of a result, which are texts; the empty text if there are none."""
        kept = []
        for number, value in objects(values):
            if type(value.get("text")) is not str:
                self.losses.add((*place, number), "a tool result on the wire is text")
            elif (part := codec.convert(dict(value), (*place, number), self.losses)) is not None:
                kept.append(part)
        return kept or ""

    def instruct(self, content: Any, native: Place) -> None:
        """Add the instructions that stand before all messages."""
        if content:
            self.add({"role": "system", "content": content}, native)
        elif content is not None:
            self.losses.add(native, EMPTY_SYSTEM)

    def say(self, role: Any, content: Any, native: Place) -> None:
        """Add a message whose content is a text."""
        if role == "user" and content and self._follows_results():
            self.losses.add(native, _JOINED)
        if content or role == "user":
            super().say(role, content, native)

    def ask(self, role: Any, blocks: Iterable[Block], native: Place) -> None:
        """Add results, then what is said after them as one message; with results, a single text is a string."""
        found = list(blocks)
        results = [number for number, block in enumerate(found) if block.kind == "result"]
        for number in range(max(results, default=-1)):
            if number not in results:
                self.losses.add(found[number].place, "on the wire, tool results come first")
        parts = [block.value for block in found if block.kind != "result"]
        if role == "system":
            # Where instructions are not all in one place, only their texts count.
            parts = [part for part in parts if part["type"] == "text"]
        elif found and self._follows_results():
            self.losses.add(native, _JOINED)
        for number in results:
            self._answer(found[number])
        if parts or (not results and role == "user"):
            is_text = bool(results) and len(parts) == 1 and parts[0]["type"] == "text"
            self.add({"role": role, "content": parts[0]["text"] if is_text else parts or ""}, native)

    def _answer(self, block: Block) -> None:
        self.add({key: value for key, value in block.value.items() if key in _OF_RESULT}, block.place)

    def _follows_results(self) -> bool:
        return bool(self.messages) and self.messages[-1]["role"] == "tool"

    def turn(self, blocks: Iterable[Block], native: Place) -> None:
        """Add a message of the assistant; empty texts are left out."""
        found = []
        for block in blocks:
            if block.kind == "text" and not block.value:
                self.losses.add(block.place, EMPTY_TEXT)
            else:
                found.append(block)
        note_moved_texts(found, self.losses)
        self.add(message_of(found), native)


def as_chat(exchange: Exchange, request: Any, response: Any, native: Native, model: str) -> Exchange:
    """Return an exchange with its bodies translated; `model` counts if the exchange names none.

    A stream is translated into the reply that it adds up to.
    """
    return Exchange.of_plain(
        request,
        response,
        exchange.status,
        streamed=False,
        headers=exchange.headers,
        url=exchange.url,
        model=exchange.model or model,
        date=exchange.date,
        native=native,
    )


def strict_format(schema: Any) -> dict[str, Any]:
    """Return the `response_format` for a schema that the server of another wire enforces."""
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}


def require_events(found: Sized, text: str) -> None:
    """Raise InvalidDocument for a text in which no events were found, unless it is blank."""
    if not found and text.strip():
        raise InvalidDocument("expected events, got text without any", "<stream>")


def events_of(reading: Reading) -> tuple[NativeEvent, ...]:
    """Return the events of a native stream, with their data as JSON."""
    try:
        values = list(map(orjson.loads, reading.data))
    except orjson.JSONDecodeError:
        values = list(map(_parsed, reading.data))
    return tuple(map(NativeEvent, map(reading.names.get, count(), repeat("")), values))


def _parsed(data: str) -> Any:
    """Return the JSON value of an event's data; None if it is not JSON."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
