"""Messages and results of the Prompt API, drawn at random."""

from typing import Any

from hypothesis import strategies as st

from conformance.convert import dialects
from conformance.wire.losses import Converted

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


@st.composite
def results(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a finished result whose usage adds up and whose calls have distinct ids."""
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
    dialects.validate(value, name)
    return value


def pointers(converted: Converted) -> list[str]:
    return [loss.pointer for loss in converted.lost]
