"""Faults of streams: events, chunks, errors between them, and the end."""

from typing import Any

import orjson

from tests.mutation import targets
from tests.mutation.bases import Record
from tests.mutation.definition import mutation
from tests.mutation.targets import Reply, Slot, streaming

_DONE = "data: [DONE]\n\n"
_GONE = {"message": "The upstream is gone.", "type": "server_error", "param": None, "code": "502"}


@mutation(targets.streams, "stream/ends-with-done")
def done_dropped(record: Record) -> None:
    """A stream does not end with [DONE]."""
    record["response"].remove(_DONE)


@mutation(targets.streams, "stream/done-is-exact")
def done_without_blank_line(record: Record) -> None:
    """No blank line follows [DONE]."""
    record["response"][-1] = "data: [DONE]\n"


@mutation(targets.streams, "stream/done-is-exact")
def done_with_space(record: Record) -> None:
    """A space follows [DONE]."""
    record["response"][-1] = "data: [DONE] \n\n"


@mutation(targets.streams, "stream/events-are-json", related=("stream/ends-with-done",))
def done_misspelled(record: Record) -> None:
    """[DONE] is in lower case."""
    record["response"][-1] = "data: [done]\n\n"


@mutation(targets.streams, "stream/nothing-after-done")
def done_twice(record: Record) -> None:
    """[DONE] comes twice."""
    record["response"].append(_DONE)


@mutation(targets.streams, "stream/nothing-after-done")
def chunk_after_done(record: Record) -> None:
    """The first chunk comes again after [DONE]."""
    record["response"].append(record["response"][0])


@mutation(targets.streams, "stream/complete", related=("usage/present-when-asked",))
def cut_in_event(record: Record) -> None:
    """The connection breaks in the middle of an event."""
    record["response"][-2:] = ['data: {"id": "chatcmpl-1", "obj']


@mutation(streaming(targets.replies), "stream/complete")
def finish_reason_never_comes(reply: Reply) -> None:
    """A stream ends without a finish reason."""
    reply.ending["finish_reason"] = None


@mutation(streaming(targets.replies), "stream/complete")
def cut_between_events(reply: Reply) -> None:
    """The connection breaks after half of the events."""
    events = reply.record["response"]
    del events[len(events) // 2 :]


@mutation(targets.inner_chunks, "stream/events-are-json", related=("response/message-not-empty",))
def event_in_single_quotes(chunk: Slot) -> None:
    """An event is a Python literal."""
    chunk.put("data: {'usage': None}\n\n")


@mutation(targets.chunks, "stream/events-are-json")
def keepalive_as_data(chunk: Slot) -> None:
    """A keep-alive is sent as data."""
    chunk.holder.insert(chunk.key, "data: ping\n\n")


@mutation(targets.chunks, "error/no-error-in-stream")
def error_between_chunks(chunk: Slot) -> None:
    """An error comes in the middle of a stream with status 200."""
    chunk.holder.insert(chunk.key, {"error": _GONE})


@mutation(targets.chunks, "error/no-error-in-stream")
def error_as_named_event(chunk: Slot) -> None:
    """An error comes as an event with a name."""
    chunk.holder.insert(chunk.key, 'event: error\ndata: {"error": {"message": "The upstream is gone."}}\n\n')


@mutation(targets.inner_chunks, "error/no-error-in-stream")
def error_in_chunk(chunk: Slot) -> None:
    """A chunk has an error beside its choices."""
    chunk.value["error"] = _GONE


@mutation(streaming(targets.replies), "error/no-error-in-stream")
def error_in_last_choice(reply: Reply) -> None:
    """A stream ends with an error in its choice."""
    reply.ending.update(finish_reason="error", error=_GONE)


@mutation(targets.inner_chunks, "error/no-error-in-stream")
def error_in_choice_of_chunk(chunk: Slot) -> None:
    """The choice of a chunk has an error."""
    chunk.value["choices"][0]["error"] = _GONE


def _not_first(records: Any) -> Any:
    return (chunk for chunk in targets.chunks(records) if chunk.key)


@mutation(_not_first, "stream/chunk-id-constant")
def chunk_id_changes(chunk: Slot) -> None:
    """A chunk has another id than those before."""
    chunk.value["id"] = "chatcmpl-other"


@mutation(_not_first, "shape/chunk")
def chunk_id_null(chunk: Slot) -> None:
    """The id of a chunk is null."""
    chunk.value["id"] = None


@mutation(streaming(targets.replies), "stream/role-first")
def role_missing(reply: Reply) -> None:
    """A stream has no role."""
    for delta in reply.deltas:
        delta.pop("role", None)


@mutation(streaming(targets.replies), "stream/role-first")
def role_late(reply: Reply) -> None:
    """The role comes with the second chunk of a stream."""
    reply.deltas[1]["role"] = reply.deltas[0].pop("role")


@mutation(streaming(targets.replies), "shape/chunk")
def role_of_another(reply: Reply) -> None:
    """The role in a stream is bot."""
    reply.deltas[0]["role"] = "bot"


@mutation(targets.inner_chunks, "stream/empty-choices-only-with-usage")
def choices_emptied_in_chunk(chunk: Slot) -> None:
    """A chunk in the middle has no choice."""
    chunk.holder.insert(chunk.key, {**chunk.value, "choices": []})


@mutation(streaming(targets.replies), "stream/one-finish-reason")
def finish_reason_twice(reply: Reply) -> None:
    """A stream sends its finish reason twice."""
    events, at = reply.record["response"], reply.ending_position
    events.insert(at, events[at])


@mutation(streaming(targets.replies_with_calls), "stream/one-finish-reason")
def finish_reason_after_each_call(reply: Reply) -> None:
    """The chunk before the last has a finish reason as well."""
    events, at = reply.record["response"], reply.ending_position
    events[at - 1]["choices"][0]["finish_reason"] = "tool_calls"


@mutation(streaming(targets.replies), "stream/nothing-after-finish")
def content_after_finish(reply: Reply) -> None:
    """A stream has more content after its finish reason."""
    events, at = reply.record["response"], reply.ending_position
    late = {"index": 0, "delta": {"content": " And so on."}, "finish_reason": None}
    events.insert(at + 1, {**events[at], "choices": [late]})


@mutation(streaming(targets.replies_without_calls), "stream/content-keeps-its-type")
def content_becomes_a_list(reply: Reply) -> None:
    """The last delta of a stream's content is a list of parts."""
    last = [delta for delta in reply.deltas if delta.get("content")][-1]
    last["content"] = [{"type": "text", "text": last["content"]}]


@mutation(streaming(targets.replies), "stream/utf8-valid")
def character_broken(reply: Reply) -> None:
    """A character of a stream is cut in two."""
    key = next(key for key in ("content", "reasoning_content", "reasoning_details", "tool_calls") if reply.has(key))
    if key in ("content", "reasoning_content"):
        next(delta for delta in reply.deltas if delta.get(key))[key] = "18 \ufffd\ufffd"


@mutation(streaming(targets.replies), "shape/chunk")
def delta_null(reply: Reply) -> None:
    """The last delta of a stream is null."""
    reply.ending["delta"] = None


@mutation(targets.streams, "stream/ends-with-done")
def stream_emptied(record: Record) -> None:
    """A stream is empty."""
    record["response"] = []


@mutation(targets.streams, "stream/complete")
def blank_lines_missing(record: Record) -> None:
    """No blank line stands between the events of a stream."""
    events = record["response"]
    record["response"] = [
        each if isinstance(each, str) else f"data: {orjson.dumps(each).decode()}\n" for each in events
    ]
    record["response"][-1] = "data: [DONE]\n"


def _inner_choices(records: Any) -> Any:
    return (chunk.value["choices"][0] for chunk in targets.inner_chunks(records))


@mutation(_inner_choices, "stream/one-finish-reason", related=("stream/nothing-after-finish",))
def finish_reason_in_the_middle(choice: dict[str, Any]) -> None:
    """A chunk in the middle of a stream has a finish reason as well."""
    choice["finish_reason"] = "stop"


@mutation(streaming(targets.replies_with_calls), "stream/nothing-after-finish")
def call_after_finish(reply: Reply) -> None:
    """The last fragment of the calls comes after the finish reason."""
    events, at = reply.record["response"], reply.ending_position
    events[at - 1 : at + 1] = [events[at], events[at - 1]]


@mutation(targets.streams, "stream/nothing-after-done", related=("usage/present-when-asked",))
def usage_after_done(record: Record) -> None:
    """The token count comes after [DONE]."""
    record["response"][-2:] = [record["response"][-1], record["response"][-2]]


@mutation(targets.streams, "stream/role-first")
def first_chunk_lost(record: Record) -> None:
    """The first chunk of a stream is lost."""
    del record["response"][0]


@mutation(targets.inner_chunks, "stream/events-are-json")
def event_null(chunk: Slot) -> None:
    """An event is null."""
    chunk.holder.insert(chunk.key, "data: null\n\n")


@mutation(targets.inner_chunks, "shape/chunk")
def chunk_emptied(chunk: Slot) -> None:
    """An event is an empty object."""
    chunk.holder.insert(chunk.key, {})


@mutation(targets.streams, "stream/not-empty", related=("usage/present-when-asked",))
def nothing_but_the_end(record: Record) -> None:
    """A stream has its end marker and nothing else."""
    record["response"] = [event for event in record["response"] if isinstance(event, str)]
