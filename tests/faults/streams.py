"""Faults of streams and usage, and noise that must stay green."""

from collections.abc import Mapping
from typing import Any

from tests.faults import DONE, Reply, fault

_STREAM: dict[str, Any] = {"variants": ("stream",)}
_CUT = ("stream/complete", "the wire is broken")


@fault(*_CUT, **_STREAM)
def stream_cut(_request: Mapping[str, Any], reply: Reply) -> None:
    """Streams break in the middle of an event."""
    if reply.streamed:
        reply.body[-3:] = ['data: {"id": "chatcmpl-1", "obj']


@fault(*_CUT, **_STREAM)
def stream_cut_between_events(_request: Mapping[str, Any], reply: Reply) -> None:
    """Streams end after two thirds of their events."""
    if reply.streamed:
        del reply.body[len(reply.body) * 2 // 3 :]


@fault("stream/ends-with-done", as_warning=True, needs=lambda claims: claims.get("stream.done") is not False, **_STREAM)
def done_missing(_request: Mapping[str, Any], reply: Reply) -> None:
    """Streams have no [DONE]."""
    if reply.streamed and DONE in reply.body:
        reply.body.remove(DONE)


@fault("stream/nothing-after-done", as_warning=True, **_STREAM)
def data_after_done(_request: Mapping[str, Any], reply: Reply) -> None:
    """A chunk follows [DONE]."""
    if reply.streamed:
        reply.body.append(reply.chunks[0])


@fault("error/no-error-in-stream", "the wire is broken", "stream/", **_STREAM)
def error_chunk(_request: Mapping[str, Any], reply: Reply) -> None:
    """Streams end with an error."""
    if reply.streamed:
        error = {"message": "The upstream is gone.", "type": "server_error", "param": None, "code": "502"}
        reply.body[-3:] = [{"error": error}, DONE]


@fault("as-scripted", **_STREAM)
def content_loses_a_character(_request: Mapping[str, Any], reply: Reply) -> None:
    """The content of streams lacks a character."""
    for delta in reply.deltas if reply.streamed else ():
        if isinstance(delta.get("content"), str) and len(delta["content"]) > 2:
            delta["content"] = delta["content"][:-2] + delta["content"][-1]


@fault("as-scripted")
def answer_loses_a_word(_request: Mapping[str, Any], reply: Reply) -> None:
    """Answers lack their first word."""
    for delta in reply.deltas:
        if isinstance(delta.get("content"), str) and " " in delta["content"]:
            delta["content"] = delta["content"].partition(" ")[2]
            return


@fault("as-scripted", **_STREAM)
def delta_duplicated(_request: Mapping[str, Any], reply: Reply) -> None:
    """Each delta with content comes twice."""
    if reply.streamed:
        reply.body[:] = [each for event in reply.body for each in ([event] * (2 if _has_content(event) else 1))]


@fault("as-scripted", "tool-calls/", "stream/", **_STREAM)
def call_delta_duplicated(_request: Mapping[str, Any], reply: Reply) -> None:
    """The last delta of a call comes twice."""
    if reply.streamed and reply.calls:
        last = next(each for each in reversed(reply.chunks) if each["choices"] and _delta(each).get("tool_calls"))
        reply.body.insert(next(n for n, each in enumerate(reply.body) if each is last), last)


@fault("as-scripted", **_STREAM)
def deltas_reordered(_request: Mapping[str, Any], reply: Reply) -> None:
    """Two neighbouring deltas with content change places."""
    if reply.streamed:
        found = [n for n, each in enumerate(reply.body) if _has_content(each)]
        if len(found) > 1:
            first, second = found[:2]
            reply.body[first], reply.body[second] = reply.body[second], reply.body[first]


@fault("http/streams-when-asked", "the wire is broken", **_STREAM)
def stream_ignored(_request: Mapping[str, Any], reply: Reply) -> None:
    """A request for a stream gets a plain reply."""
    if reply.streamed:
        message = {"role": "assistant", "content": "Fine."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply.headers["content-type"] = "application/json"
        reply.body = {**reply.chunks[0], "object": "chat.completion", "choices": [choice]}


@fault("stream/events-are-json", "the wire is broken", **_STREAM)
def event_is_no_json(_request: Mapping[str, Any], reply: Reply) -> None:
    """An event is not JSON."""
    if reply.streamed:
        reply.body.insert(1, "data: {'choices': []}\n\n")


@fault("usage/cached-within-prompt", as_warning=True)
def more_cached_than_prompted(_request: Mapping[str, Any], reply: Reply) -> None:
    """More tokens are counted as cached than the prompt has."""
    for usage in _usages(reply):
        usage["prompt_tokens_details"] = {"cached_tokens": usage["prompt_tokens"] + 1}


@fault("usage/adds-up", needs=lambda claims: claims.get("usage.total") != "larger")
def usage_does_not_add_up(_request: Mapping[str, Any], reply: Reply) -> None:
    """The total of tokens is not the sum of its parts."""
    for usage in _usages(reply):
        usage["total_tokens"] -= 1


@fault("usage/present-when-asked", "shape/response")
def usage_missing(_request: Mapping[str, Any], reply: Reply) -> None:
    """Replies have no usage."""
    for chunk in reply.chunks:
        chunk.pop("usage", None)
        for name in [name for name in chunk if name.startswith("x_")]:
            del chunk[name]
    if reply.streamed:
        reply.body[:] = [each for each in reply.body if isinstance(each, str) or each["choices"]]


@fault(**_STREAM)
def line_ends_of_http(_request: Mapping[str, Any], reply: Reply) -> None:
    """Lines of streams end with CR and LF, which the standard allows."""
    if reply.streamed:
        import orjson

        events = [each if isinstance(each, str) else f"data: {orjson.dumps(each).decode()}\n\n" for each in reply.body]
        reply.body[:] = [each.replace("\n", "\r\n") for each in events]


@fault(**_STREAM)
def comments_between_events(_request: Mapping[str, Any], reply: Reply) -> None:
    """Comments stand between the events of streams, which the standard allows."""
    if reply.streamed:
        reply.body[:] = [each for event in reply.body for each in (": keep-alive\n\n", event)]


@fault(scenarios=("interleaved-thinking", "two-tool-turns", "parallel-tool-calls"))
def nothing_changed(_request: Mapping[str, Any], reply: Reply) -> None:
    """Replies pass unchanged, with one more header."""
    reply.headers["x-request-id"] = "1"


@fault()
def unknown_members(_request: Mapping[str, Any], reply: Reply) -> None:
    """Replies have a top-level member that is unknown and holds no text of the model."""
    for chunk in reply.chunks:
        chunk["x_region"] = 7


@fault()
def busy_once(_request: Mapping[str, Any], reply: Reply) -> None:
    """The first request of each body is refused with 429, and answered when it is asked again."""
    key = str(_request)
    if key not in reply.state:
        reply.state[key] = True
        reply.refuse(429, "Slow down.")
        reply.headers["retry-after"] = "0"


def _usages(reply: Reply) -> list[dict[str, Any]]:
    found = []
    for chunk in reply.chunks:
        holders = [
            chunk,
            *chunk["choices"],
            *(v for k, v in chunk.items() if k.startswith("x_") and isinstance(v, dict)),
        ]
        found += [each["usage"] for each in holders if isinstance(each.get("usage"), dict)]
    return found


def _delta(chunk: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = chunk["choices"][0]["delta"]
    return found


def _has_content(event: Any) -> bool:
    return isinstance(event, dict) and bool(event.get("choices")) and bool(_delta(event).get("content"))
