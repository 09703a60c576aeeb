"""What a stream shows: how its chunks, calls, usage and end are written."""

from collections.abc import Iterator
from typing import Any

from conformance.observations.replies import model_name, omitted_keys
from conformance.observations.sights import (
    ExchangeView,
    Sight,
    blank,
    canonical_keys,
    further,
    happens,
    listed,
    partial,
    value,
)
from conformance.profiles import Claims
from conformance.wire.sse import Reading, read
from conformance.wire.text import content_text


def sights(view: ExchangeView, claims: Claims) -> Iterator[Sight]:
    """Yield what the stream of an exchange shows."""
    for stream in view.elements.streams:
        if stream.place[0] != view.number:
            continue
        # The raw text: comments, event names and line ends are no longer in the events.
        text = str(view.exchange.response)
        chunks = [each for each in stream.value.chunks if isinstance(each, dict) and "choices" in each]
        if not chunks:
            return
        yield from _framing(view, text, done=stream.value.done)
        yield from _members(view, chunks, claims)
        yield from _deltas(chunks)
        yield from _ends(chunks)
        yield from _usage(view, chunks)
        yield from _calls(chunks)


def _framing(view: ExchangeView, text: str, *, done: bool) -> Iterator[Sight]:
    reading: Reading = read(text)
    yield value("stream.done", done)
    yield happens("stream.comments", reading.comments > 0)
    yield from listed("stream.event-names", reading.names.values())
    # A line end in JSON is escaped, so that one in the text is of the framing.
    yield value("stream.line-ends", "crlf" if "\r\n" in text else "lf" if "\n\n" in text else "single")
    kind = view.exchange.headers.get("content-type", "").partition(";")[0].strip()
    if kind:
        yield value("stream.content-type", kind)
    if done:
        yield happens("stream.after-done", any(each.strip() != "[DONE]" for each in _after_done(reading)))


def _after_done(reading: Reading) -> tuple[str, ...]:
    at = next((number for number, data in enumerate(reading.data) if data.strip() == "[DONE]"), len(reading.data))
    return reading.data[at + 1 :]


def _members(view: ExchangeView, chunks: list[dict[str, Any]], claims: Claims) -> Iterator[Sight]:
    ids = [chunk.get("id") for chunk in chunks]
    if not any(ids):
        yield value("stream.chunk-id", "absent")
    else:
        yield value("stream.chunk-id", "constant" if len(set(map(str, ids))) == 1 else "varies")
        texts = [each for each in ids if isinstance(each, str) and each]
        yield from (value("reply.id-format", each) for each in dict.fromkeys(texts))
    yield from listed("stream.object", [chunk.get("object", "absent") for chunk in chunks])
    yield from partial("reply.omitted-fields", omitted_keys(*chunks))
    yield from model_name(view, chunks[0])
    yield happens("stream.empty-first-chunk", not chunks[0]["choices"])
    yield from further("reply.fields", [key for chunk in chunks for key in chunk], canonical_keys("chunk"), claims)
    choices = [choice for chunk in chunks for choice in _choices(chunk)]
    keys = [key for choice in choices for key in choice]
    yield from further("reply.choice-fields", keys, canonical_keys("chunk", "choice"), claims)
    keys = [key for choice in choices for key in _delta(choice)]
    yield from further("reply.message-fields", keys, canonical_keys("chunk", "delta"), claims)
    if any("native_finish_reason" in choice for choice in choices):
        yield value("finish.native-field", "native_finish_reason")


def _deltas(chunks: list[dict[str, Any]]) -> Iterator[Sight]:
    deltas = [_delta(choice) for chunk in chunks for choice in _choices(chunk) if choice.get("index", 0) == 0]
    if not deltas:
        return
    forms = [blank(delta, "role") for delta in deltas]
    with_role = [number for number, form in enumerate(forms) if form == "text"]
    if len(deltas) > 2:
        if not with_role:
            yield value("stream.role", "absent")
        elif with_role == [0]:
            yield value("stream.role", "empty" if "empty" in forms[1:] else "first")
        elif len(with_role) >= len(deltas) - 1:
            yield value("stream.role", "every")
    silent = [delta for delta in deltas[1:] if not delta.get("content")]
    if silent:
        explicit = any("content" in delta and delta["content"] is None for delta in silent)
        yield Sight("stream.nulls", ("explicit" if explicit else "omitted",), partial=not explicit)
    if any(isinstance(delta.get("content"), list) for delta in deltas):
        yield value("stream.content-parts", True)  # noqa: FBT003 — the value that is seen
    calling = next((number for number, delta in enumerate(deltas) if delta.get("tool_calls")), None)
    if calling is not None:
        yield value("content.in-tool-stream", blank(deltas[0], "content"))
        yield happens(
            "stream.content-after-call", any(content_text(each.get("content")) for each in deltas[calling + 1 :])
        )


def _ends(chunks: list[dict[str, Any]]) -> Iterator[Sight]:
    at = [number for number, chunk in enumerate(chunks) for choice in _choices(chunk) if choice.get("finish_reason")]
    yield happens("finish.missing-in-stream", not at)
    if not at:
        return
    yield happens("finish.several", len(at) > 1)
    before = {blank(choice, "finish_reason") for chunk in chunks[: at[0]] for choice in _choices(chunk)}
    yield from (value("finish.before-end", form) for form in before)
    last = chunks[at[0]]
    if any(_delta(choice).get("tool_calls") for chunk in chunks for choice in _choices(chunk)):
        yield happens("stream.finish-with-call", any(_delta(choice).get("tool_calls") for choice in _choices(last)))
    after = chunks[at[0] + 1 :]
    yield from (value("stream.after-finish", each) for each in dict.fromkeys(map(_after, after)) or ("none",))


def _after(chunk: dict[str, Any]) -> str:
    choices = _choices(chunk)
    if any(choice.get("finish_reason") for choice in choices):
        return "finish"
    if choices:
        return "choices"
    return "usage" if chunk.get("usage") else "other"


def _usage(view: ExchangeView, chunks: list[dict[str, Any]]) -> Iterator[Sight]:
    request = view.exchange.request
    if not isinstance(request, dict):
        return
    options = request.get("stream_options")
    asked = isinstance(options, dict) and options.get("include_usage") is True
    place = usage_place(chunks)
    yield value("stream.usage" if asked else "stream.usage-unasked", place)
    if not asked:
        yield value("stream.usage-needs-option", place == "none")
    if place != "none":
        yield from (value("stream.usage-elsewhere", each) for each in _elsewhere(chunks))


def _elsewhere(chunks: list[dict[str, Any]]) -> set[str]:
    return {form for chunk in chunks if (form := blank(chunk, "usage")) not in ("text", "list")}


def usage_place(chunks: list[dict[str, Any]]) -> str:
    """Return where the chunks of a stream report token counts, as `stream.usage` names it."""
    counted = [number for number, chunk in enumerate(chunks) if blank(chunk, "usage") == "text"]
    ends = [number for number, chunk in enumerate(chunks) for each in _choices(chunk) if each.get("finish_reason")]
    if not counted:
        choices = [choice for chunk in chunks for choice in _choices(chunk)]
        if any(blank(choice, "usage") == "text" for choice in choices):
            return "choice"
        nested = [
            held for chunk in chunks for key, held in chunk.items() if key != "choices" and isinstance(held, dict)
        ]
        return "vendor" if any(blank(held, "usage") == "text" for held in nested) else "none"
    at_end = [number for number in counted if number in ends]
    alone = [number for number in counted if not _choices(chunks[number])]
    if len(counted) > 2 and len(counted) >= len(chunks) - 1:
        return "every-chunk"
    if at_end and alone:
        return "both"
    if alone:
        return "own-chunk"
    return "finish-chunk" if at_end else "last-choice-chunk"


def _calls(chunks: list[dict[str, Any]]) -> Iterator[Sight]:
    deltas = [
        [call for call in _delta(choice).get("tool_calls") or () if isinstance(call, dict)]
        for chunk in chunks
        for choice in _choices(chunk)
        if choice.get("index", 0) == 0
    ]
    fragments = [call for calls in deltas for call in calls]
    if not fragments:
        return
    opened = [call for call in fragments if _function(call).get("name") and call.get("id")]
    yield from _indexes(opened)
    if len(opened) > 1:
        yield value("stream.calls-a-delta", "several" if max(map(len, deltas)) > 1 else "one")
    later = [call for call in fragments if call not in opened]
    yield value("stream.call-shape", "fragments" if later else "whole")
    yield from (value("stream.first-arguments", blank(_function(call), "arguments")) for call in opened)
    for call in later:
        yield value("stream.continuation-id", *_again(call, "id"))
        yield value("stream.continuation-name", *_again(_function(call), "name"))
        yield value("stream.continuation-type", *_again(call, "type"))


def _indexes(opened: list[dict[str, Any]]) -> Iterator[Sight]:
    indexes = [call.get("index") for call in opened]
    if not indexes:
        return
    if all(each is None for each in indexes):
        yield value("stream.index", "absent", "sometimes-absent")
    elif indexes == list(range(len(indexes))):
        yield value("stream.index", "present", *(("always-zero",) if len(indexes) == 1 else ()))
    elif not any(indexes):
        yield value("stream.index", "always-zero")
    elif isinstance(indexes[0], int) and indexes[0] > 0:
        yield value("stream.index", "shifted")
    else:
        yield value("stream.index", "sometimes-wrong")


def _again(holder: dict[str, Any], key: str) -> tuple[str, ...]:
    form = blank(holder, key)
    return ("repeated", "changes") if form == "text" else (form,)


def _choices(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    found = chunk.get("choices")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _delta(choice: dict[str, Any]) -> dict[str, Any]:
    found = choice.get("delta")
    return found if isinstance(found, dict) else {}


def _function(call: dict[str, Any]) -> dict[str, Any]:
    found = call.get("function")
    return found if isinstance(found, dict) else {}
