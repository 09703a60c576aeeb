"""Messages and results of the Prompt API, and transcripts to convert into them, drawn at random."""

import json
from typing import Any

from hypothesis import strategies as st

from conformance import dialects

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.text(st.characters(categories=("Ll", "Nd")), min_size=1, max_size=8)
base64 = st.text("ABCDabcd0123+/", min_size=4, max_size=12).map(lambda text: text + "=")
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, values, max_size=3)

text_parts = st.fixed_dictionaries({"type": st.just("text"), "text": words})
images = st.fixed_dictionaries(
    {
        "type": st.just("image"),
        "data": base64,
        "mimeType": st.sampled_from(["image/png", "image/jpeg", "image/webp", "image/x;quality=1"]),
    }
) | st.fixed_dictionaries({"type": st.just("image"), "data": names.map(lambda name: f"https://example.org/{name}")})
sounds = st.fixed_dictionaries(
    {
        "type": st.just("audio"),
        "data": base64,
        "mimeType": st.sampled_from(["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/ogg;codecs=opus"]),
    }
)
texts = words | st.lists(text_parts, min_size=1, max_size=3)
calls = st.fixed_dictionaries(
    {
        "id": words,
        "type": st.just("function"),
        "function": st.fixed_dictionaries({"name": names, "arguments": objects}),
    }
)
holdable = st.lists(
    st.fixed_dictionaries({"role": st.just("system"), "content": texts})
    | st.fixed_dictionaries(
        {
            "role": st.just("user"),
            "content": words | st.lists(text_parts | images | sounds, min_size=1, max_size=4),
        }
    )
    | st.fixed_dictionaries(
        {"role": st.just("assistant")},
        optional={
            "content": texts | st.just([]),
            "thinking": words,
            "toolCalls": st.lists(calls, min_size=1, max_size=3),
        },
    )
    | st.fixed_dictionaries({"role": st.just("tool"), "toolCallId": words, "content": texts}),
    max_size=5,
)
"""Conversations that the canonical transcript holds in full."""

details = st.lists(st.just({"type": "reasoning.encrypted", "data": "b3BhcXVl"}), max_size=2)
raw_arguments = (
    objects.map(json.dumps)
    | objects.map(lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    | st.sampled_from(['{"city": "Par', "", "[]", '{"a":1,"a":2}', '{"a":1e400}', '{"a":"\\ud800"}', '{"a":1.0}'])
)
raw_calls: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "id": words,
        "type": st.just("function"),
        "function": st.fixed_dictionaries({"name": names, "arguments": raw_arguments}),
    },
    optional={"extra_content": st.just({"google": {"thought_signature": "c2ln"}})},
)
wire_parts = st.one_of(
    text_parts,
    st.fixed_dictionaries(
        {
            "type": st.just("image_url"),
            "image_url": st.fixed_dictionaries(
                {"url": st.sampled_from(["data:image/png;base64,iVBO", "https://e.org/a.png", "data:,x", "a.png", ""])},
                optional={"detail": st.just("low")},
            ),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("input_audio"),
            "input_audio": st.fixed_dictionaries(
                {"data": base64 | st.just("data:x"), "format": st.sampled_from(["wav", "mp3", "mpeg", "ogg", "x-wav"])}
            ),
        }
    ),
    st.just({"type": "file", "file": {"file_id": "file-1"}}),
)
said_parts = st.one_of(
    text_parts,
    st.just({"type": "refusal", "refusal": "No."}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": st.lists(text_parts, max_size=2)}),
)
transcripts = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer"]), "content": texts}, optional={"name": words}
    )
    | st.fixed_dictionaries(
        {"role": st.just("user"), "content": words | st.lists(wire_parts, min_size=1, max_size=3)},
        optional={"name": words},
    )
    | st.fixed_dictionaries(
        {"role": st.just("assistant")},
        optional={
            "content": words | st.none() | st.lists(said_parts, max_size=3),
            "refusal": words | st.none(),
            "reasoning_content": words | st.none(),
            "reasoning": words | st.none(),
            "reasoning_details": details,
            "audio": st.none() | st.just({"id": "audio_1"}),
            "tool_calls": st.lists(raw_calls, min_size=1, max_size=3),
        },
    )
    | st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": words, "content": texts}),
    max_size=5,
)


@st.composite
def results(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a finished result whose usage adds up and whose calls have ids of their own."""
    counts = st.integers(0, 1000)
    runs: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 3))):
        prompt, completion = draw(counts), draw(counts)
        tools = [
            {
                "id": f"call_{number}_{each}",
                "name": draw(names),
                "args": draw(objects),
                "output": {"content": draw(st.lists(text_parts, min_size=1, max_size=3))},
                "durationMs": draw(st.floats(0, 1e6)),
            }
            for each in range(draw(st.integers(0, 3)))
        ]
        usage = {"promptTokens": prompt, "completionTokens": completion, "totalTokens": prompt + completion}
        run = {"thinkingText": draw(words), "text": draw(words), "tools": tools, "usage": usage}
        runs.append(run)
    whole = {name: sum(run["usage"][name] for run in runs) for name in ("promptTokens", "completionTokens")}
    return {"done": True, "runs": runs, "usage": {**whole, "totalTokens": sum(whole.values())}}


def valid(value: Any, name: str) -> Any:
    dialects.demand(value, name)
    return value


def pointers(converted: dialects.Converted) -> list[str]:
    return [loss.pointer for loss in converted.lost]
