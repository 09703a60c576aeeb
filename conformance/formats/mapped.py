"""JSON Lines of any form, read by a map of where each part of an exchange is: `request=payload,session=trace_id`.

A place is a key, keys joined by dots (`call.body`, `calls.0.body`), or a JSON Pointer (`/call/body`). A key that has
dots of its own is tried first. On the way, text that is JSON is read.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from conformance import wires
from conformance.documents import BOUNDS, JSON, parse_json
from conformance.errors import InvalidDocument, Unusable
from conformance.formats import failures, rebuilt, records
from conformance.formats.bodies import reply_body
from conformance.formats.compression import open_file
from conformance.formats.inputs import Input
from conformance.formats.jsonl import Line, read_lines, split_lines
from conformance.formats.records import as_object, as_text, located
from conformance.wire.exchange import Exchange, model_of
from conformance.wires import other_api

PARTS: Final = (
    "request", "response", "session", "messages", "tools", "model", "status", "error", "url", "provider", "headers",
    "date",
)  # fmt: skip
"""What a map can give the place of."""
_BODIES: Final = ("request", "response", "messages", "error", "status")
_REPLY_RULES: Final = ("response/*", "usage/*", "tool-calls/*", "stream/*")
_HEAD: Final = 1 << 13
_MAX_KEYS: Final = 12
_MAX_VALUES: Final = 500
_MAX_DEPTH: Final = 4
SESSIONS: Final = ("session", "trace", "conversation", "thread", "run_id", "chat_id")
"""What is in the keys of values that name a session."""

_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "response": ("completion", "answer", "reply", "response", "output", "result"),
    "model": ("model", "model_name", "llm"),
    "error": ("error", "exception", "err", "failure", "error_message"),
    "url": ("url", "endpoint", "base_url"),
    "provider": ("provider", "vendor"),
}
"""By part: keys that are usual for it, if they hold text."""


class FieldMap(NamedTuple):
    """The place of each part, as given."""

    places: tuple[tuple[str, str], ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """Return the rules for which the parts are enough, empty for all."""
        parts = dict(self.places)
        if "messages" not in parts:
            return rebuilt.ALL_RULES if "error" in parts else ()
        return rebuilt.RULES + rebuilt.FAILURE_RULES + (_REPLY_RULES if "response" in parts else ())


def parse(text: str) -> FieldMap:
    """Return the map in a text such as `request=payload,response=result`; raises Unusable if it is not one."""
    places: dict[str, str] = {}
    for item in text.split(","):
        part, _, place = item.strip().partition("=")
        if part not in PARTS or not place or part in places:
            raise Unusable(f"--map: expected PART=PLACE once for each part, got {item!r}; parts: {', '.join(PARTS)}")
        places[part] = place
    if not places.keys() & set(_BODIES):
        raise Unusable(f"--map: expected the place of one of {', '.join(_BODIES)}, got {text!r}")
    if {"request", "messages"} <= places.keys():
        raise Unusable("--map: expected the place of request or of messages, got both")
    return FieldMap(tuple(places.items()))


def read_path(path: Path, fields: FieldMap) -> Iterator[Input]:
    """Yield the inputs of a file by a map; adjacent lines of one session are one input.

    Raises InvalidDocument if the file cannot be read, and, after the others, if a part is in no line.
    """
    name = str(path)
    reader = _Reader(name, fields)
    with open_file(path) as file:
        if _is_one_value(file.peek(_HEAD)):
            value = parse_json(file.read(BOUNDS.bytes + 1), name)
            listed = value if isinstance(value, list) else [value]
            lines: Iterator[Line] = (Line(number, orjson.dumps(item)) for number, item in enumerate(listed, 1))
        else:
            lines = split_lines(file, name)
        yield from read_lines(lines, name, reader=reader.read)
    reader.check()


def _is_one_value(head: bytes) -> bool:
    """Return whether a file is one JSON value: its first line is not complete, or begins a list."""
    first, _, rest = head.lstrip().partition(b"\n")
    if first.startswith(b"["):
        return True
    try:
        parse_json(first)
    except InvalidDocument:
        # A first line that is longer than the head is a line all the same.
        return bool(rest.strip())
    return False


class _Reader:
    """Reads lines by a map, and remembers which parts were found, and the keys of the first lines."""

    def __init__(self, name: str, fields: FieldMap) -> None:
        self._name = name
        self._fields = fields
        self._found: set[str] = set()
        self._keys: dict[str, None] = {}

    def read(self, line: Line, path: str) -> Iterator[Input]:
        """Yield the exchange of one line, or why it cannot be read; a line without a body has none."""
        try:
            if line.problem:
                raise line.problem
            found = self._parts(parse_json(line.data, path))
            exchange = _exchange(found, path)
        except InvalidDocument as error:
            yield Input(path, line.number, "jsonl", problem=InvalidDocument(located(error), path, line.number))
            return
        if exchange is not None and not other_api(exchange):
            session, provider = found.get("session"), as_text(found.get("provider"))
            name = "" if session is None else str(session)
            notes = rebuilt.NOTES if "messages" in found else ()
            yield Input(
                path, line.number, "exchange", (exchange,), provider, name, notes=notes, rules=self._fields.rules
            )

    def _parts(self, value: JSON) -> dict[str, Any]:
        found = {part: item for part, place in self._fields.places if (item := _at(value, place)) is not None}
        self._found |= found.keys()
        if len(self._keys) <= _MAX_KEYS:
            self._keys.update(dict.fromkeys(_keys(value)))
        return found

    def check(self) -> None:
        """Raise InvalidDocument if a part was in no line."""
        missing = [f"{place!r} ({part})" for part, place in self._fields.places if part not in self._found]
        if missing:
            shown = list(self._keys)
            keys = ", ".join(shown[:_MAX_KEYS]) + (", …" if len(shown) > _MAX_KEYS else "")
            message = f"--map: no line has {' or '.join(missing)}; the keys of its lines: {keys or 'none'}"
            raise InvalidDocument(message, self._name)


def _exchange(found: Mapping[str, Any], name: str) -> Exchange | None:
    record = {key: found[key] for key in ("request", "response", "status", "headers", "url", "model") if key in found}
    record["date"] = found.get("date")
    model = as_text(found.get("model"))
    if isinstance(record.get("request"), list):
        record["request"] = {"model": model, "messages": record["request"]}
    if "messages" in found:
        messages = rebuilt.embedded(found["messages"], "messages", name)
        record["request"] = {"model": model, "messages": messages}
        if "tools" in found:
            record["request"]["tools"] = rebuilt.embedded(found["tools"], "tools", name)
    if "response" in record:
        record["response"] = _reply(record["response"], name)
    failure = failures.of_value(found.get("error"))
    if failure is not None:
        record["response"] = failure.body
        record["status"] = found.get("status") or failure.status
        record["url"] = found.get("url") or failure.url
    if not any(record.get(key) is not None for key in ("request", "response", "status")):
        return None
    return records.exchange(record, name)


def _reply(given: Any, name: str) -> Any:
    """Return a reply; a message or its text alone is the one choice of a chat completion."""
    body, streamed = (given, True) if isinstance(given, list) else reply_body(given, {}, name)
    if isinstance(body, dict) and isinstance(body.get("role"), str) and "type" not in body and "content" in body:
        return _completion(body)
    if isinstance(body, str) and not streamed and not body.lstrip().startswith(("{", "[", "<")):
        return _completion(rebuilt.message("assistant", [body], []))
    return given


def _completion(message: Mapping[str, JSON]) -> JSON:
    return {"object": "chat.completion", "choices": [{"index": 0, "message": dict(message)}]}


def _at(value: Any, place: str) -> Any:
    """Return the value at a place; None if there is none, or if it is null or empty."""
    if isinstance(value, Mapping) and place in value:
        found = value[place]
    elif place.startswith("/"):
        found = _walk(value, [step.replace("~1", "/").replace("~0", "~") for step in place[1:].split("/")])
    else:
        found = _walk(value, place.split("."))
    return None if found in ("", [], {}) else found


def _walk(value: Any, steps: Sequence[str]) -> Any:
    for number, step in enumerate(steps):
        if isinstance(value, str):
            value = _opened(value)
        if isinstance(value, Mapping):
            # A key may have dots of its own, as the names of attributes do.
            joined = ".".join(steps[number:])
            if joined in value:
                return value[joined]
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _opened(text: str) -> JSON:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return parse_json(text)
    except InvalidDocument:
        return None


def _keys(value: JSON) -> list[str]:
    if not isinstance(value, dict):
        return []
    return [f"{key}.{inner}" for key, item in value.items() for inner in as_object(item)] + list(value)


def guess(value: Any) -> str:
    """Return the map that would read a value, guessed from its keys and values; empty if it holds no body."""
    found: dict[str, str] = {}
    waiting = deque([(value, "")])
    seen = 0
    while waiting and seen < _MAX_VALUES:
        inner, place = waiting.popleft()
        seen += 1
        part = _part(inner, place.lower()) if place else ""
        if part:
            found.setdefault(part, place)
            continue
        if isinstance(inner, Mapping) and place.count(".") < _MAX_DEPTH:
            waiting.extend((item, f"{place}.{key}" if place else str(key)) for key, item in inner.items())
    if "request" in found:
        found.pop("messages", None)
    has_body = found.keys() & {"request", "response", "messages"}
    return ",".join(f"{part}={found[part]}" for part in PARTS if part in found) if has_body else ""


def _part(value: Any, place: str) -> str:
    """Return which part of an exchange a value looks like, by its form, else by its place."""
    body = _opened(value) if isinstance(value, str) else value
    if isinstance(body, list) and body and all(isinstance(item, Mapping) and "role" in item for item in body):
        return "messages"
    if isinstance(body, dict):
        return _body_part(body)
    key = place.rpartition(".")[2]
    if isinstance(value, int) and "status" in key:
        return "status"
    if isinstance(value, (str, int)) and value and any(name in place for name in SESSIONS):
        return "session"
    return next((part for part, keys in _TEXTS.items() if key in keys), "") if isinstance(value, str) and value else ""


def _body_part(body: dict[str, Any]) -> str:
    if "choices" in body or any(wire.is_reply(body) for wire in wires.load()[1:]):
        return "response"
    is_request = isinstance(body.get("messages"), list) or isinstance(body.get("contents"), list)
    return "request" if is_request or (model_of(body) and isinstance(body.get("input"), (list, str))) else ""
