from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_reasoning
from conformance.wire.elements import Reply, Streamed
from conformance.wire.native import Native
from conformance.wire.text import said_text
from conformance.wire.values import as_object, as_word, objects
from conformance.wire.views import replies

_DELTA: Final = "choices/0/delta"
_REASONING: Final = frozenset({"reasoning", "redacted_thinking", "thinking", "thought"})
_ANSWERS: Final = frozenset({"message", "text"})
_CALLS: Final = frozenset({"custom_tool_call", "function_call", "tool_use"})
_AFTER: Final = {"type": "thinking", "thinking": "They said thanks.", "signature": "c2lnbmVkLTk="}


class _Piece(NamedTuple):
    """A part of a reply: its kind, the text of an answer, and its place; empty if the reply was streamed."""

    kind: str
    text: str
    place: Place


@rule(
    Level.SHOULD,
    on=replies,
    among=reply_has_reasoning,
    source=Source("https://github.com/zendev-sh/goai/pull/119", "corrupted chunk order that splits the answer"),
    bad=[
        example(
            "stream-tool-calls",
            {f"/0/response/1/{_DELTA}/content": "I look it up.", f"/0/response/1/{_DELTA}/reasoning_content": "Two. "},
        ),
        example("messages-plain", {"/0/response/content/-": _AFTER}),
        example("gemini-result", {"/0/response/candidates/0/content/parts/-": {"text": "Done.", "thought": True}}),
    ],
    good=[
        example("stream-tool-calls"),
        example("stream-tool-calls", {f"/0/response/0/{_DELTA}/content": "\n"}),
        example("messages-stream"),
        example("responses-stream"),
    ],
    wires=EVERY,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The reasoning of a reply comes before its content and, on other wires, before its calls.

    Clients close the reasoning when the answer begins: what comes later is shown within the answer, splits it, or is
    lost when the reply is sent back. Line breaks do not begin an answer, and after the call of a tool that the server
    runs, the model may reason again; on Responses, reasoning may precede each item. To fix it, end the reasoning
    before the first word of the answer is sent.
    """
    native = context.exchange.native
    if native is not None:
        late = _late(list(_pieces_of(native)), needs_end=native.protocol == "responses")
        place = None if late is None else (reply.place[0], *late)
        return [] if place is None else [_fault(place)]
    if reply.streamed:
        (stream,) = context.part.streams
        return [_fault(place) for place in _late_deltas(stream, int(reply.place[-1]))]
    content = reply.message.get("content")
    at: Place = (*reply.place, "message", "content")
    parts = [_Piece(as_word(part.get("type")), said_text([dict(part)]), (*at, to)) for to, part in objects(content)]
    late = _late(parts, needs_end=False)
    return [] if late is None else [_fault(late)]


def _fault(place: Place) -> Fault:
    return Fault("expected reasoning before the content, got some after it", place=place)


def _late(pieces: Sequence[_Piece], *, needs_end: bool) -> Place | None:
    """Return the place of the first reasoning after an answer or a call; `needs_end`: only if nothing follows it."""
    is_answered = False
    for position, (kind, text, place) in enumerate(pieces):
        if kind in _ANSWERS or kind in _CALLS:
            is_answered = is_answered or kind in _CALLS or bool(text.strip())
        elif kind not in _REASONING:
            is_answered = False
        elif is_answered and not (needs_end and position + 1 < len(pieces)):
            return place
    return None


def _pieces_of(native: Native) -> Iterator[_Piece]:
    """Yield the parts of a native reply."""
    reply: Mapping[str, Any] = native.reply or {}
    for key in ("content", "output"):
        for at, part in objects(reply.get(key)):
            text = as_word(part.get("text")) or _text_of(part)
            yield _Piece(as_word(part.get("type")), text, _place(native, key, at))
    for _, candidate in list(objects(reply.get("candidates")))[:1]:
        for at, part in objects(as_object(candidate.get("content")).get("parts")):
            calling = "function_call" if "functionCall" in part or "function_call" in part else "other"
            kind = "thought" if part.get("thought") is True else "text" if "text" in part else calling
            yield _Piece(kind, as_word(part.get("text")), _place(native, "candidates", 0, "content", "parts", at))


def _place(native: Native, *inside: str | int) -> Place:
    return ("response",) if native.events else ("response", *inside)


def _text_of(item: Mapping[str, Any]) -> str:
    return "".join([as_word(part.get("text")) for _, part in objects(item.get("content"))])


def _late_deltas(stream: Streamed, index: int) -> list[Place]:
    """Return the place of the first reasoning of a choice in a later chunk than the first word of its content."""
    found = stream.value.anomalies.get("reasoning-after-content", ())
    if not found:
        return []
    first = len(stream.value.chunks)
    for number, chunk in enumerate(stream.value.chunks):
        choices = [each for _, each in objects(as_object(chunk).get("choices")) if each.get("index", 0) == index]
        if any([said_text(as_object(each.get("delta")).get("content")).strip() for each in choices]):
            first = number
            break
    return [(*stream.place, *each.at) for each in found if int(each.at[0]) > first][:1]
