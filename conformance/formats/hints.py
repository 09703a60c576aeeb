"""What to do with a file that is not recognized: the nearest thing in it that is, or the way to export it."""

import re
import shlex
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import orjson

_MAX_VALUES: Final = 2_000
_MAX_DEPTH: Final = 6
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_NATIVE: Final = {
    "input": "it looks like a request of OpenAI's Responses API, which is another wire",
    "prompt": "it looks like a request of the legacy completions API, which has no messages",
    "resourceMetrics": "it holds OpenTelemetry metrics; export spans or log records with messages instead",
}


def for_value(value: Any, path: str) -> str:
    """Return a hint for a JSON value that is not recognized, or an empty string."""
    kind, place = nearest(value)
    if kind:
        return f"; {kind} is inside: jq -c {shlex.quote(place)} {shlex.quote(path)} | conformance check -"
    known = next((text for key, text in _NATIVE.items() if isinstance(value, Mapping) and key in value), "")
    return f"; {known}" if known else ""


def nearest(value: Any) -> tuple[str, str]:
    """Return what is recognized inside a JSON value and its place for jq, or empty strings.

    Only a bounded part of the value is searched.
    """
    waiting = deque([(value, "")])
    seen = 0
    while waiting and seen < _MAX_VALUES:
        inner, place = waiting.popleft()
        seen += 1
        kind = _kind(inner)
        if kind and place:
            return kind, place
        if place.count(".") + place.count("[") >= _MAX_DEPTH:
            continue
        if isinstance(inner, Mapping):
            waiting.extend((item, _step(place, key)) for key, item in list(inner.items())[:_MAX_VALUES])
        elif isinstance(inner, list) and inner:
            waiting.append((inner[0], (place or ".") + "[]"))
    return "", ""


def for_text(data: bytes) -> str:
    """Return a hint for a file that is not JSON, YAML or an event stream, or an empty string."""
    first = data[:2048].partition(b"\n")[0]
    if b"\n" in data and first.count(b",") > 1 and not first.startswith((b"{", b"[")):
        return "; it looks like CSV: export JSON or JSON Lines instead, since CSV holds no nested values"
    return ""


def _kind(value: Any) -> str:
    """Return what an inner value would be read as, or an empty string."""
    if isinstance(value, Mapping):
        if isinstance(value.get("messages"), list):
            return "a request body"
        return "a reply body" if isinstance(value.get("choices"), list) else ""
    items = value if isinstance(value, list) else []
    return "a list of messages" if items and all(isinstance(item, Mapping) and "role" in item for item in items) else ""


def _step(place: str, key: str) -> str:
    return f"{place}.{key}" if _PLAIN_KEY.fullmatch(key) else f"{place or '.'}[{orjson.dumps(key).decode()}]"
