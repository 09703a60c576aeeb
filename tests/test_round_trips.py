"""Requests of other wires become transcripts and come back: what is not equal then was named as lost."""

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.convert import dialects
from conformance.convert.dialects import Dialect
from conformance.documents.pointer import parse
from conformance.errors import InvalidDocument
from tests import test_dialect_gemini, test_dialect_messages, test_dialect_responses
from tests.losses import marked, missing
from tests.sampling import examples

HELD = {
    "messages": ("system", "messages"),
    "gemini": ("systemInstruction", "system_instruction", "contents"),
    "responses": ("instructions", "input"),
}
"""The keys of a request that hold the conversation, by dialect."""


def fate(dialect: Dialect, native: dict[str, Any]) -> str:
    """Return `equal` if the conversation comes back as it was, `named` without its losses, or where it was changed."""
    converted = dialect.to_canonical(native)
    back = dialect.to_native(converted.value).value
    held = {key: native[key] for key in HELD[dialect.name] if native.get(key) is not None}
    if not [loss for loss in converted.lost if parse(loss.pointer)[0] in held]:
        unnamed = missing(held, back) or missing(back, spelled(held))
        return f"added or missing at {unnamed}" if unnamed else "equal"
    whole = {key: value for key, value in marked(native, converted.lost).items() if key in held}
    unnamed = missing(whole, back)
    return f"missing at {unnamed}" if unnamed else "named"


def spelled(held: dict[str, Any]) -> dict[str, Any]:
    """Return a conversation as the dialects write it: they name the type of a message, and arguments that are none."""
    made = copy.deepcopy(held)
    if isinstance(made.get("input"), list):
        made["input"] = [{"type": "message", **item} for item in made["input"]]
    for part in holders(made.get("contents")):
        if isinstance(part, dict) and isinstance(part.get("functionCall"), dict):
            part["functionCall"].setdefault("args", {})
    return made


def holders(value: Any) -> Iterator[Any]:
    """Yield every object and list in a value, the outermost first."""
    if isinstance(value, (dict, list)):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from holders(inner)


RECORDED = {
    "messages": "messages",
    "anthropic_native": "messages",
    "responses": "responses",
    "gemini_native": "gemini",
}


def recorded(shared: Path, name: str) -> Iterator[tuple[str, int | None, dict[str, Any]]]:
    """Yield the requests of a file, each with its reference and the status of its answer."""
    with gzip.open(shared / "recordings" / f"{name}.jsonl.gz") as lines:
        for line in lines:
            record = json.loads(line)
            request = record["request"]
            if isinstance(request, dict):
                yield record["ref"], record["status"], request


NOT_OF_THE_WIRE = {
    "anthropic_native.jsonl:9413": "a request to another API, filed under the wrong name",
    "responses.jsonl:838": "a reply, filed as a request",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("messages", {"equal": 788, "named": 367, "unnamed": 0, "invalid": 4}),
        ("anthropic_native", {"equal": 75, "named": 22, "unnamed": 0, "invalid": 1}),
        ("responses", {"equal": 613, "named": 433, "unnamed": 0, "invalid": 0}),
        ("gemini_native", {"equal": 107, "named": 90, "unnamed": 0, "invalid": 1}),
    ],
)
def test_every_recorded_request_comes_back_equal_or_the_loss_is_named(
    name: str, counts: dict[str, int], shared: Path
) -> None:
    dialect = dialects.load(RECORDED[name])
    found = dict.fromkeys(counts, 0)
    unnamed = {}
    for ref, status, request in recorded(shared, name):
        if ref in NOT_OF_THE_WIRE:
            continue
        try:
            came = fate(dialect, request)
        except InvalidDocument:
            # What the dialect refuses, the provider refused, too.
            came = "invalid" if status == 400 else "refused"
        if came not in counts:
            unnamed[ref], came = came, "unnamed"
        found[came] += 1
    assert {} == unnamed
    assert counts == found


REQUESTS = {
    "messages": test_dialect_messages.requests(),
    "gemini": test_dialect_gemini.requests(),
    "responses": test_dialect_responses.requests(),
}
NOISE: dict[str, list[tuple[str, Any]]] = {
    "messages": [
        ("cache_control", {"type": "ephemeral"}),
        ("is_error", True),
        ("citations", [{"type": "char_location"}]),
        ("caller", {"type": "direct"}),
    ],
    "gemini": [("thought", False), ("thoughtSignature", "c2ln"), ("videoMetadata", {}), ("willContinue", True)],
    "responses": [
        ("id", "x_1"),
        ("status", "completed"),
        ("phase", "commentary"),
        ("namespace", "n"),
        ("annotations", [{"type": "url_citation"}]),
    ],
}
"""Keys that a native request may have where the transcript has no counterpart."""

STRANGERS: dict[str, list[dict[str, Any]]] = {
    "messages": [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "text", "text": ""},
        {"type": "thinking", "thinking": "Look."},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": []},
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
    ],
    "gemini": [
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"text": ""},
        {"functionCall": {"name": "f"}},
        {"functionResponse": {"name": "f", "response": {"output": {}}}},
        {"role": "user", "parts": []},
        {"role": "model", "parts": [{"text": "Hello."}]},
        {"role": "function", "parts": [{"functionResponse": {"name": "g", "response": {}}}]},
    ],
    "responses": [
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "item_reference", "id": "rs_1"},
        {"type": "custom_tool_call", "call_id": "call_1", "name": "f", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "y"},
        {"type": "reasoning", "summary": [], "encrypted_content": "YQ=="},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look."}]},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"role": "assistant", "content": "Hello."},
        {"role": "system", "content": "Be brief."},
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"type": "output_text", "text": "Hello."},
        {"type": "input_text", "text": ""},
    ],
}
"""What may stand among messages, items, blocks or parts."""


@st.composite
def noisy(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Draw a request, and put into it what the transcript cannot hold."""
    native = copy.deepcopy(draw(REQUESTS[name]))
    for _ in range(draw(st.integers(1, 3))):
        (within,) = [native[key] for key in HELD[name][-1:]]
        holder = draw(st.sampled_from(list(holders(within))))
        if isinstance(holder, dict):
            key, value = draw(st.sampled_from(NOISE[name]))
            holder.setdefault(key, copy.deepcopy(value))
        else:
            holder.insert(draw(st.integers(0, len(holder))), copy.deepcopy(draw(st.sampled_from(STRANGERS[name]))))
    return native


@pytest.mark.parametrize("name", REQUESTS)
def test_any_request_comes_back_equal_or_the_loss_is_named(name: str) -> None:
    dialect = dialects.load(name)

    @settings(max_examples=examples(200))
    @given(noisy(name))
    def holds(native: dict[str, Any]) -> None:
        try:
            dialects.validate(native, name)
        except InvalidDocument:
            return  # Put in a wrong place, it makes another document.
        assert fate(dialect, native) in ("equal", "named")

    holds()
