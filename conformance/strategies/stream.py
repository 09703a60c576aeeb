"""Streamed replies, drawn together with the message that they put together, so that a parser can be held to it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from conformance.strategies.transcript import SAID, Message, named, transcripts

QUIRKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "index missing": {"index": lambda _position: {}},
    "index always 0": {"index": lambda _position: {"index": 0}},
    "id repeated": {"again": lambda call: {"id": call["id"]}},
    "id empty": {"again": lambda _call: {"id": ""}},
    "id null": {"again": lambda _call: {"id": None}},
    "type missing": {"type": {}},
    "arguments null at first": {"first": {"arguments": None}},
    "arguments missing at first": {"first": {}},
    "role on every chunk": {"later": {"role": "assistant"}},
    "role missing": {"role": {}},
    "empty first chunk": {"opening": [{"choices": []}]},
    "chunks without id": {"frame": {"object": "chat.completion.chunk", "created": 1700000001, "model": "example-1"}},
    "no end mark": {"end": []},
}
"""What hosts do to streams and parsers have to bear, each as the changes to `_PLAIN` that make a stream do it."""

_PLAIN: Final[Mapping[str, Any]] = {
    "index": lambda position: {"index": position},
    "again": lambda _call: {},
    "type": {"type": "function"},
    "first": {"arguments": ""},
    "role": {"role": "assistant"},
    "later": {},
    "opening": [],
    "frame": {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000001, "model": "example-1"},
    "end": ["[DONE]"],
}
_USAGE: Final = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
_COMMENTS: Final = st.sampled_from(["", ": keep-alive\n\n", ":\n", "event: message\n", "id: 1\n", "retry: 500\n"])
_LINE_ENDS: Final = st.sampled_from(["\n", "\r\n", "\r"])


def replies(*, max_calls: int = 3) -> st.SearchStrategy[Message]:
    """Return a strategy of a reply's messages as the canonical wire has them: text, or calls, with reasoning or not.

    `content` is a string always; reasoning stands in `reasoning_content`.
    """
    said = st.fixed_dictionaries({"role": st.just("assistant"), "content": SAID}, optional={"reasoning_content": SAID})
    if not max_calls:
        return said
    histories = transcripts(ids="unique", reasoning=("absent", "text"), system=False, max_turns=1, max_calls=max_calls)
    calling = histories.map(lambda messages: [message for message in messages if "tool_calls" in message])
    return said | calling.filter(bool).map(lambda messages: messages[0])


def streams(
    *,
    messages: st.SearchStrategy[Message] | None = None,
    quirks: str | Sequence[str] = tuple(QUIRKS),
) -> st.SearchStrategy[tuple[bytes, Message]]:
    """Return a strategy of event streams as bytes, each with the message that a client has to make of it.

    Text, reasoning and arguments are cut anywhere; calls come in fragments, each whole, or all in one chunk, and the
    fragments of parallel calls may take turns; usage comes in a chunk of its own, with the finish reason, or not at
    all; lines end in each of the three ways, with comments and fields between them that mean nothing here. `quirks`
    adds what breaks rules of the canonical wire and yet is sent by some host, any of `QUIRKS`; with () there is none.
    `messages` draws the messages, by default those of `replies`. Raises UnknownName for a quirk that is not known.
    """
    chosen = named("quirks", quirks, QUIRKS)
    odd = st.lists(st.sampled_from(chosen), max_size=2) if chosen else st.just([])
    return _streams(replies() if messages is None else messages, odd)


@st.composite
def _streams(
    draw: st.DrawFn, messages: st.SearchStrategy[Message], quirks: st.SearchStrategy[list[Mapping[str, Any]]]
) -> tuple[bytes, Message]:
    message = draw(messages)
    way = dict(_PLAIN)
    for quirk in draw(quirks):
        way |= quirk
    choices = _choices(_deltas(draw, message, way), way, "tool_calls" if "tool_calls" in message else "stop")
    chunks = [*way["opening"], *({"choices": [choice]} for choice in choices)]
    match draw(st.sampled_from(["none", "own chunk", "last chunk"])):
        case "own chunk":
            chunks.append({"choices": [], "usage": _USAGE})
        case "last chunk":
            chunks[-1]["usage"] = _USAGE
    return _written(draw, [*({**way["frame"], **chunk} for chunk in chunks), *way["end"]]), message


def _choices(deltas: list[Message], way: Mapping[str, Any], finish: str) -> list[Message]:
    """Return the one choice of each chunk: the role first, the finish reason last."""
    first, *rest = [{**way["role"], **deltas[0]}, *({**way["later"], **delta} for delta in deltas[1:])]
    spoken = [{"index": 0, "delta": delta, "finish_reason": None} for delta in (first, *rest)]
    return [*spoken, {"index": 0, "delta": {}, "finish_reason": finish}]


def _deltas(draw: st.DrawFn, message: Message, way: Mapping[str, Any]) -> list[Message]:
    opening: Message = draw(st.sampled_from([{"content": ""}, {"content": None}, {}]))
    thoughts = [{"reasoning_content": piece} for piece in _pieces(draw, message.get("reasoning_content", ""))]
    words = [{"content": piece} for piece in _pieces(draw, message["content"])]
    return [dict(opening), *thoughts, *words, *_calls(draw, message.get("tool_calls", []), way)]


def _calls(draw: st.DrawFn, calls: list[Message], way: Mapping[str, Any]) -> list[Message]:
    """Return the deltas that bring the calls; fragments without a number of their own cannot take turns."""
    in_fragments = draw(st.booleans())
    if not in_fragments:
        whole = [{**way["index"](number), **call} for number, call in enumerate(calls)]
        together = bool(whole) and draw(st.booleans())
        return [{"tool_calls": whole}] if together else [{"tool_calls": [call]} for call in whole]
    fragments = [_fragments(draw, number, call, way) for number, call in enumerate(calls)]
    if way["index"] is _PLAIN["index"] and len(calls) > 1 and draw(st.booleans()):
        longest = max(len(each) for each in fragments)
        turns = [each[step] for step in range(longest) for each in fragments if step < len(each)]
        return [{"tool_calls": [fragment]} for fragment in turns]
    return [{"tool_calls": [fragment]} for each in fragments for fragment in each]


def _fragments(draw: st.DrawFn, number: int, call: Message, way: Mapping[str, Any]) -> list[Message]:
    index, function = way["index"](number), call["function"]
    others = {key: call[key] for key in call if key not in ("type", "function")}
    first = {**index, **others, **way["type"], "function": {"name": function["name"], **way["first"]}}
    pieces = _pieces(draw, function["arguments"])
    return [first, *({**index, **way["again"](call), "function": {"arguments": piece}} for piece in pieces)]


def _pieces(draw: st.DrawFn, text: str) -> list[str]:
    """Draw the pieces of a text; in the simplest case it is whole, and an empty one has none."""
    cuts = sorted(draw(st.sets(st.integers(1, len(text) - 1), max_size=4))) if len(text) > 1 else []
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True) if end]


def _written(draw: st.DrawFn, items: list[Any]) -> bytes:
    """Draw how the items are written as events: what stands between them, how JSON is laid out, how lines end."""
    escaped, layout, prefix = (
        draw(st.booleans()),
        draw(st.sampled_from([None, 1])),
        draw(st.sampled_from(["data: ", "data:"])),
    )
    lines = []
    for item in items:
        text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=escaped, indent=layout)
        lines.append(draw(_COMMENTS) + "".join([f"{prefix}{line}\n" for line in text.split("\n")]) + "\n")
    return "".join(lines).replace("\n", draw(_LINE_ENDS)).encode()
