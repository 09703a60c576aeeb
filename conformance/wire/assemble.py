"""A stream's chunks, assembled in one pass to what a plain reply would hold, with every anomaly noted.

Nothing is repaired silently: where the chunks are ambiguous (to which call does this fragment belong?), the tables in
`calls` and `deltas` define the interpretation, and an anomaly records that it was needed.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.pointer import Place
from conformance.wire.anomalies import Anomaly, describe
from conformance.wire.deltas import PartialMessage
from conformance.wire.keys import key_of
from conformance.wire.patterns import REPEATED, Chunks, Continued, find_pattern
from conformance.wire.repeats import Fragments
from conformance.wire.sse import Event, Reading

DONE: Final = "[DONE]"
"""The data of the event that ends a stream."""
DONE_EVENT: Final = f"data: {DONE}\n\n"

_PATIENCE: Final = 4
"""After so many patterns in a row that no chunk repeats, no more are looked for in a stream."""


class Choice(NamedTuple):
    """A choice: the message as in a plain reply, the last finish reason, and the place at which each call begins.

    `texts`: the whole text under each key that is not known, of which the message has the last fragment. `fragments`:
    all other texts, in the fragments in which they came.
    """

    index: int  # type: ignore[assignment]  # it hides the method of tuple, which is not needed here
    message: dict[str, Any]
    finish_reason: Any
    calls: tuple[Place, ...]
    texts: Mapping[str, str]
    fragments: tuple[Fragments, ...] = ()


class Stream(NamedTuple):
    """An assembled stream.

    `chunks`: one per event, None if the data is not a JSON object. `done`: whether there was an end mark, `[DONE]`.
    `usage`: the last usage object. `error`: the first error sent as an event, in the form of an error reply's body.
    `anomalies`: by kind (see `anomalies.KINDS`), in the order of the stream; a kind that does not occur has no key.
    """

    chunks: Chunks
    done: bool
    choices: tuple[Choice, ...]
    usage: dict[str, Any] | None
    error: Any
    anomalies: Mapping[str, tuple[Anomaly, ...]]


def assemble(stream: Reading | Iterable[Event]) -> Stream:
    """Assemble the events of a stream; without a reading, what only a reading knows is assumed to be in order."""
    if isinstance(stream, Reading):
        data, names = stream.data, stream.names
    else:
        events = tuple(stream)
        data = tuple(event.data for event in events)
        names = {number: event.event for number, event in enumerate(events) if event.event != "message"}
    assembly = _ChunkAssembly()
    chunks = Chunks(data, assembly.add_events(data, names))
    if isinstance(stream, Reading):
        assembly.note_reading(stream)
    return assembly.close(chunks)


class _ChunkAssembly:
    """A stream while it is being assembled."""

    __slots__ = ("anomalies", "chunk_id", "done", "error", "latest", "messages", "model", "usage")

    def __init__(self) -> None:
        self.done = False
        self.messages: dict[int, PartialMessage] = {}
        self.latest: PartialMessage | None = None
        self.usage: dict[str, Any] | None = None
        self.error: Any = None
        self.anomalies: dict[str, list[Anomaly]] = {}
        self.chunk_id: Any = ""
        self.model: Any = ""

    def note(self, kind: str, at: Place, detail: str) -> None:
        self.anomalies.setdefault(kind, []).append(Anomaly(at, detail))

    def add_events(self, data: Sequence[str], names: Mapping[int, str]) -> list[Any]:
        """Add every event, and return the chunks: None for what is not an object, `REPEATED` if it repeats another."""
        chunks: list[Any] = []
        at, end, patience, named = 0, len(data), _PATIENCE, sorted(names)
        while at < end:
            chunk = _parse(data[at])
            is_ordinary = self.add_ordinary(chunk, at, names)
            if not is_ordinary:
                self.add_event(data[at], names.get(at, "message"), chunk, at)
            chunks.append(chunk if type(chunk) is dict else None)
            at += 1
            continued = self.continued(chunk) if is_ordinary and patience and at < end else None
            if continued is not None:
                patience -= 1
                pattern = find_pattern(data[at - 1], data[at], chunk, continued)
                following = at if pattern is None else pattern.take(data, at, _next(named, at, end))
                if following > at:
                    chunks += [REPEATED] * (following - at)
                    at, patience = following, _PATIENCE
        return chunks

    def add_ordinary(self, chunk: Any, at: int, names: Mapping[int, str]) -> bool:
        """Add a chunk that holds one choice, the latest, and only continues its message; return False for any other.

        One whose event has a name, which is rare, counts as another, because the name must be checked.
        """
        latest = self.latest
        if latest is None or self.done or at in names:
            return False
        try:
            (choice,) = chunk["choices"]
            is_ordinary = (
                # `is`: True equals 1 too. A number that is not cached takes the slower path, with the same result.
                choice["index"] is latest.index
                and type(choice["delta"]) is dict
                and choice.get("finish_reason") is None
                and chunk["id"] == self.chunk_id
                and chunk["model"] == self.model
                and chunk.get("usage") is None
                and "error" not in chunk
                and "error" not in choice
            )
        # Nearly every chunk has this shape, so looking before each step would cost more than failing now and then.
        except (AttributeError, KeyError, TypeError, ValueError):
            return False
        if is_ordinary:
            latest.add(choice["delta"], at, 0)
        return is_ordinary

    def continued(self, chunk: dict[str, Any]) -> Continued | None:
        """Return what an ordinary chunk that was added continues, if another one may repeat it."""
        return None if self.latest is None else self.latest.continued(chunk["choices"][0]["delta"])

    def add_event(self, text: str, name: str, chunk: Any, at: int) -> None:
        if type(chunk) is dict and name == "message" and not self.done:
            self.add_chunk(chunk, at)
        else:
            self.add_irregular(text, name, chunk, at)

    def add_irregular(self, data: str, name: str, chunk: Any, at: int) -> None:
        """Add an event that is not just a chunk."""
        if self.done:
            self.note("after-done", (at,), describe(data))
            return
        if name not in ("message", "error"):
            self.note("event-named", (at,), name)
        if name == "error":
            self.add_error(data if chunk is None else chunk, at)
        elif type(chunk) is dict:
            self.add_chunk(chunk, at)
        elif data.strip() == DONE:
            self.done = True
            if data != DONE:
                self.note("done-inexact", (at,), describe(data))
        # None stands for what is not JSON, but it is also the value of the JSON text null.
        elif chunk is None and data != "null":
            self.note("bad-json", (at,), describe(data))
        else:
            self.note("not-an-object", (at,), describe(data))

    def add_chunk(self, chunk: dict[str, Any], at: int) -> None:
        if chunk.get("id") != self.chunk_id or chunk.get("model") != self.model or not self.chunk_id:
            self.note_identity(chunk, at)
        if chunk.get("usage") is not None:
            self.add_usage(chunk["usage"], at)
        choices = chunk.get("choices")
        if type(choices) is not list or not choices or "error" in chunk:
            self.add_special(chunk, choices, at)
        if type(choices) is list:
            for position, choice in enumerate(choices):
                self.add_choice(choice, at, position)

    def note_identity(self, chunk: dict[str, Any], at: int) -> None:
        chunk_id, model = chunk.get("id"), chunk.get("model")
        if not chunk_id and "error" not in chunk:
            self.note("chunk-id-missing", (at,), "absent" if "id" not in chunk else f"got {describe(chunk_id)}")
        if chunk_id and self.chunk_id and chunk_id != self.chunk_id:
            self.note("chunk-id-changed", (at, "id"), f"from {describe(self.chunk_id)} to {describe(chunk_id)}")
        if model and self.model and model != self.model:
            self.note("model-changed", (at, "model"), f"from {describe(self.model)} to {describe(model)}")
        # Once absent is one anomaly: the next chunk that has it is held against the last one that had it.
        self.chunk_id, self.model = chunk_id or self.chunk_id, model or self.model

    def add_usage(self, usage: Any, at: int) -> None:
        self.note("usage", (at, "usage"), "")
        if type(usage) is dict:
            self.usage = usage

    def add_special(self, chunk: dict[str, Any], choices: Any, at: int) -> None:
        """Add a chunk that has no choices, or has an error."""
        if chunk.get("error") is not None or chunk.get("object") == "error":
            self.add_error(chunk, at)
        elif type(choices) is not list:
            self.note("choices-missing", (at,), "absent" if "choices" not in chunk else f"got {describe(choices)}")
        elif not choices:
            self.note("empty-choices", (at, "choices"), "with usage" if chunk.get("usage") else "without usage")

    def add_error(self, error: Any, at: int) -> None:
        self.note("error-in-band", (at,), describe(error))
        if self.error is None:
            self.error = error

    def add_choice(self, choice: Any, at: int, position: int) -> None:
        if type(choice) is not dict:
            self.note("not-an-object", (at, "choices", position), f"got {describe(choice)}")
            return
        index, delta = choice.get("index"), choice.get("delta")
        # To a dictionary, True is 1, and would continue that choice.
        message = self.messages.get(index) if type(index) is int else None
        if message is None:
            message = self.open_choice(choice, at, position)
        if type(delta) is dict:
            message.add(delta, at, position)
        else:
            self.note("delta-missing", (at, "choices", position), f"the keys are {', '.join(choice)}")
        self.latest = message
        if choice.get("finish_reason") is not None:
            self.finish(message, choice, (at, "choices", position))
        if choice.get("error") is not None:
            self.add_error({"error": choice["error"]}, at)

    def open_choice(self, choice: dict[str, Any], at: int, position: int) -> PartialMessage:
        """Return the message of a new choice, or of one without an index."""
        index = choice.get("index")
        if type(index) is not int:
            detail = "absent" if "index" not in choice else f"got {describe(index)}"
            self.note("choice-index-missing", (at, "choices", position), detail)
            index = position
        if index not in self.messages:
            self.messages[index] = PartialMessage(index, self.note)
            delta = choice.get("delta")
            if type(delta) is dict and not delta.get("role"):
                detail = "absent" if "role" not in delta else f"got {describe(delta['role'])}"
                self.note("role-missing", (at, "choices", position, "delta"), detail)
        return self.messages[index]

    def finish(self, message: PartialMessage, choice: dict[str, Any], place: Place) -> None:
        reason = choice["finish_reason"]
        if type(reason) is str and reason:
            message.finish(reason, (*place, "finish_reason"))
        else:
            self.note("finish-not-string", (*place, "finish_reason"), f"got {describe(reason)}")

    def note_reading(self, reading: Reading) -> None:
        end = (len(reading.data),)
        for line in reading.ignored:
            self.note("ignored-line", (), describe(line))
        if reading.invalid_utf8:
            self.note("invalid-utf8", (), f"{reading.invalid_utf8} times")
        if reading.bound:
            self.note("bound-met", end, reading.bound)
        if reading.tail:
            self.note("cut", end, f"{len(reading.tail)} characters with no blank line after them")
            last = reading.tail.strip().removeprefix("data:").strip()
            if last == DONE:
                self.note("done-undispatched", end, describe(reading.tail))

    def close(self, chunks: Chunks) -> Stream:
        if not self.done:
            self.note("done-missing", (len(chunks),), "")
        choices = []
        unfinished = {index for index, message in self.messages.items() if message.finish_reason is None}
        last_places = _last_places(chunks, unfinished)
        # As in a plain reply: by index, whichever choice began first.
        for index, message in sorted(self.messages.items()):
            if index in unfinished:
                self.note("cut", last_places.get(index, (len(chunks),)), "no finish reason")
            fragments = tuple(message.fragments())
            choices.append(
                Choice(index, message.close(), message.finish_reason, message.calls(), message.texts(), fragments)
            )
        anomalies = {kind: tuple(found) for kind, found in self.anomalies.items()}
        # Messages note anomalies here; without this, only the garbage collector would free them, and all chunks.
        self.messages, self.latest = {}, None
        return Stream(chunks, self.done, tuple(choices), self.usage, self.error, anomalies)


def _next(numbers: Sequence[int], start: int, end: int) -> int:
    """Return the first of some numbers from `start` on; the end if there is none."""
    at = bisect_left(numbers, start)
    return numbers[at] if at < len(numbers) else end


def _parse(text: str) -> Any:
    """Return the parsed data of an event, None if it is not JSON."""
    if text == DONE:
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _last_places(chunks: Sequence[dict[str, Any] | None], indexes: set[int]) -> dict[int, Place]:
    """Return the last place of each choice with one of these indexes."""
    found: dict[int, Place] = {}
    for at in range(len(chunks) - 1, -1, -1):
        if len(found) == len(indexes):
            break
        choices = (chunks[at] or {}).get("choices")
        for position, choice in enumerate(choices if type(choices) is list else ()):
            index = key_of(choice.get("index", position)) if type(choice) is dict else None
            if index in indexes:
                found.setdefault(index, (at, "choices", position))
    return found
