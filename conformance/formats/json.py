"""JSON values, recognized by their keys."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance import wires
from conformance.documents import JSON, parse_json
from conformance.errors import InvalidDocument, Unrecognized
from conformance.formats import logs, records, sessions, sse
from conformance.formats.inputs import ACCEPTED, Input, outside
from conformance.formats.records import as_object, as_text
from conformance.wire.exchange import Exchange, model_of
from conformance.wires import NOTHING_KNOWN, other_api

_MAX_KEYS: Final = 8
_HINTED: Final = 3
_BODY_KEYS: Final = frozenset({"model", "messages", "input", "contents", "prompt", "tools", "stream"})
"""What the body of a request has, even a broken one."""
_INVALID: Final = 422
"""The status with which servers of FastAPI answer a body that is not valid, and list why."""
_PARAMETERS: Final = frozenset(
    {"temperature", "top_p", "max_tokens", "max_completion_tokens", "stream", "system", "tool_choice", "stop"}
)
"""What the body of a request has where its URL names the model, and what no other holder of messages has."""
_ACCEPTED_LINES: Final = (
    "expected lines that hold a request body, a list of messages, a reply body, a chunk, an exchange or a list of them"
)


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the inputs of a JSON file."""
    try:
        value = parse_json(data, path)
    except InvalidDocument as error:
        # Imported here because only an error needs them.
        from conformance.formats import inside
        from conformance.formats.hints import for_damaged

        found = list(inside.of_text(data, path)) if inside.is_value_of_python(data) else []
        if found:
            yield from found
            return

        message = error.message + for_damaged(data, error.message, path)
        raise InvalidDocument(message, path, error.line, error.pointer) from None
    yield from read_value(value, path)


def read_value(value: JSON, path: str, line: int | None = None) -> Iterator[Input]:
    """Yield the inputs of a JSON value; `line` is its line if it is one of several in a file."""
    session = sessions.of_json(value, path) if line is None else None
    if session is not None:
        yield from session
    elif isinstance(value, dict):
        yield from _object(value, path, line)
    elif isinstance(value, list) and value:
        yield from _list(value, path, line)
    else:
        yield from _inside(value, path, line)


def _inside(value: JSON, path: str, line: int | None) -> Iterator[Input]:
    """Yield what a value of another form holds; raises Unrecognized if it holds nothing."""
    # Imported here because most values have a form.
    from conformance.formats import inside

    # What is deep in a body of another API may look like one on a wire.
    found = [] if other_api(Exchange.of_plain(response=value)) else list(inside.of_value(value, path, line))
    if not found:
        raise _unknown(value, path, line)
    yield from found


def _has_entries(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a cassette of seinfeld."""
    items = value.get("entries")
    return isinstance(items, list) and any("method" in as_object(as_object(item).get("request")) for item in items)


def is_chunk(value: Any) -> bool:
    """Return whether a value is a chunk of a stream."""
    if not isinstance(value, Mapping) or not isinstance(value.get("choices"), list):
        return False
    kind, first = value.get("object"), next(iter(value["choices"]), None)
    if isinstance(first, Mapping):
        return "delta" in first and "message" not in first
    # Azure writes an empty `object` in the chunk that holds only the results of its filter.
    return bool(kind in ("chat.completion.chunk", "") or (kind is None and "usage" in value))


def _object(value: dict[str, Any], path: str, line: int | None) -> Iterator[Input]:
    request, log = value.get("request"), value.get("log")
    tool = logs.reader_of(value)
    if tool is not None:
        yield from logs.read(tool, [value], path, line)
        return
    by_http = isinstance(request, Mapping) and "method" in request and ("url" in request or "uri" in request)
    if by_http or isinstance(value.get("interactions") or value.get("http_interactions"), list):
        yield from _recorded_or_inside(value, path, line)
    elif isinstance(log, Mapping) and isinstance(log.get("entries"), list):
        # Imported here, as below, because most files are not recordings.
        from conformance.formats import har

        yield from har.read_entries(log["entries"], path)
    elif _has_entries(value):
        from conformance.formats import seinfeld

        yield from seinfeld.read_entries(value["entries"], path)
    elif "scope" in value and "path" in value:
        yield from _calls([value], path)
    elif isinstance(value.get("exchanges"), list):
        yield _session(value["exchanges"], value, path, line)
    elif ("request" in value or "response" in value) and not (wires.event_name(value) or _is_foreign(value)):
        yield from _inside(value, path, line) if _holds_deeper(value) else (_exchange(value, path, line),)
    elif isinstance(value.get("messages"), list) and (given := _asked(value, path, line)) is not None:
        yield given
    elif is_chunk(value):
        yield from sse.read_chunks([value], path, line)
    else:
        yield from _event_or_body(value, path, line)


def _is_foreign(value: dict[str, Any]) -> bool:
    """Return whether a value is the body of a reply of another API."""
    return "request" not in value and bool(other_api(Exchange.of_plain(response=value)))


def _event_or_body(value: dict[str, Any], path: str, line: int | None) -> Iterator[Input]:
    if wires.event_name(value):
        yield from sse.read_events([value], path, line)
    else:
        body = _body(value, path, line)
        yield from [body] if body is not None else _inside(value, path, line)


def _body(value: dict[str, Any], path: str, line: int | None) -> Input | None:
    """Return a body of another wire, or a reply of any, as an input; None for something else."""
    asked = Exchange.of_plain(request=value, model=model_of(value))
    # A row of a trace has both sides; what MCP says is none of a wire.
    if ({"input", "output"} <= value.keys() and value.get("object") != "response") or "jsonrpc" in value:
        return None
    if wires.is_native(asked):
        return Input(path, line, "request", (asked,))
    is_invalid = records.is_validation(value.get("detail"))
    status = _INVALID if is_invalid else None
    replied = Exchange.of_plain(response=value, status=status, model=model_of(value), date=records.date_of_reply(value))
    if _is_foreign(value):
        return None
    is_reply = "choices" in value or value.get("error") is not None or value.get("object") == "error" or is_invalid
    if is_reply or wires.is_native(replied):
        return Input(path, line, "response", (replied,))
    return None


def _list(value: list[Any], path: str, line: int | None) -> Iterator[Input]:
    objects = [item for item in value if isinstance(item, Mapping)]
    all_objects = len(objects) == len(value)
    from conformance.formats import message_lists

    messages = message_lists.of_list(value, path, line) if all_objects else None
    if messages is not None:
        yield messages
    elif all_objects and all("scope" in item and "path" in item for item in objects):
        yield from _calls(objects, path)
    elif all_objects and (tool := logs.reader_of(objects[0])) is not None and all(map(tool.holds, objects)):
        yield from logs.read(tool, objects, path, line)
    elif all_objects and all(map(wires.event_name, objects)):
        yield from sse.read_events(objects, path, line)
    elif len(value) > 1 and all_objects and all("candidates" in item for item in objects):
        # Without alt=sse, Gemini streams a list.
        yield from [Input(path, line, "chunks", (sse.stream(text),)) for text in sse.streams(objects)]
    elif all_objects and all("request" in item or "response" in item for item in objects):
        yield from _inside(value, path, line) if _holds_deeper(objects[0]) else (_session(value, {}, path, line),)
    elif objects and all(is_chunk(item) or isinstance(item, str) for item in value):
        yield from sse.read_chunks(value, path, line)
    else:
        yield from _inside(value, path, line)


def _asked(value: dict[str, Any], path: str, line: int | None) -> Input | None:
    """Return the input of an object with messages: of a body, or of messages alone, as applications and datasets do."""
    body = Input(path, line, "request", (Exchange.of_plain(request=value, model=model_of(value)),))
    if "model" in value or not value["messages"]:
        return body
    # Imported here, as below, because most files hold whole bodies.
    from conformance.formats import message_lists

    tools = {"tools": value["tools"]} if "tools" in value else {}
    given = message_lists.of_list(value["messages"], path, line, tools)
    is_body = given is not None and given.kind == message_lists.KIND and not _PARAMETERS.isdisjoint(value)
    return body if is_body else given


def _holds_deeper(record: Mapping[str, Any]) -> bool:
    """Return whether the body of a request stands elsewhere in a record than an exchange has it."""
    sent = record.get("request")
    if sent is not None and not (isinstance(sent, Mapping) and _BODY_KEYS.isdisjoint(sent)):
        return False
    if other_api(Exchange.of_plain(request=sent, response=record.get("response"))) not in ("", NOTHING_KNOWN):
        return False
    # Imported here because most records are exchanges.
    from conformance.formats import inside

    return inside.holds_request({key: value for key, value in record.items() if key != "response"})


def _recorded_or_inside(value: Any, path: str, line: int | None) -> Iterator[Input]:
    """Yield the exchanges of a recording; if it has none, what a gateway logs beside the request that it got."""
    found = list(_recording(value, path))
    if any(each.conversation or each.problem for each in found):
        yield from found
        return
    from conformance.formats import inside

    yield from list(inside.of_value(value, path, line)) or found


def _recording(value: Any, path: str) -> Iterator[Input]:
    from conformance.formats import vcr

    yield from vcr.read_value(value, path)


def _calls(value: list[Mapping[str, Any]], path: str) -> Iterator[Input]:
    from conformance.formats import nock

    yield from nock.read_calls(value, path)


def _session(exchanges: list[Any], holder: Mapping[str, Any], path: str, line: int | None) -> Input:
    for number, item in enumerate(exchanges):
        if not isinstance(item, Mapping):
            pointer = f"/exchanges/{number}" if holder else f"/{number}"
            raise InvalidDocument("expected an exchange, an object with `request` or `response`", path, line, pointer)
    read = [records.exchange(item, path, is_json=True) for item in exchanges]
    conversation = tuple([exchange for exchange in read if not other_api(exchange)])
    notes = tuple([outside(each) for each in dict.fromkeys(map(other_api, read)) if each])
    provider, session = as_text(holder.get("provider")), as_text(holder.get("session"))
    return Input(path, line, "exchanges", conversation, provider, session, notes=notes)


def _exchange(value: Mapping[str, Any], path: str, line: int | None) -> Input:
    provider, session, api = as_text(value.get("provider")), as_text(value.get("session")), value.get("api", "chat")
    exchange = records.exchange(value, path, is_json=True)
    other = other_api(exchange)
    if other or (api != "chat" and not wires.is_native(exchange)):
        notes = (outside(other or f"api {api!r}"),)
        return Input(path, line, "native", provider=provider, session=session, notes=notes)
    return Input(path, line, "exchange", (exchange,), provider, session)


def _unknown(value: JSON, path: str, line: int | None) -> InvalidDocument:
    if isinstance(value, dict):
        keys = ", ".join(repr(key[:40]) for key in list(value)[:_MAX_KEYS]) or "none"
        got = f"an object with the keys {keys}{', …' if len(value) > _MAX_KEYS else ''}"
    elif isinstance(value, list):
        got = "a list of other or mixed items" if value else "an empty list"
    else:
        got = "a single value"
    # Imported here because only an error needs it.
    from conformance.formats.hints import for_log, for_value

    accepted = ACCEPTED if line is None else _ACCEPTED_LINES
    if name := other_api(Exchange.of_plain(response=value)):
        return Unrecognized(f"{accepted}; got {got}; it is a body of another API: {name}", path, line or 1)
    # The first lines of a file show what all of them are; to search each would take long.
    hint = for_log(value, path, for_value(value, path)) if line is None or line <= _HINTED else ""
    return Unrecognized(f"{accepted}; got {got}{hint}", path, line or 1)
