"""Vices of streams: events, chunks, errors between them, and ends."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from typing import Any

import orjson

from conformance.mutation import targets
from conformance.mutation.bases import Record
from conformance.mutation.definition import vice
from conformance.mutation.targets import Reply, Slot, streaming

_DONE = "data: [DONE]\n\n"
_GONE = {"message": "The upstream is gone.", "type": "server_error", "param": None, "code": "502"}


@vice(targets.streams, "stream/ends-with-done")
def done_dropped(record: Record) -> None:
    """A stream does not say that it is over."""
    record["response"].remove(_DONE)


@vice(targets.streams, "stream/done-is-exact")
def done_without_blank_line(record: Record) -> None:
    """No blank line follows the end mark."""
    record["response"][-1] = "data: [DONE]\n"


@vice(targets.streams, "stream/done-is-exact")
def done_with_space(record: Record) -> None:
    """A space follows the end mark."""
    record["response"][-1] = "data: [DONE] \n\n"


@vice(targets.streams, "stream/events-are-json", kin=("stream/ends-with-done",))
def done_misspelled(record: Record) -> None:
    """The end mark is in lower case."""
    record["response"][-1] = "data: [done]\n\n"


@vice(targets.streams, "stream/nothing-after-done")
def done_twice(record: Record) -> None:
    """The end mark comes twice."""
    record["response"].append(_DONE)


@vice(targets.streams, "stream/nothing-after-done")
def chunk_after_done(record: Record) -> None:
    """The first chunk comes once more after the end mark."""
    record["response"].append(record["response"][0])


@vice(targets.streams, "stream/complete", kin=("usage/present-when-asked",))
def cut_in_event(record: Record) -> None:
    """The connection breaks in the middle of an event."""
    record["response"][-2:] = ['data: {"id": "chatcmpl-1", "obj']


@vice(streaming(targets.replies), "stream/complete")
def finish_reason_never_comes(reply: Reply) -> None:
    """A stream ends without a finish reason."""
    reply.ending["finish_reason"] = None


@vice(streaming(targets.replies), "stream/complete")
def cut_between_events(reply: Reply) -> None:
    """The connection breaks after half of the events."""
    events = reply.record["response"]
    del events[len(events) // 2 :]


@vice(targets.inner_chunks, "stream/events-are-json", kin=("response/message-not-empty",))
def event_in_single_quotes(chunk: Slot) -> None:
    """An event holds a literal of Python."""
    chunk.put("data: {'usage': None}\n\n")


@vice(targets.chunks, "stream/events-are-json")
def keepalive_as_data(chunk: Slot) -> None:
    """What keeps the connection alive is sent as data."""
    chunk.holder.insert(chunk.key, "data: ping\n\n")


@vice(targets.chunks, "error/no-error-in-stream")
def error_between_chunks(chunk: Slot) -> None:
    """An error comes in the middle of a stream of status 200."""
    chunk.holder.insert(chunk.key, {"error": _GONE})


@vice(targets.chunks, "error/no-error-in-stream")
def error_as_named_event(chunk: Slot) -> None:
    """An error comes as an event with a name."""
    chunk.holder.insert(chunk.key, 'event: error\ndata: {"error": {"message": "The upstream is gone."}}\n\n')


@vice(targets.inner_chunks, "error/no-error-in-stream")
def error_in_chunk(chunk: Slot) -> None:
    """A chunk carries an error beside its choices."""
    chunk.value["error"] = _GONE


@vice(streaming(targets.replies), "error/no-error-in-stream")
def error_in_last_choice(reply: Reply) -> None:
    """A stream ends with an error in its choice."""
    reply.ending.update(finish_reason="error", error=_GONE)


@vice(targets.inner_chunks, "error/no-error-in-stream")
def error_in_choice_of_chunk(chunk: Slot) -> None:
    """The choice of a chunk carries an error."""
    chunk.value["choices"][0]["error"] = _GONE


def _not_first(records: Any) -> Any:
    return (chunk for chunk in targets.chunks(records) if chunk.key)


@vice(_not_first, "stream/chunk-id-constant")
def chunk_id_changes(chunk: Slot) -> None:
    """A chunk has another id than those before."""
    chunk.value["id"] = "chatcmpl-other"


@vice(_not_first, "shape/chunk")
def chunk_id_null(chunk: Slot) -> None:
    """A chunk has null for an id."""
    chunk.value["id"] = None


@vice(streaming(targets.replies), "stream/role-first")
def role_missing(reply: Reply) -> None:
    """A stream never says who speaks."""
    for piece in reply.pieces:
        piece.pop("role", None)


@vice(streaming(targets.replies), "stream/role-first")
def role_late(reply: Reply) -> None:
    """A stream says who speaks in the second chunk only."""
    reply.pieces[1]["role"] = reply.pieces[0].pop("role")


@vice(streaming(targets.replies), "shape/chunk")
def role_of_another(reply: Reply) -> None:
    """A stream says that a bot speaks."""
    reply.pieces[0]["role"] = "bot"


@vice(targets.inner_chunks, "stream/empty-choices-only-with-usage")
def choices_emptied_in_chunk(chunk: Slot) -> None:
    """A chunk in the middle has no choice."""
    chunk.holder.insert(chunk.key, {**chunk.value, "choices": []})


@vice(streaming(targets.replies), "stream/one-finish-reason")
def finish_reason_twice(reply: Reply) -> None:
    """A stream gives its finish reason twice."""
    events = reply.record["response"]
    at = next(number for number, event in enumerate(events) if reply.ending in event.get("choices", ()))
    events.insert(at, events[at])


@vice(streaming(targets.calling), "stream/one-finish-reason")
def finish_reason_after_each_call(reply: Reply) -> None:
    """A stream gives a finish reason with the chunk before the last, too."""
    events = reply.record["response"]
    at = next(number for number, event in enumerate(events) if reply.ending in event.get("choices", ()))
    events[at - 1]["choices"][0]["finish_reason"] = "tool_calls"


@vice(streaming(targets.replies), "stream/nothing-after-finish")
def content_after_finish(reply: Reply) -> None:
    """A stream says more after its finish reason."""
    events = reply.record["response"]
    at = next(number for number, event in enumerate(events) if reply.ending in event.get("choices", ()))
    late = {"index": 0, "delta": {"content": " And so on."}, "finish_reason": None}
    events.insert(at + 1, {**events[at], "choices": [late]})


@vice(streaming(targets.speaking), "stream/content-keeps-its-type")
def content_becomes_a_list(reply: Reply) -> None:
    """The last piece of a stream's content is a list of parts."""
    last = [piece for piece in reply.pieces if piece.get("content")][-1]
    last["content"] = [{"type": "text", "text": last["content"]}]


@vice(streaming(targets.replies), "stream/utf8-valid")
def character_broken(reply: Reply) -> None:
    """A character of a stream is cut in two."""
    key = next(key for key in ("content", "reasoning_content", "reasoning_details", "tool_calls") if reply.has(key))
    if key in ("content", "reasoning_content"):
        next(piece for piece in reply.pieces if piece.get(key))[key] = "18 \ufffd\ufffd"


@vice(streaming(targets.replies), "shape/chunk")
def delta_null(reply: Reply) -> None:
    """The last choice of a stream has null for a delta."""
    reply.ending["delta"] = None


@vice(targets.streams, "stream/ends-with-done")
def stream_emptied(record: Record) -> None:
    """A stream holds nothing at all."""
    record["response"] = []


@vice(targets.streams, "stream/complete")
def blank_lines_missing(record: Record) -> None:
    """No blank line stands between the events of a stream."""
    events = record["response"]
    record["response"] = [
        each if isinstance(each, str) else f"data: {orjson.dumps(each).decode()}\n" for each in events
    ]
    record["response"][-1] = "data: [DONE]\n"


def _inner_choices(records: Any) -> Any:
    return (chunk.value["choices"][0] for chunk in targets.inner_chunks(records))


@vice(_inner_choices, "stream/one-finish-reason", kin=("stream/nothing-after-finish",))
def finish_reason_in_the_middle(choice: dict[str, Any]) -> None:
    """A chunk in the middle of a stream has a finish reason, too."""
    choice["finish_reason"] = "stop"


@vice(streaming(targets.calling), "stream/nothing-after-finish")
def call_after_finish(reply: Reply) -> None:
    """The last fragment of the calls comes after the finish reason."""
    events = reply.record["response"]
    at = next(number for number, event in enumerate(events) if reply.ending in event.get("choices", ()))
    events[at - 1 : at + 1] = [events[at], events[at - 1]]


@vice(targets.streams, "stream/nothing-after-done", kin=("usage/present-when-asked",))
def usage_after_done(record: Record) -> None:
    """The token count comes after the end mark."""
    record["response"][-2:] = [record["response"][-1], record["response"][-2]]


@vice(targets.streams, "stream/role-first")
def first_chunk_lost(record: Record) -> None:
    """The first chunk of a stream is lost."""
    del record["response"][0]


@vice(targets.inner_chunks, "stream/events-are-json")
def event_null(chunk: Slot) -> None:
    """An event holds null."""
    chunk.holder.insert(chunk.key, "data: null\n\n")


@vice(targets.inner_chunks, "shape/chunk")
def chunk_emptied(chunk: Slot) -> None:
    """An event holds an object without keys."""
    chunk.holder.insert(chunk.key, {})
