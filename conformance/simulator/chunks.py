"""A simulated message as the events of a stream, with roles, fragments, indexes and usage where the claims put them.

Two claims are ignored, since no reader that follows the standards could parse the result: events without a blank
line between them, and a role that is an empty string.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.simulator import members, replies
from conformance.simulator.replies import PlayedChoice
from conformance.simulator.reply_context import ReplyContext
from conformance.wire.assemble import DONE_EVENT
from conformance.wire.reasoning import TEXT_KEYS, foreign_keys
from conformance.wire.sse import render

FRAGMENT_LENGTH: Final = 32
"""The length of a fragment in characters."""

_COMMENT: Final = ": keep-alive\n\n"


def text(context: ReplyContext, choices: Sequence[PlayedChoice]) -> str:
    """Return the text of a stream, with the claimed line ends."""
    whole = render(events(context, choices))
    return whole.replace("\n", "\r\n") if context.claim("stream.line-ends", "lf") == "crlf" else whole


def events(context: ReplyContext, choices: Sequence[PlayedChoice]) -> list[Any]:
    """Return the items of a stream: chunks, a comment and the closing `[DONE]`, if the provider sends them."""
    kind = str(context.claim("stream.object", "chat.completion.chunk"))
    frame = replies.frame(context, kind) | members.of_chunk(context)
    if context.claim("stream.chunk-id", "constant") == "absent":
        frame.pop("id", None)
    numbered = enumerate(choices)
    chunks = [{"choices": [part]} for number, choice in numbered for part in _choices(context, choice, number)]
    _add_usage(context, choices, chunks)
    chunks[0] = members.of_first_chunk(context) | chunks[0]
    if context.is_true("stream.empty-first-chunk"):
        chunks.insert(0, {"choices": []})
    whole = [frame | chunk for chunk in chunks]
    if context.claim("stream.chunk-id", "constant") == "varies":
        pattern = str(context.claim("reply.id-format", replies.DEFAULT_REPLY_ID))
        whole = [chunk | {"id": context.matching_text(pattern, f"chunk {n}")} for n, chunk in enumerate(whole)]
    comment = [_COMMENT] if context.is_true("stream.comments") else []
    return [*comment, *whole, *([] if context.claims.get("stream.done") is False else [DONE_EVENT])]


def _choices(context: ReplyContext, choice: PlayedChoice, number: int) -> list[dict[str, Any]]:
    """Return the parts of a choice that the chunks hold, up to the one with the finish reason."""
    message = choice.message
    parts = _roles(context, [*deltas(context, message)])
    parts[0] = parts[0] | members.of_first_delta(context)
    before = context.claim("finish.before-end", "null")
    unfinished = {} if before == "absent" else {"finish_reason": "" if before == "empty" else None}
    unfinished |= _native_unfinished(context)
    further = members.of_choice(context)
    choices: list[dict[str, Any]] = [
        {"index": number, "delta": delta} | unfinished | further | replies.logprobs(context, delta.get("content"))
        for delta in parts
    ]
    reason = replies.finish_reason(context, choice, streamed=True)
    finish = {"finish_reason": reason} | replies.native_finish_reason(context, reason)
    if message.get("tool_calls") and context.is_true("stream.finish-with-call"):
        choices[-1] |= finish
        return choices
    return [*choices, {"index": number, "delta": {}} | finish | further]


def _native_unfinished(context: ReplyContext) -> dict[str, Any]:
    """Return the empty native finish reason of a choice that is not finished."""
    return replies.native_finish_reason(context, None)


def _roles(context: ReplyContext, deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    where = context.claim("stream.role", "first")
    if where == "absent":
        return [delta for delta in deltas if delta] or [{}]
    later = {"role": "assistant"} if where == "every" else {}
    return [{"role": "assistant"} | deltas[0], *[later | delta for delta in deltas[1:]]]


def deltas(context: ReplyContext, message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the deltas of a message in the order in which providers stream: reasoning, content, calls."""
    yield _opening(context, message)
    content = message.get("content")
    yield from _reasoning(context, message)
    if isinstance(content, str):
        for fragment in _split(content):
            yield {"content": fragment}
    for part in content if isinstance(content, list) else ():
        yield {"content": part["text"]} if part["type"] == "text" else {"content": [part]}
    yield from _calls(context, message.get("tool_calls", ()))


def _opening(context: ReplyContext, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the first delta has beside the role."""
    if isinstance(message.get("content"), list):
        return {}
    if not message.get("tool_calls") or message.get("content"):
        return {"content": ""}
    usual = "null" if message.get("content", "") is None else "empty" if "content" in message else "absent"
    # Unless the claims say otherwise, a stream opens with the content that a plain reply would have.
    forms = context.claim_values("content.in-tool-stream") or (usual,)
    form = next((listed for listed in forms if listed != "text"), "empty")
    return {} if form == "absent" else {"content": None if form == "null" else ""}


def _reasoning(context: ReplyContext, message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the deltas of the reasoning; a fragment that stands in several fields comes in one delta.

    Clients recognize the text field and the details as copies because they come together.
    """
    null = {"content": None} if context.claim("stream.nulls", "omitted") == "explicit" else {}
    keys = (*TEXT_KEYS, *foreign_keys(context.claim_values("reasoning.response-field")))
    texts = [null | {field: fragment} for field in keys for fragment in _split(message.get(field) or "")]
    details = [part for detail in message.get("reasoning_details", ()) for part in _detail_fragments(context, detail)]
    sealed = {key: message[key] for key in ("reasoning_opaque",) if key in message}
    for number, delta in enumerate(texts, 1):
        # The text stands behind the null of the content.
        fragment = next(reversed(delta.values()))
        same = details and fragment in (details[0].get("text"), details[0].get("summary"))
        copy = {"reasoning_details": [details.pop(0)]} if same else {}
        yield delta | copy | (sealed if number == len(texts) else {})
    for part in details:
        yield {"reasoning_details": [part]}
    for field in ("thinking_blocks", "extra_content"):
        if field in message:
            yield {field: message[field]}


def _detail_fragments(context: ReplyContext, detail: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a detail as it is streamed: in fragments if they are claimed to be incremental, otherwise whole.

    A signature comes with the last fragment, or in a delta of its own if that is claimed.
    """
    key = "text" if "text" in detail else "summary"
    if key not in detail or context.claim("reasoning.details.stream", "incremental") != "incremental":
        yield detail
        return
    signature = {name: detail[name] for name in ("signature",) if name in detail}
    frame = {name: value for name, value in detail.items() if name not in (key, "signature")}
    # An empty text is one empty fragment, because the signature needs one to come with.
    *first, last = _split(detail[key]) or [""]
    for fragment in first:
        yield frame | {key: fragment}
    if signature and context.is_true("signature.alone-in-delta"):
        yield frame | {key: last}
        yield frame | signature
    else:
        yield frame | {key: last} | signature


def _calls(context: ReplyContext, calls: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    together = context.claim("stream.calls-a-delta", "one") == "several"
    whole = context.claim("stream.call-shape", "fragments") == "whole"
    deltas = [[*_call_deltas(context, index, call, whole=whole)] for index, call in enumerate(calls)]
    if together and deltas and (whole or context.claim("stream.index", "present") == "present"):
        yield {"tool_calls": [of_call.pop(0) for of_call in deltas]}
    for of_call in deltas:
        for delta in of_call:
            yield {"tool_calls": [delta]}


def _call_deltas(
    context: ReplyContext, position: int, call: Mapping[str, Any], *, whole: bool
) -> Iterator[dict[str, Any]]:
    form = context.claim("stream.index", "present")
    numbers: dict[Any, dict[str, int]] = {"absent": {}, "always-zero": {"index": 0}, "shifted": {"index": position + 1}}
    index = numbers.get(form, {"index": position})
    if whole:
        yield {**index, **call}
        return
    function = call["function"]
    fragments = _split(function["arguments"])
    begins_with = context.claim("stream.first-arguments", "empty")
    first: dict[str, Any] = {} if begins_with == "absent" else {"arguments": None if begins_with == "null" else ""}
    if begins_with == "text":
        first, fragments = {"arguments": fragments[0]}, fragments[1:]
    yield {**index, **call, "function": {"name": function["name"]} | first}
    later = {name: _later_value(context, name, call.get(name)) for name in ("id", "type")}
    present = {name: value for name, value in later.items() if value is not ...}
    name = _later_value(context, "name", function["name"])
    for fragment in fragments:
        yield {**index, **present, "function": ({} if name is ... else {"name": name}) | {"arguments": fragment}}


def _later_value(context: ReplyContext, field: str, value: Any) -> Any:
    """Return the value of a field in the later deltas of a call; `...` if it is absent there."""
    form = context.claim(f"stream.continuation-{field}", "absent")
    return {"repeated": value, "empty": "", "null": None}.get(form, ...)


def _add_usage(context: ReplyContext, choices: Sequence[PlayedChoice], chunks: list[dict[str, Any]]) -> None:
    """Add the usage to the chunk that is claimed to have it, and the claimed placeholder to the other chunks."""
    place = _usage_place(context)
    if place == "none":
        return
    count = replies.usage(context, choices)
    finish = chunks[-1]
    if place == "choice":
        finish["choices"][0]["usage"] = count
        return
    if place == "vendor":
        named = [name for name in context.claim_values("reply.fields") if str(name).startswith("x_")]
        name = named[0] if named else "x_usage"
        finish[name] = members.of_first_chunk(context).get(name, {}) | {"usage": count}
        return
    blank = {"null": None, "zero": dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), 0)}
    form = context.claim("stream.usage-elsewhere", "absent")
    for chunk in chunks:
        if place == "every-chunk":
            chunk["usage"] = count
        elif form in blank:
            chunk["usage"] = blank[form]
    if place in ("finish-chunk", "both"):
        finish["usage"] = count
    if place in ("own-chunk", "both"):
        chunks.append({"choices": [], "usage": count})
    if place == "last-choice-chunk":
        role = {} if context.claim("stream.role", "first") == "absent" else {"role": "assistant"}
        choice = {"index": 0, "delta": role | {"content": ""}, "finish_reason": None} | _native_unfinished(context)
        chunks.append({"choices": [choice], "usage": count})


def _usage_place(context: ReplyContext) -> str:
    """Return which chunk of this stream has the usage."""
    options = context.request.get("stream_options")
    asked = str(context.claim("stream.usage", "own-chunk"))
    if isinstance(options, Mapping) and options.get("include_usage") is True:
        return asked
    unasked = asked if context.claims.get("stream.usage-needs-option") is False else "none"
    return str(context.claim("stream.usage-unasked", unasked))


def _split(text: str) -> Sequence[str]:
    return [text[start : start + FRAGMENT_LENGTH] for start in range(0, len(text), FRAGMENT_LENGTH)]
