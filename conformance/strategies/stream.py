"""Streamed replies, together with the message that they add up to, for tests of parsers."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from conformance.strategies.transcript import TEXTS, Message, named, transcripts

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
"""Deviations in the streams of some providers, which parsers have to tolerate: each as its changes to `_PLAIN`."""

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
    """Return a strategy for the messages of replies on the canonical wire: text or calls, with or without reasoning.

    `content` is always a string; reasoning is in `reasoning_content`.
    """
    text = st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": TEXTS}, optional={"reasoning_content": TEXTS}
    )
    if not max_calls:
        return text
    histories = transcripts(ids="unique", reasoning=("absent", "text"), system=False, max_turns=1, max_calls=max_calls)
    calling = histories.map(lambda messages: [message for message in messages if "tool_calls" in message])
    return text | calling.filter(bool).map(lambda messages: messages[0])


def streams(
    *,
    messages: st.SearchStrategy[Message] | None = None,
    quirks: str | Sequence[str] = tuple(QUIRKS),
) -> st.SearchStrategy[tuple[bytes, Message]]:
    """Return a strategy for event streams as bytes, each with the message that a client has to assemble.

    Text, reasoning and arguments are cut anywhere; calls come in fragments, each in one piece, or all in one chunk, and
    the fragments of parallel calls may alternate; usage comes in a chunk of its own, with the finish reason, or not at
    all; lines end in all three ways, with comments and meaningless fields between them. `quirks` adds deviations from
    the canonical wire that some provider sends, any of `QUIRKS`; with () there are none. `messages` draws the
    messages, by default those of `replies`. Raises UnknownName for an unknown quirk.
    """
    chosen = named("quirks", quirks, QUIRKS)
    drawn = st.lists(st.sampled_from(chosen), max_size=2) if chosen else st.just([])
    return _streams(replies() if messages is None else messages, drawn)


@st.composite
def _streams(
    draw: st.DrawFn, messages: st.SearchStrategy[Message], quirks: st.SearchStrategy[list[Mapping[str, Any]]]
) -> tuple[bytes, Message]:
    message = draw(messages)
    form = dict(_PLAIN)
    for quirk in draw(quirks):
        form |= quirk
    choices = _choices(_deltas(draw, message, form), form, "tool_calls" if "tool_calls" in message else "stop")
    chunks = [*form["opening"], *({"choices": [choice]} for choice in choices)]
    match draw(st.sampled_from(["none", "own chunk", "last chunk"])):
        case "own chunk":
            chunks.append({"choices": [], "usage": _USAGE})
        case "last chunk":
            chunks[-1]["usage"] = _USAGE
    return _written(draw, [*({**form["frame"], **chunk} for chunk in chunks), *form["end"]]), message


def _choices(deltas: list[Message], form: Mapping[str, Any], finish: str) -> list[Message]:
    """Return the choice of each chunk: the role first, the finish reason last."""
    first, *rest = [{**form["role"], **deltas[0]}, *({**form["later"], **delta} for delta in deltas[1:])]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in (first, *rest)]
    return [*choices, {"index": 0, "delta": {}, "finish_reason": finish}]


def _deltas(draw: st.DrawFn, message: Message, form: Mapping[str, Any]) -> list[Message]:
    opening: Message = draw(st.sampled_from([{"content": ""}, {"content": None}, {}]))
    reasoning = [{"reasoning_content": text} for text in _fragments_of(draw, message.get("reasoning_content", ""))]
    content = [{"content": text} for text in _fragments_of(draw, message["content"])]
    return [dict(opening), *reasoning, *content, *_calls(draw, message.get("tool_calls", []), form)]


def _calls(draw: st.DrawFn, calls: list[Message], form: Mapping[str, Any]) -> list[Message]:
    """Return the deltas with the calls; only fragments with distinct indexes can alternate."""
    in_fragments = draw(st.booleans())
    if not in_fragments:
        whole = [{**form["index"](number), **call} for number, call in enumerate(calls)]
        together = bool(whole) and draw(st.booleans())
        return [{"tool_calls": whole}] if together else [{"tool_calls": [call]} for call in whole]
    fragments = [_call_fragments(draw, number, call, form) for number, call in enumerate(calls)]
    if form["index"] is _PLAIN["index"] and len(calls) > 1 and draw(st.booleans()):
        longest = max(len(call) for call in fragments)
        turns = [call[step] for step in range(longest) for call in fragments if step < len(call)]
        return [{"tool_calls": [fragment]} for fragment in turns]
    return [{"tool_calls": [fragment]} for call in fragments for fragment in call]


def _call_fragments(draw: st.DrawFn, number: int, call: Message, form: Mapping[str, Any]) -> list[Message]:
    index, function = form["index"](number), call["function"]
    others = {key: call[key] for key in call if key not in ("type", "function")}
    first = {**index, **others, **form["type"], "function": {"name": function["name"], **form["first"]}}
    texts = _fragments_of(draw, function["arguments"])
    return [first, *({**index, **form["again"](call), "function": {"arguments": text}} for text in texts)]


def _fragments_of(draw: st.DrawFn, text: str) -> list[str]:
    """Draw the fragments of a text; in the simplest case there is one, and an empty text has none."""
    cuts = sorted(draw(st.sets(st.integers(1, len(text) - 1), max_size=4))) if len(text) > 1 else []
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True) if end]


def _written(draw: st.DrawFn, items: list[Any]) -> bytes:
    """Draw how the items are written as events: the comments between them, the layout of JSON, the line ends."""
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
