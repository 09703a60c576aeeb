"""OpenTelemetry spans of chat calls: OTLP JSON, as exporters and the collector write it, and what SDKs print as JSON.

Messages are in `gen_ai.input.messages`, `gen_ai.output.messages` and `gen_ai.system_instructions` (semantic conventions
since 1.37, August 2025), as JSON text or as structured values, on the span or on its event
`gen_ai.client.inference.operation.details`; older OpenLLMetry has `gen_ai.prompt.0.role` and so on. What is in log
records instead is read by `events`. A message has `role` and `parts`: `text`, `reasoning`,
`tool_call` (`id`, `name`, `arguments`) and `tool_call_response` (`id`, `response`).

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/, gen-ai-input-messages.json beside it, and
https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.documents import JSON
from conformance.formats import rebuilt
from conformance.formats.records import as_object, as_text, date_of
from conformance.wire.exchange import Exchange

KIND: Final = "spans"
RULES: Final = rebuilt.RULES
NOTES: Final = rebuilt.NOTES
_RESOURCES: Final = ("resourceSpans", "resource_spans")
_SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_INPUT, _OUTPUT, _SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
_OTHER_WIRES: Final = ("anthropic", "aws.bedrock", "cohere", "gcp.gemini", "gcp.gen_ai", "gcp.vertex_ai", "google")
_NANOSECONDS: Final = 10**9
_DIGITS: Final = 21
_NO_MESSAGES: Final = (
    "skipped, a span without messages; with OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY and"
    " OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental, OpenTelemetry's instrumentations write them"
)


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is an export of spans, or one span."""
    if any(isinstance(value.get(key), list) for key in _RESOURCES):
        return True
    return "attributes" in value and ("spanId" in value or "span_id" in as_object(value.get("context")))


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Exchange | str]:
    """Yield the exchange of each span of a chat call, or say why there is none; other spans count as skipped."""
    if "attributes" in value:
        yield _exchange(value, path)
        return
    for resource in items(value, _RESOURCES):
        for scope in items(resource, _SCOPES):
            for span in items(scope, ("spans",)):
                yield _exchange(span, path)


def items(holder: Mapping[str, Any], keys: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """Return the objects in the list that is under the first of some keys."""
    found: list[Any] = next((holder[key] for key in keys if isinstance(holder.get(key), list)), [])
    return [item for item in found if isinstance(item, Mapping)]


def _exchange(span: Mapping[str, Any], path: str) -> Exchange | str:
    known = attributes(span.get("attributes"))
    for event in items(span, ("events",)):
        known = {**attributes(event.get("attributes")), **known}
    date = date_of_time(span.get("start_time")) or date_of_time(span.get("startTimeUnixNano"))
    return exchange_of(known, date, path, _NO_MESSAGES)


def exchange_of(known: Mapping[str, Any], date: str, path: str, without: str) -> Exchange | str:
    """Return the exchange of a call by its attributes, or why there is none; `without` is why if it lacks messages."""
    operation = known.get("gen_ai.operation.name", known.get("llm.request.type"))
    if operation != "chat" and (operation is not None or not any(key.startswith("gen_ai.prompt.") for key in known)):
        return "skipped, spans of something other than chat calls"
    if is_other_wire(known):
        return f"skipped, not chat completions: calls of {system_of(known)}"
    messages = _messages(known, _INPUT, path) or _flat(known, "gen_ai.prompt.")
    if not messages:
        return without
    instructions = _parts(rebuilt.embedded(known.get(_SYSTEM), _SYSTEM, path), "system")
    replies = _messages(known, _OUTPUT, path) or _flat(known, "gen_ai.completion.")
    url = as_text(known.get("gen_ai.openai.api_base")) or as_text(known.get("server.address"))
    model = as_text(known.get("gen_ai.request.model"))
    return rebuilt.exchange([*instructions, *messages], replies, model, url=url, date=date)


def system_of(known: Mapping[str, Any]) -> str:
    """Return the provider that attributes name, or an empty string."""
    return as_text(known.get("gen_ai.provider.name")) or as_text(known.get("gen_ai.system"))


def is_other_wire(known: Mapping[str, Any]) -> bool:
    """Return whether the provider of a call speaks no chat completions."""
    return system_of(known).lower() in _OTHER_WIRES


def date_of_time(recorded: Any) -> str:
    """Return the ISO 8601 date of a time in nanoseconds or in ISO 8601; else the empty string."""
    nanoseconds = str(recorded)
    if nanoseconds.isdecimal() and len(nanoseconds) < _DIGITS:
        return date_of(int(nanoseconds) / _NANOSECONDS)
    return date_of(recorded)


def attributes(recorded: Any) -> dict[str, Any]:
    """Return attributes by name; OTLP has a list of keys with typed values, SDKs print an object."""
    if isinstance(recorded, Mapping):
        return dict(recorded)
    listed = recorded if isinstance(recorded, list) else []
    pairs = [(item.get("key"), item.get("value")) for item in listed if isinstance(item, Mapping)]
    return {key: value_of(value) for key, value in pairs if isinstance(key, str)}


def value_of(recorded: Any) -> Any:
    """Return a value of OTLP, which names its type: `stringValue`, `arrayValue`, `kvlistValue` and so on."""
    typed = as_object(recorded)
    if "arrayValue" in typed:
        values = as_object(typed["arrayValue"]).get("values")
        return [value_of(item) for item in values] if isinstance(values, list) else []
    if "kvlistValue" in typed:
        return attributes(as_object(typed["kvlistValue"]).get("values"))
    return next(iter(typed.values()), None)


def _messages(known: Mapping[str, Any], name: str, path: str) -> list[JSON]:
    found = rebuilt.embedded(known.get(name), name, path)
    given = [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []
    return [made for item in given for made in _parts(item.get("parts"), as_text(item.get("role")))]


def _parts(recorded: Any, role: str) -> list[JSON]:
    """Return the messages of one message's parts: the results of calls are messages of their own."""
    given = [part for part in recorded if isinstance(part, Mapping)] if isinstance(recorded, list) else []
    texts = [as_text(part.get("content")) for part in given if part.get("type") == "text"]
    calls = [_call(part) for part in given if part.get("type") == "tool_call"]
    results = [part for part in given if part.get("type") == "tool_call_response"]
    made: list[JSON] = [rebuilt.result(part.get("id"), part.get("response", part.get("result"))) for part in results]
    return [*made, rebuilt.message(role, texts, calls)] if texts or calls else made


def _call(part: Mapping[str, Any]) -> dict[str, JSON]:
    return rebuilt.call(part.get("id"), part.get("name"), part.get("arguments"))


def _flat(known: Mapping[str, Any], prefix: str) -> list[JSON]:
    """Return messages that are spread over attributes such as `gen_ai.prompt.0.tool_calls.0.id`."""
    tree: dict[str, dict[str, Any]] = {}
    for key, value in known.items():
        number, _, name = key.removeprefix(prefix).partition(".")
        if key.startswith(prefix) and number.isdecimal() and len(number) < len(prefix):
            tree.setdefault(number, {})[name] = value
    return [_flat_message(tree[number]) for number in sorted(tree, key=int)]


def _flat_message(fields: Mapping[str, Any]) -> dict[str, JSON]:
    if fields.get("role") == "tool":
        return rebuilt.result(fields.get("tool_call_id"), fields.get("content"))
    calls: dict[str, dict[str, Any]] = {}
    for key, value in fields.items():
        start, number, *name = [*key.split(".", 2), ""][:3]
        if start == "tool_calls" and name:
            calls.setdefault(number, {})[name[0]] = value
    made = [rebuilt.call(each.get("id"), each.get("name"), each.get("arguments")) for each in calls.values()]
    return rebuilt.message(as_text(fields.get("role")) or "assistant", [as_text(fields.get("content"))], made)
