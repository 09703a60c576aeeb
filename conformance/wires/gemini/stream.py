"""The stream of Gemini: each chunk is a whole response whose parts continue those of the chunks before.

Source: https://ai.google.dev/gemini-api/docs/thought-signatures
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance.wire.drafts import events_of
from conformance.wire.native import NativeEvent
from conformance.wire.repeats import Fragments
from conformance.wire.sse import read
from conformance.wire.values import as_object, objects
from conformance.wires.gemini.names import listed

_PLAIN: Final = frozenset({"text", "thought"})


class AssembledChunks(NamedTuple):
    """A stream as a response.

    `begins`: the chunk that begins each part of the first candidate, by its position. `fragments`: the texts in the
    fragments in which they came.
    """

    events: tuple[NativeEvent, ...]
    reply: dict[str, Any] | None
    error: dict[str, Any] | None
    begins: dict[int, int]
    complete: bool
    fragments: tuple[Fragments, ...] = ()


class _Candidate:
    """One of the replies that the chunks add up to, and the chunk that begins each of its parts."""

    __slots__ = ("_content", "_members", "_parts", "_texts", "begins")

    def __init__(self) -> None:
        self._members: dict[str, Any] = {}
        self._content: Mapping[str, Any] = {}
        self._parts: list[dict[str, Any]] = []
        self._texts: dict[int, list[str]] = {}
        self.begins: dict[int, int] = {}

    def add(self, candidate: Mapping[str, Any], number: int) -> None:
        """Add what a chunk holds of this reply."""
        self._members.update(candidate)
        content = candidate.get("content")
        if type(content) is not dict:
            return
        self._content, parts = content, self._parts
        for _, part in listed(content.get("parts")):
            if parts and _continues(parts[-1], part):
                self._texts.setdefault(len(parts) - 1, [parts[-1]["text"]]).append(part["text"])
            else:
                self.begins[len(parts)] = number
                parts.append(dict(part))

    def fragments(self) -> Iterator[Fragments]:
        """Yield the texts that came in several fragments."""
        for position, texts in self._texts.items():
            yield Fragments("thought" if self._parts[position].get("thought") else "text", texts)

    def whole(self) -> dict[str, Any]:
        """Return the reply."""
        for position, texts in self._texts.items():
            self._parts[position]["text"] = "".join(texts)
        return {**self._members, "content": {"role": "model", **self._content, "parts": self._parts}}


def assemble(text: str) -> AssembledChunks:
    """Return what the chunks of an event stream add up to."""
    return add_up(events_of(read(text)))


def plain(response: dict[str, Any]) -> AssembledChunks:
    """Return a response that is not a stream in the same form, or the error that it reports."""
    if "error" in response:
        return AssembledChunks((), None, response, {}, complete=False)
    _, first = next(objects(response.get("candidates")), (0, {}))
    return AssembledChunks((), response, None, {}, first.get("finishReason") is not None)


def add_up(events: tuple[NativeEvent, ...]) -> AssembledChunks:
    """Return what chunks add up to: texts that follow each other join, calls and signatures stay parts of their own."""
    reply: dict[str, Any] = {}
    candidates: dict[int, _Candidate] = {}
    error = None
    for number, event in enumerate(events):
        chunk = as_object(event.value)
        if "error" in chunk:
            error = dict(chunk)
            continue
        reply |= {key: value for key, value in chunk.items() if key != "candidates"}
        for _, candidate in objects(chunk.get("candidates")):
            index = candidate.get("index")
            place = index if type(index) is int else 0
            if place not in candidates:
                candidates[place] = _Candidate()
            candidates[place].add(candidate, number)
    if not candidates:
        return AssembledChunks(events, reply or None, error, {}, complete=False)
    ordered = [candidates[index] for index in sorted(candidates)]
    whole = reply["candidates"] = [candidate.whole() for candidate in ordered]
    is_complete = whole[0].get("finishReason") is not None
    fragments = tuple([each for candidate in ordered for each in candidate.fragments()])
    return AssembledChunks(events, reply, error, ordered[0].begins, is_complete, fragments)


def _continues(last: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    """Return whether a text continues the one before: both are answers or reasoning, and neither is signed."""
    return (
        type(last.get("text")) is str
        and type(part.get("text")) is str
        and last.get("thought") == part.get("thought")
        and _PLAIN.issuperset(last)
        and _PLAIN.issuperset(part)
    )
