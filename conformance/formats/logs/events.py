"""OpenTelemetry log records of chat calls: OTLP JSON, as exporters and the collector write it, and what SDKs print.

A record is an event. `gen_ai.client.inference.operation.details` (semantic conventions since 1.37, August 2025) holds a
whole call, in the attributes that spans have, too. Before, each message was an event of its own, `gen_ai.user.message`,
`gen_ai.choice` and so on, with the message as its body; the id of the span is what those of one call share.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/ and
https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.errors import InvalidDocument
from conformance.formats import rebuilt
from conformance.formats.inputs import Input
from conformance.formats.logs import spans
from conformance.formats.rebuilt import KIND, CallJoiner, Rebuilt
from conformance.formats.records import as_object, as_text, located
from conformance.wire.native import CHAT

__all__ = ["KIND", "NOTES", "RULES", "holds", "joined", "parts"]

RULES: Final = rebuilt.RULES
NOTES: Final = rebuilt.NOTES

_RESOURCES: Final = ("resourceLogs", "resource_logs")
_SCOPES: Final = ("scopeLogs", "scope_logs")
_RECORDS: Final = ("logRecords", "log_records")
_NAMES: Final = ("eventName", "event_name")
_SPANS: Final = ("spanId", "span_id")
_TIMES: Final = ("timeUnixNano", "observedTimeUnixNano", "timestamp", "observed_timestamp")
_WHOLE: Final = "gen_ai.client.inference.operation.details"
_CHOICE: Final = "gen_ai.choice"
_MESSAGES: Final = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_NO_CONTENT: Final = (
    "skipped, log records without messages; with OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, or"
    " EVENT_ONLY in newer versions, OpenTelemetry's instrumentations write them"
)


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is an export of log records, or one record."""
    if any(isinstance(value.get(key), list) for key in _RESOURCES):
        return True
    return "attributes" in value and "body" in value and any(key in value for key in (*_NAMES, *_SPANS))


def parts(values: Sequence[Mapping[str, Any]], path: str, line: int | None) -> Iterator[Input]:
    """Yield an input for each record; if others may belong to the same call, its session is the id of their span."""
    skipped: dict[str, None] = {}
    for record in (record for value in values for record in _records(value)):
        try:
            found = _exchange(record, path)
        except InvalidDocument as error:
            yield Input(path, line, KIND, problem=InvalidDocument(located(error), path, line))
            continue
        if isinstance(found, str):
            skipped[found] = None
        else:
            span = "" if _name(record) == _WHOLE else as_text(_first(record, _SPANS))
            rules = RULES + (rebuilt.FAILURE_RULES if found.failed else ())
            yield Input(path, line, KIND, (found.exchange,), found.provider, span, notes=NOTES, rules=rules)
    if skipped:
        yield Input(path, line, KIND, notes=tuple(skipped), rules=RULES)


def joined(found: Iterable[Input]) -> Iterator[Input]:
    """Yield an input for each call of which there are parts."""
    calls = CallJoiner()
    for part in found:
        yield from calls.add(part) if part.session else (part,)
    yield from calls.close()


def _records(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "attributes" in value:
        yield value
        return
    for resource in spans.items(value, _RESOURCES):
        for scope in spans.items(resource, _SCOPES):
            yield from spans.items(scope, _RECORDS)


def _exchange(record: Mapping[str, Any], path: str) -> Rebuilt | str:
    """Return what a record holds of a call, or why it holds nothing."""
    name, known = _name(record), spans.attributes(record.get("attributes"))
    body = as_object(record["body"] if _is_plain(record.get("body")) else spans.value_of(record.get("body")))
    date = next(filter(None, (spans.date_of_time(record.get(key)) for key in _TIMES)), "")
    if name == _WHOLE and known.get("gen_ai.operation.name") == "chat":
        return spans.exchange_of({**body, **known}, date, path, _NO_CONTENT, spans.failure_of({}, known))
    if name != _CHOICE and name not in _MESSAGES:
        return "skipped, log records of something other than chat calls"
    # Their calls are joined as chat completions.
    if spans.is_other_wire(known) or rebuilt.wire_of(spans.system_of(known)) != CHAT:
        return f"skipped, not chat completions: calls of {spans.system_of(known)}"
    held = as_object(body.get("message")) if name == _CHOICE else body
    if not held.keys() & {"content", "tool_calls"}:
        return _NO_CONTENT
    role = as_text(held.get("role")) or _MESSAGES.get(name, "assistant")
    messages = rebuilt.logged({"content": None, **held, "role": role, "tool_call_id": held.get("id")})
    made = rebuilt.exchange(*(([], messages) if name == _CHOICE else (messages, [])), "", date=date)
    return Rebuilt(made, spans.system_of(known))


def _name(record: Mapping[str, Any]) -> str:
    known = spans.attributes(record.get("attributes"))
    return as_text(_first(record, _NAMES)) or as_text(known.get("event.name"))


def _first(record: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((record[key] for key in keys if record.get(key)), None)


def _is_plain(body: Any) -> bool:
    """Return whether a body is as SDKs print it; OTLP names the type of each value."""
    return isinstance(body, Mapping) and "kvlistValue" not in body
