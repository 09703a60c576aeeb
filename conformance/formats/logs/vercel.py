"""Spans of the AI SDK of Vercel: `ai.generateText.doGenerate` and `ai.streamText.doStream` are its calls of a model.

`ai.prompt.messages` holds its own messages as JSON text, with `tool-call` and `tool-result` parts;
`ai.response.text`, `.reasoning` and `.toolCalls` hold the reply. Its other spans hold several calls each.

Source: content/docs/03-ai-sdk-core/60-telemetry.mdx and packages/ai/src/generate-text/generate-text.ts of
github.com/vercel/ai
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from conformance.documents import JSON
from conformance.formats import rebuilt
from conformance.formats.failures import LoggedFailure
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import as_object, as_text

_OPERATION: Final = "ai.operationId"
_CALLS: Final = (".doGenerate", ".doStream")
_MESSAGES: Final = "ai.prompt.messages"
_RESPONSE: Final = "ai.response."


def holds(known: Mapping[str, Any]) -> bool:
    """Return whether attributes are those of a span of the AI SDK."""
    return _OPERATION in known


def call(known: Mapping[str, Any], failure: LoggedFailure | None, date: str, path: str) -> Rebuilt | str:
    """Return the call that a span holds, or why there is none."""
    if not as_text(known.get(_OPERATION)).endswith(_CALLS):
        return "skipped, spans of the AI SDK that are not one call of a model"
    given = rebuilt.embedded(known.get(_MESSAGES), _MESSAGES, path)
    messages = [made for item in _objects(given) for made in _messages(item)]
    if not messages:
        return "skipped, a span without messages, which experimental_telemetry.recordInputs leaves out"
    listed = rebuilt.embedded(known.get(f"{_RESPONSE}toolCalls"), f"{_RESPONSE}toolCalls", path)
    calls = [_call(item) for item in _objects(listed)]
    texts = [as_text(known.get(f"{_RESPONSE}text"))]
    thought = as_text(known.get(f"{_RESPONSE}reasoning"))
    replies: list[JSON] = [rebuilt.message("assistant", texts, calls, thought)] if calls or any(texts) else []
    provider, _, surface = as_text(known.get("ai.model.provider")).partition(".")
    exchange = rebuilt.exchange(messages, replies, as_text(known.get("ai.model.id")), date=date)
    wire = "responses" if surface == "responses" else ""
    return rebuilt.failed(Rebuilt(rebuilt.on_wire(exchange, provider, wire), provider), failure)


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _messages(given: Mapping[str, Any]) -> list[JSON]:
    content = given.get("content")
    parts = _objects(content)
    results = [part for part in parts if part.get("type") == "tool-result"]
    made: list[JSON] = [rebuilt.result(part.get("toolCallId"), _output(part)) for part in results]
    texts = [as_text(part.get("text")) for part in parts if part.get("type") == "text"]
    texts += [content] if isinstance(content, str) else []
    thought = "".join(as_text(part.get("text")) for part in parts if part.get("type") == "reasoning")
    calls = [_call(part) for part in parts if part.get("type") == "tool-call"]
    if given.get("role") == "tool":
        return made
    return [rebuilt.message(as_text(given.get("role")), texts, calls, thought), *made]


def _call(part: Mapping[str, Any]) -> dict[str, JSON]:
    return rebuilt.call(part.get("toolCallId"), part.get("toolName"), part.get("input", part.get("args", {})))


def _output(part: Mapping[str, Any]) -> Any:
    """Return the result of a call; since AI SDK 5 it names its type."""
    output = part.get("output", part.get("result"))
    typed = as_object(output)
    value = typed["value"] if typed.keys() >= {"type", "value"} else output
    return value if isinstance(value, str) else orjson.dumps(value).decode()
