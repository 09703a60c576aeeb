"""OpenTelemetry spans of chat calls: OTLP JSON, as exporters and the collector write it, and what SDKs print as JSON.

Messages are in `gen_ai.input.messages`, `gen_ai.output.messages` and `gen_ai.system_instructions` (semantic conventions
since 1.37, August 2025), as JSON text or as structured values, on the span or on its event
`gen_ai.client.inference.operation.details`; older OpenLLMetry has `gen_ai.prompt.0.role` and so on. What is in log
records instead is read by `events`. A message has `role` and `parts`: `text`, `reasoning`,
`tool_call` (`id`, `name`, `arguments`) and `tool_call_response` (`id`, `response`). Other tools write attributes of
their own, see `span_bodies` and `vercel`; Jaeger and Zipkin export the same ones as tags. A call that failed has
`error.type`, an event `exception`, or a status.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/, gen-ai-input-messages.json beside it, and
https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding, https://zipkin.io/zipkin-api/zipkin2-api.yaml
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.documents import JSON
from conformance.formats import failures, rebuilt
from conformance.formats.failures import LoggedFailure
from conformance.formats.logs import span_bodies, vercel
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import as_object, as_text, date_of
from conformance.wire.exchange import Exchange

KIND: Final = "spans"
RULES: Final = rebuilt.RULES
NOTES: Final = rebuilt.NOTES
_RESOURCES: Final = ("resourceSpans", "resource_spans")
_SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_INPUT, _OUTPUT, _SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
_FLAT: Final = "attributes."
_FLAT_KIND, _FLAT_MESSAGES = f"{_FLAT}openinference.span.kind", f"{_FLAT}llm.input_messages"
"""Columns of the tables that Phoenix exports."""
_OTHER_WIRES: Final = ("aws.bedrock", "cohere")
_REASONING: Final = ("reasoning", "thinking")
_OPERATIONS: Final = ("chat", "generate_content", "text_completion")
_EXCEPTION: Final = "exception"
_FAILED: Final = ("ERROR", "STATUS_CODE_ERROR", 2)
_TIMES: Final = ("start_time", "startTimeUnixNano", "start_time_unix_nano", "startTime")
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
    spans = as_object(value.get("data")).get("spans")
    if isinstance(spans, list) and "info" in value:
        return True
    if any(map(_is_span, _of_jaeger(value))) or _FLAT_KIND in value or _FLAT_MESSAGES in value:
        return True
    known = "spanId" in value or "span_id" in value or "span_id" in as_object(value.get("context"))
    return ("attributes" in value and known) or _is_span(value)


def _is_span(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a span of Jaeger or of Zipkin, which call attributes tags."""
    return "tags" in value and ("spanID" in value or ("traceId" in value and "id" in value and "name" in value))


def _of_jaeger(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the spans of the traces that Jaeger exports."""
    return [span for trace in items(value, ("data",)) for span in items(trace, ("spans",))]


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Rebuilt | str]:
    """Yield the exchange of each span of a chat call, or say why there is none; other spans count as skipped."""
    if _FLAT_KIND in value or _FLAT_MESSAGES in value:
        known = {key.removeprefix(_FLAT): each for key, each in value.items() if key.startswith(_FLAT)}
        value = {**value, "attributes": {"openinference.span.kind": value.get("span_kind", "LLM"), **known}}
    if "attributes" in value or _is_span(value):
        yield _exchange(value, path)
        return
    for span in _of_jaeger(value):
        yield _exchange(span, path)
    # A trace as MLflow exports it.
    for span in items(as_object(value.get("data")), ("spans",)):
        yield _exchange(span, path)
    for resource in items(value, _RESOURCES):
        for scope in items(resource, _SCOPES):
            for span in items(scope, ("spans",)):
                yield _exchange(span, path)


def items(holder: Mapping[str, Any], keys: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """Return the objects in the list that is under the first of some keys."""
    found: list[Any] = next((holder[key] for key in keys if isinstance(holder.get(key), list)), [])
    return [item for item in found if isinstance(item, Mapping)]


def _exchange(span: Mapping[str, Any], path: str) -> Rebuilt | str:
    own = known = attributes(span.get("attributes", span.get("tags")))
    for event in _events(span):
        if event.get("name") != _EXCEPTION:
            known = {**attributes(event.get("attributes")), **known}
    date = next(filter(None, (date_of_time(span.get(key)) for key in _TIMES)), "")
    failure = failure_of(span, own)
    if vercel.holds(known):
        return vercel.call(known, failure, date, path)
    if span_bodies.tool_of(known) is not None:
        made = span_bodies.call(known, failure, date)
        # Logfire has messages in either place.
        if isinstance(made, Rebuilt) or _INPUT not in known:
            return made
    return exchange_of(known, date, path, _NO_MESSAGES, failure)


def _events(span: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the events of a span; Jaeger calls them logs, and their names are among their fields."""
    logged = [attributes(each.get("fields")) for each in items(span, ("logs",))]
    return [*items(span, ("events",)), *[{"name": each.get("event"), "attributes": each} for each in logged]]


def failure_of(span: Mapping[str, Any], known: Mapping[str, Any]) -> LoggedFailure | None:
    """Return what a span says of a call that failed: its exception, else its status, else the type of the error."""
    raised = [attributes(each.get("attributes")) for each in _events(span) if each.get("name") == _EXCEPTION]
    # MLflow has the status beside the attributes, and Jaeger among them.
    beside = {"code": span.get("status_code"), "message": span.get("status_message")}
    among = {"code": known.get("otel.status_code"), "message": known.get("otel.status_description")}
    status = as_object(span.get("status")) or (beside if beside["code"] else among)
    is_error = status.get("status_code", status.get("code")) in _FAILED
    if not is_error and not raised and not known.get("error.type"):
        return None
    said = [as_text(each.get("exception.message")) for each in raised]
    said += [as_text(known.get(key)) for key in ("error.message", "langfuse.observation.status_message")]
    said += [as_text(status.get(key)) for key in ("description", "message")]
    kind = as_text(known.get("error.type")) or as_text(raised[0].get("exception.type") if raised else "")
    # `error.type` is the status itself, or the name of the exception.
    status_of_kind = failures.of_text(kind).status if kind else None
    text = next((each for each in said if each and each != kind), "")
    if not text:
        return LoggedFailure(status_of_kind, None, is_body=False) if status_of_kind else None
    found = failures.of_text(text)
    return found._replace(status=found.status or status_of_kind)


def exchange_of(
    known: Mapping[str, Any], date: str, path: str, without: str, failure: LoggedFailure | None = None
) -> Rebuilt | str:
    """Return the call that attributes hold, or why there is none; `without` is why if it lacks messages."""
    operation = known.get("gen_ai.operation.name", known.get("llm.request.type"))
    flat = any(key.startswith("gen_ai.prompt.") for key in known)
    if operation not in _OPERATIONS and (operation is not None or not flat):
        return "skipped, spans of something other than chat calls"
    if is_other_wire(known):
        return f"skipped, not chat completions: calls of {system_of(known)}"
    messages = _messages(known, _INPUT, path) or _flat(known, "gen_ai.prompt.")
    if not messages and (failure is None or failure.body is None):
        return without
    instructions = _parts(rebuilt.embedded(known.get(_SYSTEM), _SYSTEM, path), "system")
    replies = _messages(known, _OUTPUT, path) or _flat(known, "gen_ai.completion.")
    url = as_text(known.get("gen_ai.openai.api_base")) or as_text(known.get("server.address"))
    model = as_text(known.get("gen_ai.request.model"))
    made = Exchange.of_plain(url=url, model=model, date=date)
    if messages:
        chat = rebuilt.exchange([*instructions, *messages], replies, model, url=url, date=date)
        wire = "responses" if known.get("openai.api.type") == "responses" else ""
        made = rebuilt.on_wire(chat, system_of(known), wire)
    return rebuilt.failed(Rebuilt(made, system_of(known)), failure)


def system_of(known: Mapping[str, Any]) -> str:
    """Return the provider that attributes name, or an empty string."""
    return as_text(known.get("gen_ai.provider.name")) or as_text(known.get("gen_ai.system"))


def is_other_wire(known: Mapping[str, Any]) -> bool:
    """Return whether the provider of a call speaks no chat completions."""
    return system_of(known).lower() in _OTHER_WIRES


def date_of_time(recorded: Any) -> str:
    """Return the ISO 8601 date of a time in nanoseconds or in ISO 8601; else the empty string."""
    if isinstance(recorded, list) and recorded:
        # OpenTelemetry's SDK of JavaScript has seconds and nanoseconds.
        return date_of(recorded[0])
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
    if not isinstance(recorded, Mapping):
        return recorded
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
    thought = "".join(as_text(part.get("content")) for part in given if part.get("type") in _REASONING)
    return [*made, rebuilt.message(role, texts, calls, thought)] if texts or calls or thought else made


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
