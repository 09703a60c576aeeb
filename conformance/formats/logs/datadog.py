"""Spans of Datadog's LLM Observability: one span, or the body that its API takes, with a list of them.

The span of a call has `meta` with `kind` `llm`, `input` and `output` with `messages`, `model_name`, `model_provider`,
and `error` if it failed. A message has `tool_calls` (`tool_id`, `name`, `arguments`) and `tool_results` (`tool_id`,
`result`).

Source: https://docs.datadoghq.com/llm_observability/instrumentation/api/
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.documents import JSON
from conformance.formats import failures, rebuilt
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import as_object, as_text, date_of

KIND: Final = "datadog"
RULES: Final = rebuilt.RULES
NOTES: Final = rebuilt.NOTES
_NANOSECONDS: Final = 10**9


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a span, or a body with spans."""
    return any(_is_span(each) for each in _spans(value))


def exchanges(value: Mapping[str, Any], path: str) -> Iterator[Rebuilt | str]:
    """Yield the call of each span of a model, or say why there is none."""
    del path
    for span in _spans(value):
        yield _call(span)


def _spans(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = as_object(as_object(value.get("data")).get("attributes")).get("spans")
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else [value]


def _is_span(value: Mapping[str, Any]) -> bool:
    return "span_id" in value and bool(as_object(value.get("meta")).keys() & {"kind", "span.kind", "span"})


def _call(span: Mapping[str, Any]) -> Rebuilt | str:
    meta = as_object(span.get("meta"))
    kind = meta.get("kind") or meta.get("span.kind") or as_object(meta.get("span")).get("kind")
    if kind != "llm":
        return "skipped, spans of something other than a model"
    messages, replies = (_messages(as_object(meta.get(side)).get("messages")) for side in ("input", "output"))
    if not messages:
        return "skipped, a span without messages"
    metadata = as_object(meta.get("metadata"))
    model, provider = (as_text(meta.get(key)) or as_text(metadata.get(key)) for key in ("model_name", "model_provider"))
    started = span.get("start_ns")
    day = date_of(started / _NANOSECONDS) if isinstance(started, int) else ""
    made = rebuilt.on_wire(rebuilt.exchange(messages, replies, model, date=day), provider)
    error = as_object(meta.get("error"))
    return rebuilt.failed(Rebuilt(made, provider), failures.of_value(error.get("message")))


def _messages(recorded: Any) -> list[JSON]:
    given = [each for each in recorded if isinstance(each, Mapping)] if isinstance(recorded, list) else []
    return [made for each in given for made in _parts(each)]


def _parts(given: Mapping[str, Any]) -> list[JSON]:
    """Return the messages of one message: the results of calls are messages of their own."""
    calls, results = (
        [each for each in given.get(key) or () if isinstance(each, Mapping)] for key in ("tool_calls", "tool_results")
    )
    made = [rebuilt.call(each.get("tool_id"), each.get("name"), each.get("arguments", {})) for each in calls]
    answers: list[JSON] = [rebuilt.result(each.get("tool_id"), each.get("result")) for each in results]
    text = as_text(given.get("content"))
    return [*answers, rebuilt.message(as_text(given.get("role")), [text], made)] if text or made else answers
