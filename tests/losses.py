"""Comparison of a conversation with its round trip, without the named losses; and transcripts of every shape."""

import copy
import json
from collections.abc import Iterable, Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.convert.dialects import CANONICAL, Dialect, validate
from conformance.documents.pointer import REMOVE, edit, parse, resolve
from conformance.wire.losses import Loss

SYSTEMS = ("system", "developer")
LOST = "<this was named as lost>"


def less(given: Any, lost: Iterable[Loss]) -> Any:
    """Return the input without the named losses."""
    return _changed(given, lost, REMOVE)


def marked(given: Any, lost: Iterable[Loss]) -> Any:
    """Return the input with a mark in place of each named loss."""
    return _changed(given, lost, LOST)


def missing(given: Any, back: Any, place: str = "") -> str:
    """Return the first place of an unmarked value that is missing now; an added value is not a loss."""
    if given is None or given in (LOST, back):
        return ""
    if isinstance(given, dict) and isinstance(back, dict):
        return next((at for key in given if (at := missing(given[key], back.get(key), f"{place}/{key}"))), "")
    if isinstance(given, list) and all(item == LOST for item in given):
        return ""
    if not isinstance(given, list) or not isinstance(back, list):
        return place or "/"
    if len(given) == len(back) and all(not missing(item, back[n]) for n, item in enumerate(given)):
        return ""
    rest = iter(back)
    return next((f"{place}/{n}" for n, item in enumerate(given) if not _found(item, rest)), "")


def _found(item: Any, rest: Iterator[Any]) -> bool:
    return item == LOST or any(not missing(item, other) for other in rest)


def _changed(given: Any, lost: Iterable[Loss], new: Any) -> Any:
    """Return a copy with a new value at each place; the deepest and last first, so that the other places stay valid."""
    places = {tuple(int(t) if t.isdecimal() else t for t in parse(loss.pointer)): loss.pointer for loss in lost}
    result = copy.deepcopy(given)
    for place in sorted(places, key=lambda place: (-len(place), [-t if isinstance(t, int) else 0 for t in place])):
        resolve(given, places[place])
        result = edit(result, {places[place]: new})
    return result


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TEXT_VALUES = WORDS.filter(bool)
IDS = st.sampled_from(["call_0", "call_1", "toolu_9", "a b"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(WORDS, JSON, max_size=3)
COMPACT = OBJECTS.map(lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")))
ODD_ARGUMENTS = st.sampled_from(
    ["", "[]", '{"a":1,"a":2}', '{"a":1e400}', '{"a":"\\ud800"}', '{"a":1.0}', '{"city": "Par']
)
ARGUMENTS = COMPACT | OBJECTS.map(json.dumps) | COMPACT.map(lambda text: text[:-2]) | WORDS | ODD_ARGUMENTS
TEXTS = st.lists(WORDS.map(lambda text: {"type": "text", "text": text}), min_size=1, max_size=3)
SHOWN = st.sampled_from([
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    {"type": "image_url", "image_url": {"url": "https://example.org/cat.png", "detail": "low"}},
    {"type": "image_url", "image_url": {"url": "data:image/svg+xml,%3Csvg%3E"}},
    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    *({"type": "image_url", "image_url": {"url": url}} for url in ("data:,x", "a.png", "")),
    {"type": "input_audio", "input_audio": {"data": "T2dnUw==", "format": "ogg"}},
    {"type": "input_audio", "input_audio": {"data": "data:x", "format": "mp3"}},
    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "x-wav"}},
    {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mpeg"}},
    {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERg==", "filename": "a.pdf"}},
    {"type": "file", "file": {"file_id": "file-1"}},
])  # fmt: skip
FORMATS = st.sampled_from([None, "unknown", "anthropic-claude-v1", "google-gemini-v1", "openai-responses-v1"])
DETAILS = st.lists(
    st.fixed_dictionaries(
        {"type": st.just("reasoning.text")},
        optional={
            "text": WORDS | st.none(), "signature": TEXT_VALUES | st.none(), "format": FORMATS,
            "index": st.integers(0, 4) | st.none(), "id": IDS | st.none(),
        },
    )
    | st.fixed_dictionaries(
        {"type": st.just("reasoning.encrypted"), "data": TEXT_VALUES},
        optional={"format": FORMATS, "index": st.integers(0, 4), "id": IDS},
    )
    | st.fixed_dictionaries({"type": st.just("reasoning.summary"), "summary": WORDS}, optional={"format": FORMATS})
    | st.just({"type": "reasoning.of-tomorrow", "whatever": 1})
    | st.fixed_dictionaries(
        {"type": st.just("reasoning.text_signature")}, optional={"data": TEXT_VALUES, "index": st.integers(0, 4)}
    ),
    max_size=3,
)  # fmt: skip
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "id": IDS,
            "type": st.just("function"),
            "function": st.fixed_dictionaries({"name": st.sampled_from(["f", "g"]), "arguments": ARGUMENTS}),
        },
        optional={
            "extra_content": st.sampled_from([
                {}, {"google": {"thought_signature": "c2ln"}}, {"google": {"thought_signature": "c2ln", "more": 1}},
            ])
        },
    ),
    min_size=1,
    max_size=3,
)  # fmt: skip
SYSTEM = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer"]), "content": WORDS | TEXTS}, optional={"name": WORDS}
)
USER = st.fixed_dictionaries(
    {
        "role": st.just("user"),
        "content": WORDS | st.lists(SHOWN | TEXTS.map(lambda parts: parts[0]), min_size=1, max_size=3),
    },
    optional={"name": WORDS},
)
ASSISTANT = st.fixed_dictionaries(
    {"role": st.just("assistant")},
    optional={
        "content": WORDS
        | st.none()
        | st.lists(
            TEXTS.map(lambda parts: parts[0])
            | WORDS.map(lambda text: {"type": "refusal", "refusal": text})
            | TEXTS.map(lambda parts: {"type": "thinking", "thinking": parts}),
            max_size=3,
        ),
        "refusal": WORDS | st.none(),
        "name": WORDS,
        "audio": st.none() | st.just({"id": "audio_1"}),
        "tool_calls": CALLS,
        "reasoning_content": WORDS | st.none(),
        "reasoning": WORDS | st.none(),
        "reasoning_details": DETAILS,
    },
)
TOOL = st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": IDS, "content": WORDS | COMPACT | TEXTS})
TRANSCRIPTS = st.lists(SYSTEM | USER | ASSISTANT | TOOL, max_size=6)
"""Transcripts of every shape that the schema allows, useful or not."""


def comes_back(dialect: Dialect, canonical: list[dict[str, Any]]) -> None:
    """Prove that a transcript comes back without the named losses, and that a second round trip changes nothing."""
    before = copy.deepcopy(canonical)
    there = dialect.to_native(canonical)
    assert before == canonical
    validate(there.value, dialect.name)
    back = dialect.to_canonical(there.value)
    validate(back.value, CANONICAL)
    assert () == back.lost
    given = marked(canonical, there.lost)
    if any(message != given[place] for place, message in enumerate(canonical) if message["role"] in SYSTEMS):
        given = [item for place, item in enumerate(given) if canonical[place]["role"] not in SYSTEMS]
        assert "" == missing(given, [message for message in back.value if message["role"] not in SYSTEMS])
    else:
        assert "" == missing(given, back.value)
    again = dialect.to_native(back.value)
    assert () == again.lost
    assert there.value == again.value


def goes_and_returns(dialect: Dialect, native: Any) -> None:
    """Prove that a dialect's conversation becomes a transcript and comes back without a loss."""
    before = copy.deepcopy(native)
    there = dialect.to_canonical(native)
    assert before == native
    validate(native, dialect.name)
    validate(there.value, CANONICAL)
    assert () == there.lost
    back = dialect.to_native(there.value)
    assert () == back.lost
    assert native == back.value
