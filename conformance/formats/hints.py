"""What to do with a file that is not recognized: the nearest thing in it that is, or the way to export it."""

import re
import shlex
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import orjson

_MAX_VALUES: Final = 2_000
_MAX_DEPTH: Final = 6
_HEAD: Final = 4096
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_MESSAGE: Final = {"role", "content"}
_PIPE: Final = "{0} | conformance check -"
_KEYS: Final = (
    ({"resourceMetrics"}, "it holds OpenTelemetry metrics; export spans or log records with messages instead"),
    ({"done", "message"}, "it is a reply of Ollama's own API; ask its /v1/chat/completions instead"),
    ({"output", "stopReason"}, "it is a reply of Bedrock's Converse API, which is another wire"),
    ({"openapi"}, "it is an OpenAPI document, which describes an API and holds no traffic"),
    (
        {"info", "item"},
        "it looks like a collection of Postman: jq -c '.. | objects | .body.raw? // empty | fromjson' {0}",
    ),
    (_MESSAGE, "it is one message; check a list of them: jq -c '[.]' {0}"),
    ({"conversations"}, "it looks like a dataset of ShareGPT: {1} {0}"),
    ({"from", "value"}, "it looks like a dataset of ShareGPT, of which a list of messages can be checked"),
    ({"mapping", "title"}, "it looks like an export of chats from ChatGPT, which holds no traffic of an API"),
    ({"function", "type"}, "it holds tools or calls alone; check the whole request or reply"),
    ({"object", "data"}, "it is a list of something else, such as models or embeddings"),
    ({"prompt"}, "it looks like a request of the legacy completions API, which has no messages"),
    ({"input"}, "if it is a request of Responses, add its URL: jq -c '{{url: \"/v1/responses\", request: .}}' {0}"),
)
"""By the keys of an object: what it is, and a command that ends with the file."""
_SHAREGPT: Final = (
    """jq -c '.. | .conversations? // empty | map({"""
    """role: ({human: "user", gpt: "assistant"}[.from] // .from), content: .value})'"""
)
_TEXTS: Final = (
    (rb"curl\s", "it is a command; run it with -i, and check what it prints"),
    (rb"(?i)<!doctype html|<html", "it is an HTML page, as a gateway or a login sends it instead of a reply"),
    (rb"<\?xml", "it is XML, and no API here speaks it"),
    (rb"PK\x03\x04", "it is a ZIP archive; unpack it first"),
    (rb"(?s).{257}ustar", "it is a tar archive; unpack it first"),
    (
        rb"SQLite format 3",
        "it is a database of SQLite: sqlite3 -json {0} 'SELECT …' | jq -c '.[]' | conformance check -",
    ),
    (
        rb"\xd4\xc3\xb2\xa1|\xa1\xb2\xc3\xd4|\x0a\x0d\x0d\x0a",
        "it is a capture of packets; record the traffic with conformance proxy instead",
    ),
    (rb"[A-Z][A-Za-z]+\(", "it looks like an object as Python prints it; write it with .model_dump_json()"),
    (
        rb"(?:import|from) [a-z_.]+|#!",
        "it is a program; check what it sends: conformance proxy --upstream URL -- COMMAND",
    ),
    (rb"(?:POST|GET|PUT) \S+", "it is a request with its head; check its body alone: sed '1,/^\\r*$/d' {0}"),
)
"""By the beginning of a text: what it is, and a command that ends with the file."""
_NEAREST: Final[Mapping[str, frozenset[str]]] = {
    "a standard log of LiteLLM": frozenset({"call_type", "messages", "response", "model"}),
    "an observation of Langfuse": frozenset({"traceId", "type", "input", "output", "startTime"}),
    "a run of LangSmith": frozenset({"run_type", "inputs", "outputs", "start_time"}),
    "an entry of Helicone": frozenset({"request_body", "response_body", "response_status", "request_id"}),
    "a span of OpenTelemetry": frozenset({"attributes", "spanId", "traceId", "name", "startTimeUnixNano"}),
    "a line of an OpenAI batch": frozenset({"custom_id", "method", "url", "body"}),
}
"""By format: the keys of its records."""
_PREFIXED: Final = re.compile(rb'^[^\n{"A-Za-z]*[A-Za-z][^\n{"]*\{"', re.MULTILINE)
_LOG: Final = "some of its lines hold JSON after other text: grep -o '{{.*}}' {0}"


def for_value(value: Any, path: str) -> str:
    """Return a hint for a JSON value that is not recognized, or an empty string."""
    kind, place = nearest(value)
    if kind:
        return f"; {kind} is inside: jq -c {shlex.quote(place)} {shlex.quote(path)} | conformance check -"
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        return _shown("it is JSON that was encoded twice: jq -r . {0}", path)
    items = value if isinstance(value, list) else [value]
    if items and all(isinstance(item, str) and item.startswith(("{", "[")) for item in items):
        return _shown("its items are JSON that was encoded twice: jq -c '.[] | fromjson' {0}", path)
    first = items[0] if items else None
    keys = first.keys() if isinstance(first, Mapping) else set()
    is_one = items is not value
    return next((_shown(text, path) for wanted, text in _KEYS if wanted <= keys and (is_one or wanted != _MESSAGE)), "")


def for_log(value: Any, path: str, otherwise: str) -> str:
    """Return what the records of a log are nearest to, and the map that reads them.

    `otherwise`: the hint for a value that is no such record, or of which a map would read one part alone.
    """
    items = value if isinstance(value, list) else [value]
    first = items[0] if items else None
    if not isinstance(first, Mapping):
        return otherwise
    # Imported here because only an error needs it.
    from conformance.formats.mapped import guess

    near = max(_NEAREST, key=lambda name: len(_NEAREST[name] & first.keys()))
    missing = sorted(_NEAREST[near] - first.keys())
    is_near = len(missing) < len(_NEAREST[near]) / 2
    nearest_one = f"; nearest to {near}, which also has {', '.join(missing)}" if is_near and missing else ""
    fields = guess(first)
    if not fields or ("," not in fields and otherwise):
        return nearest_one + otherwise
    return f"{nearest_one}; to read it: conformance check --map {shlex.quote(fields)} {shlex.quote(path)}"


def for_damaged(data: bytes, error: str, path: str) -> str:
    """Return a hint for a file that begins like JSON and is not, or an empty string."""
    head = data.lstrip()
    if error.startswith("expected the end of the text, got '{"):
        return _shown("the file holds several JSON values: jq -c . {0}", path)
    if re.match(rb"[\[{]\s*'", head):
        return "; it looks like a value as Python prints it; write it with json.dumps"
    if error.endswith(("got '/'", "got '#'")):
        return "; JSON has no comments"
    return _shown(_LOG, path) if _PREFIXED.match(head[:_HEAD]) else ""


def _shown(text: str, path: str) -> str:
    hint = text.format(shlex.quote(path), _SHAREGPT)
    return f"; {_PIPE.format(hint)}" if text.endswith(" {0}") else f"; {hint}"


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


def for_text(data: bytes, path: str) -> str:
    """Return a hint for a file that is not JSON, YAML or an event stream, or an empty string."""
    first = data[:2048].partition(b"\n")[0]
    if b"\n" in data and first.count(b",") > 1 and not first.startswith((b"{", b"[")):
        return "; it looks like CSV: export JSON or JSON Lines instead, since CSV holds no nested values"
    known = next((_shown(text, path) for begins, text in _TEXTS if re.match(begins, data[:_HEAD])), "")
    if not known and _PREFIXED.search(data[:_HEAD]):
        return _shown(_LOG, path)
    return known or ("; a file packed with brotli is known by a name that ends with .br" if is_binary(data) else "")


def is_binary(data: bytes) -> bool:
    """Return whether the beginning of a file is not text."""
    return b"\0" in data[:_HEAD] or "\ufffd" in data[: _HEAD - 4].decode(errors="replace")[:-1]


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
