"""A persona's message as the events of a stream: where roles, fragments, indexes and counts stand, as it is claimed.

Two things that are claimed are not played, because no reader that keeps to the standards could take them: events
without a blank line between them, and a role that is an empty string.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.simulator import replies
from conformance.simulator.reply_context import Likeness
from conformance.simulator.usage import usage
from conformance.wire.assemble import DONE_EVENT
from conformance.wire.reasoning import TEXT_KEYS
from conformance.wire.sse import render

PIECE: Final = 32
"""Characters of a fragment."""

_COMMENT: Final = ": keep-alive\n\n"


def text(likeness: Likeness, said: Mapping[str, Any]) -> str:
    """Return the text of a stream, with the claimed line ends."""
    whole = render(events(likeness, said))
    return whole.replace("\n", "\r\n") if likeness.one("stream.line-ends", "lf") == "crlf" else whole


def events(likeness: Likeness, said: Mapping[str, Any]) -> list[Any]:
    """Return the items of a stream: chunks, a comment, and the closing `[DONE]` where the provider sends one."""
    kind = str(likeness.one("stream.object", "chat.completion.chunk"))
    frame = replies.frame(likeness, kind)
    if likeness.one("stream.chunk-id", "constant") == "absent":
        del frame["id"]
    chunks = [{"choices": [choice]} for choice in _choices(likeness, said)]
    _count(likeness, said, chunks)
    if likeness.claims_that("stream.empty-first-chunk"):
        chunks.insert(0, {"choices": []})
    whole = [frame | chunk for chunk in chunks]
    if likeness.one("stream.chunk-id", "constant") == "varies":
        pattern = str(likeness.one("reply.id-format", replies.DEFAULT_REPLY_ID))
        whole = [chunk | {"id": likeness.text(pattern, f"chunk {n}")} for n, chunk in enumerate(whole)]
    comment = [_COMMENT] if likeness.claims_that("stream.comments") else []
    return [*comment, *whole, *([] if likeness.claims.get("stream.done") is False else [DONE_EVENT])]


def _choices(likeness: Likeness, said: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the choices of the chunks, up to and with the finish reason."""
    deltas = _roles(likeness, [*_deltas(likeness, said)])
    before = likeness.one("finish.before-end", "null")
    unfinished = {} if before == "absent" else {"finish_reason": "" if before == "empty" else None}
    unfinished |= _unfinished(likeness)
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta} | unfinished for delta in deltas]
    reason = replies.finish_reason(likeness, said, streamed=True)
    finish = {"finish_reason": reason} | replies.native(likeness, reason)
    if said.get("tool_calls") and likeness.claims_that("stream.finish-with-call"):
        choices[-1] |= finish
        return choices
    return [*choices, {"index": 0, "delta": {}} | finish]


def _unfinished(likeness: Likeness) -> dict[str, Any]:
    """Return what a choice holds beside the finish reason, where it has none yet."""
    return replies.native(likeness, None) if likeness.whole else {}


def _roles(likeness: Likeness, deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    where = likeness.one("stream.role", "first")
    if where == "absent":
        return [delta for delta in deltas if delta] or [{}]
    later = {"role": "assistant"} if where == "every" else {}
    return [{"role": "assistant"} | deltas[0], *[later | delta for delta in deltas[1:]]]


def _deltas(likeness: Likeness, said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the deltas that put a message together, in the order in which providers stream: thought, words, calls."""
    yield _opening(likeness, said)
    content = said.get("content")
    yield from _thoughts(likeness, said)
    if isinstance(content, str):
        for piece in _pieces(content):
            yield {"content": piece}
    for part in content if isinstance(content, list) else ():
        yield {"content": part["text"]} if part["type"] == "text" else {"content": [part]}
    yield from _calls(likeness, said.get("tool_calls", ()))


def _opening(likeness: Likeness, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the first delta holds beside the role."""
    if isinstance(said.get("content"), list):
        return {}
    if not said.get("tool_calls") or said.get("content"):
        return {"content": ""}
    usual = "null" if said.get("content", "") is None else "empty" if "content" in said else "absent"
    forms = likeness.every("content.in-tool-stream") or (usual,)
    form = next((each for each in forms if each != "text"), "empty")
    return {} if form == "absent" else {"content": None if form == "null" else ""}


def _thoughts(likeness: Likeness, said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the deltas of a thought: each piece of its text under all the names that it has, in one delta.

    Clients know the flat name and the details for two copies of one piece by their coming together.
    """
    null = {"content": None} if likeness.one("stream.nulls", "omitted") == "explicit" else {}
    spoken = [null | {field: piece} for field in TEXT_KEYS for piece in _pieces(said.get(field) or "")]
    details = [part for detail in said.get("reasoning_details", ()) for part in _detail_pieces(likeness, detail)]
    for words in spoken:
        piece = next(reversed(words.values()))
        same = details and piece in (details[0].get("text"), details[0].get("summary"))
        yield words | {"reasoning_details": [details.pop(0)]} if same else words
    for part in details:
        yield {"reasoning_details": [part]}
    for field in ("thinking_blocks", "extra_content"):
        if field in said:
            yield {field: said[field]}


def _detail_pieces(likeness: Likeness, detail: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a detail as it arrives: in pieces that add up, else in one piece, of which all so far is the whole.

    A signature comes with the last piece, or in one of its own where it is claimed to.
    """
    key = "text" if "text" in detail else "summary"
    if key not in detail or likeness.one("reasoning.details.stream", "incremental") != "incremental":
        yield detail
        return
    signature = {name: detail[name] for name in ("signature",) if name in detail}
    frame = {name: value for name, value in detail.items() if name not in (key, "signature")}
    *first, last = _pieces(detail[key]) or [""]
    for piece in first:
        yield frame | {key: piece}
    if signature and likeness.claims_that("signature.alone-in-delta"):
        yield frame | {key: last}
        yield frame | signature
    else:
        yield frame | {key: last} | signature


def _calls(likeness: Likeness, calls: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    together = likeness.one("stream.calls-a-delta", "one") == "several"
    whole = likeness.one("stream.call-shape", "fragments") == "whole"
    fragments = [[*_fragments(likeness, index, call, whole=whole)] for index, call in enumerate(calls)]
    if together and fragments and (whole or likeness.one("stream.index", "present") == "present"):
        yield {"tool_calls": [each.pop(0) for each in fragments]}
    for each in fragments:
        for fragment in each:
            yield {"tool_calls": [fragment]}


def _fragments(likeness: Likeness, position: int, call: Mapping[str, Any], *, whole: bool) -> Iterator[dict[str, Any]]:
    form = likeness.one("stream.index", "present")
    numbers: dict[Any, dict[str, int]] = {"absent": {}, "always-zero": {"index": 0}, "shifted": {"index": position + 1}}
    index = numbers.get(form, {"index": position})
    if whole:
        yield {**index, **call}
        return
    function = call["function"]
    pieces = _pieces(function["arguments"])
    begun = likeness.one("stream.first-arguments", "empty")
    first: dict[str, Any] = {} if begun == "absent" else {"arguments": None if begun == "null" else ""}
    if begun == "text":
        first, pieces = {"arguments": pieces[0]}, pieces[1:]
    yield {**index, **call, "function": {"name": function["name"]} | first}
    again = {name: _again(likeness, name, call.get(name)) for name in ("id", "type")}
    more = {name: value for name, value in again.items() if value is not ...}
    name = _again(likeness, "name", function["name"])
    for piece in pieces:
        yield {**index, **more, "function": ({} if name is ... else {"name": name}) | {"arguments": piece}}


def _again(likeness: Likeness, field: str, value: Any) -> Any:
    """Return a field of a call in its later deltas; `...` where it is not there."""
    form = likeness.one(f"stream.continuation-{field}", "absent")
    return {"repeated": value, "empty": "", "null": None}.get(form, ...)


def _count(likeness: Likeness, said: Mapping[str, Any], chunks: list[dict[str, Any]]) -> None:
    """Count the tokens of a stream where they are claimed to be counted, and say so of the other chunks."""
    place = _place(likeness)
    if place == "none":
        return
    count = usage(likeness, said)
    finish = chunks[-1]
    if place == "choice":
        finish["choices"][0]["usage"] = count
        return
    if place == "vendor":
        named = [each for each in likeness.every("reply.fields") if str(each).startswith("x_")]
        finish[named[0] if named else "x_usage"] = {"usage": count}
        return
    blank = {"null": None, "zero": dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), 0)}
    form = likeness.one("stream.usage-elsewhere", "absent")
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
        role = {} if likeness.one("stream.role", "first") == "absent" else {"role": "assistant"}
        choice = {"index": 0, "delta": role | {"content": ""}, "finish_reason": None} | _unfinished(likeness)
        chunks.append({"choices": [choice], "usage": count})


def _place(likeness: Likeness) -> str:
    """Return where this stream counts its tokens."""
    options = likeness.request.get("stream_options")
    asked = str(likeness.one("stream.usage", "own-chunk"))
    if isinstance(options, Mapping) and options.get("include_usage") is True:
        return asked
    unasked = asked if likeness.claims.get("stream.usage-needs-option") is False else "none"
    return str(likeness.one("stream.usage-unasked", unasked))


def _pieces(whole: str) -> Sequence[str]:
    return [whole[start : start + PIECE] for start in range(0, len(whole), PIECE)]
