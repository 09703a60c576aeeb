"""Spans that hold the arguments and the result of an SDK's call as JSON text, of several tools.

- OpenInference (Phoenix, Arize): `openinference.span.kind` is `LLM`; `input.value` and `output.value`
- Langfuse: `langfuse.observation.type` is `generation`; `langfuse.observation.input` and `.output`
- MLflow: `mlflow.spanType` is `CHAT_MODEL` or `LLM`; `mlflow.spanInputs` and `mlflow.spanOutputs`
- Logfire: `request_data` and `response_data`; 5.2.0, run on 2026-11-24 with the SDK of OpenAI, has only the model in
  `request_data`, and the messages in the attributes that `spans` reads

OpenInference also spreads messages over attributes, such as `llm.input_messages.0.message.tool_calls.0.tool_call.id`,
which are read where `input.value` is something else, as of frameworks.

Source: spec/semantic_conventions.md of github.com/Arize-ai/openinference, langfuse/_client/attributes.py of
github.com/langfuse/langfuse-python, mlflow/tracing/constant.py of github.com/mlflow/mlflow, and
logfire/_internal/integrations/llm_providers of github.com/pydantic/logfire
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance import wires
from conformance.documents import JSON, parse_json
from conformance.errors import InvalidDocument
from conformance.formats import rebuilt
from conformance.formats.failures import LoggedFailure
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import as_object, as_text
from conformance.wire.exchange import Exchange
from conformance.wire.native import CHAT


class _Tool(NamedTuple):
    """Where a tool keeps what: `mark` has one of `values` (any if empty) on the span of a call."""

    mark: str
    values: tuple[str, ...]
    request: str
    reply: str
    models: tuple[str, ...]


_TOOLS: Final = (
    _Tool("openinference.span.kind", ("LLM",), "input.value", "output.value", ("llm.model_name",)),
    _Tool(
        "langfuse.observation.type",
        ("generation",),
        "langfuse.observation.input",
        "langfuse.observation.output",
        ("langfuse.observation.model.name",),
    ),
    _Tool("mlflow.spanType", ("CHAT_MODEL", "LLM"), "mlflow.spanInputs", "mlflow.spanOutputs", ("mlflow.llm.model",)),
    _Tool("request_data", (), "request_data", "response_data", ("gen_ai.request.model",)),
)
_SENT: Final = ("messages", "input", "contents")
_IN, _OUT = "llm.input_messages.", "llm.output_messages."
_NO_MESSAGES: Final = "skipped, a span of a model without messages"


def tool_of(known: Mapping[str, Any]) -> _Tool | None:
    """Return the tool whose span has these attributes, if it is the span of a call."""
    for tool in _TOOLS:
        value = known.get(tool.mark)
        if isinstance(value, str) and (not tool.values or value.strip('"') in tool.values):
            return tool
    return None


def call(known: Mapping[str, Any], failure: LoggedFailure | None, date: str) -> Rebuilt | str:
    """Return the call that attributes hold, or why there is none."""
    tool = tool_of(known)
    if tool is None:
        return _NO_MESSAGES
    model = next(filter(None, (as_text(known.get(key)) for key in tool.models)), "")
    sent, got = _value(known.get(tool.request)), _value(known.get(tool.reply))
    provider = as_text(known.get("llm.provider")) or as_text(known.get("llm.system"))
    url = as_text(known.get("gen_ai.openai.api_base")) or as_text(known.get("server.address"))
    if body := _request(sent):
        exchange = Exchange.of_plain({"model": model, **body}, _reply(got), url=url, model=model, date=date)
        return rebuilt.failed(Rebuilt(exchange, provider, verbatim=True), failure)
    messages, replies = _spread(known, _IN), _spread(known, _OUT)
    if not messages:
        messages = rebuilt.logged(sent)
        replies = replies or rebuilt.logged(as_object(got).get("choices", got))
    if not messages:
        return _NO_MESSAGES
    made = rebuilt.exchange(messages, replies, model, url=url, date=date)
    return rebuilt.failed(Rebuilt(made, provider), failure)


def _request(sent: JSON) -> dict[str, Any]:
    """Return the arguments of a call, which a decorated function may have under a name of its own; else nothing."""
    given = [sent, *sent.values()] if isinstance(sent, dict) else []
    found = (item for item in given if isinstance(item, dict) and any(isinstance(item.get(key), list) for key in _SENT))
    return next(found, {})


def _value(recorded: Any) -> JSON:
    """Return what an attribute holds as JSON text, else its text: tools also keep plain text there."""
    if not isinstance(recorded, str):
        return recorded  # type: ignore[no-any-return]
    try:
        return parse_json(recorded)
    except InvalidDocument:
        return recorded


def _reply(got: JSON) -> JSON:
    """Return the reply of a call: a body as it is; a message alone as the one choice of a chat completion."""
    if isinstance(got, dict):
        if any(wire.name != CHAT and wire.is_reply(got) for wire in wires.load()) or "choices" in got:
            return got
        messages = rebuilt.logged(got)
        return {"object": "chat.completion", "choices": [{"index": 0, "message": messages[0]}]} if messages else None
    return None


def _spread(known: Mapping[str, Any], prefix: str) -> list[JSON]:
    """Return messages that are spread over attributes with a prefix."""
    tree: dict[int, dict[str, Any]] = {}
    listed = known.get(prefix.removesuffix("."))
    for key, value in (known if not isinstance(listed, list) else dict(_flat(listed, prefix))).items():
        number, _, name = key.removeprefix(prefix).partition(".message.")
        if key.startswith(prefix) and number.isdecimal() and name:
            tree.setdefault(int(number), {})[name] = value
    return [_message(tree[number]) for number in sorted(tree)]


def _flat(listed: list[Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that are spread from lists of objects, as the tables of Phoenix have them."""
    for number, each in enumerate(listed):
        for key, value in each.items() if isinstance(each, Mapping) else ():
            if isinstance(value, list):
                yield from _flat(value, f"{prefix}{number}.{key}.")
            else:
                yield f"{prefix}{number}.{key}", value


def _message(fields: Mapping[str, Any]) -> JSON:
    if fields.get("role") == "tool":
        return rebuilt.result(fields.get("tool_call_id"), fields.get("content"))
    calls: dict[int, dict[str, Any]] = {}
    texts: dict[int, dict[str, Any]] = {}
    for key, value in fields.items():
        for start, inner, into in (("tool_calls.", ".tool_call.", calls), ("contents.", ".message_content.", texts)):
            number, _, name = key.removeprefix(start).partition(inner)
            if key.startswith(start) and number.isdecimal() and name:
                into.setdefault(int(number), {})[name] = value
    made = [
        rebuilt.call(each.get("id"), each.get("function.name"), each.get("function.arguments", "{}"))
        for _, each in sorted(calls.items())
    ]
    parts = [texts[number] for number in sorted(texts)]
    said = [as_text(each.get("text")) for each in parts if each.get("type", "text") == "text"]
    thought = [as_text(each.get("text")) for each in parts if each.get("type") == "reasoning"]
    given = [as_text(fields.get("content")), *said]
    return rebuilt.message(as_text(fields.get("role")) or "assistant", given, made, "".join(thought))
