"""Sessions of wolo, drawn at random; and small ones made by hand."""

from typing import Any

from hypothesis import strategies as st

from conformance.convert import dialects
from conformance.wire.losses import Converted

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
spoken = words.filter(bool)
names = st.sampled_from(["read", "write", "shell"])
objects = st.dictionaries(
    words, words | st.integers(-(2**53), 2**53) | st.booleans() | st.none() | st.lists(words, max_size=2), max_size=3
)
outcomes = st.fixed_dictionaries({"status": st.just("pending")}) | st.fixed_dictionaries(
    {"status": st.just("completed"), "output": words}
)


@st.composite
def holdable(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw a session that the canonical transcript holds in full: numbered, finished, text before calls."""
    messages: list[dict[str, Any]] = []
    texts = 0
    for number in range(draw(st.integers(0, 5))):
        role = draw(st.sampled_from(["system", "user", "assistant"]))
        texts_drawn = draw(
            st.just([]) | st.lists(spoken, min_size=1, max_size=1) | st.lists(words, min_size=2, max_size=3)
        )
        parts: list[dict[str, Any]] = [
            {"id": f"text_{texts + each:03}", "type": "text", "text": text}
            for each, text in enumerate(texts_drawn, start=1)
        ]
        texts += len(texts_drawn)
        message = {"id": f"msg_{number + 1:03}", "role": role, "timestamp": 0.0, "finished": True}
        if role == "assistant":
            for each in range(draw(st.integers(0, 3))):
                call = {"id": f"call_{each}", "type": "tool", "tool": draw(names), "input": draw(objects)}
                parts.append(call | draw(outcomes))
            if reasoning := draw(words):
                message["reasoning_content"] = reasoning
        if role == "assistant" and not any(part["type"] == "tool" or part["text"] for part in parts):
            texts += not parts
            parts = [*parts[:-1], {"id": f"text_{texts:03}", "type": "text", "text": "Done."}]
        messages.append({**message, "parts": parts})
    return messages


statuses = st.sampled_from(["pending", "running", "completed", "failed"])
text_parts = st.fixed_dictionaries({"id": words, "type": st.just("text")}, optional={"text": words})
tool_parts = st.fixed_dictionaries(
    {"id": st.sampled_from(["call_0", "call_1", "x"]), "type": st.just("tool"), "tool": names, "input": objects},
    optional={
        "output": words | st.just("long " * 20),
        "status": statuses,
        "start_time": st.floats(0, 1e9),
        "end_time": st.floats(0, 1e9),
    },
)
sessions = st.lists(
    st.fixed_dictionaries(
        {
            "id": words,
            "role": st.sampled_from(["system", "user", "assistant", "assistant"]),
            "parts": st.lists(text_parts | tool_parts, max_size=4),
            "timestamp": st.floats(0, 1e9),
        },
        optional={
            "finished": st.booleans(),
            "finish_reason": st.sampled_from(["", "stop", "length", "tool_calls"]),
            "reasoning_content": words,
            "metadata": st.dictionaries(words, words, max_size=1),
        },
    ),
    max_size=6,
)
"""Any session, including ones with repeated ids."""

image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


def valid(value: Any, name: str) -> Any:
    dialects.validate(value, name)
    return value


def pointers(converted: Converted) -> list[str]:
    return [loss.pointer for loss in converted.lost]


def part(number: int, status: str = "completed", output: str = "A") -> dict[str, Any]:
    call = {"id": f"call_{number}", "type": "tool", "tool": "read", "input": {"path": "a"}}
    return {**call, "status": status, "output": output}


def message(role: str, *parts: dict[str, Any], text: str = "", reasoning: str = "") -> dict[str, Any]:
    first = [{"id": "t", "type": "text", "text": text}] if text else []
    base = {"id": "m", "role": role, "parts": [*first, *parts], "timestamp": 1.0, "finished": True}
    return {**base, "reasoning_content": reasoning}
