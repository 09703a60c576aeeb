from typing import Any, Final

import orjson

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.context import as_words
from conformance.schemas import argument_errors
from conformance.wire.elements import Reply
from conformance.wire.reasoning import untagged_text
from conformance.wire.text import quoted, said_text
from conformance.wire.values import as_object
from conformance.wire.views import replies

_CONTENT: Final = "/0/response/choices/0/message/content"
_FORMAT: Final = "/0/request/response_format"
_OBJECT: Final = {_FORMAT: {"type": "json_object"}}
_CITY: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_SCHEMA: Final = {_FORMAT: {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": _CITY}}}
_GEMINI: Final = {"/0/request/generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": _CITY}}
_JSON: Final = ("json_object", "json_schema")


def _asks_for_json(reply: Reply, context: Context) -> bool:
    wanted = reply.request.get("response_format") if reply.request is not None else None
    if type(wanted) is not dict or wanted.get("type") not in _JSON or reply.calls or reply.message.get("refusal"):
        return False
    is_whole = reply.complete and reply.finish_reason == "stop"
    return is_whole and "response_format" not in as_words(context.claim("request.ignored-fields"))


@rule(
    Level.MUST,
    on=replies,
    where=_asks_for_json,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "enables the older JSON mode, which ensures the message the model generates is valid JSON.",
    ),
    bad=[
        example("plain", _OBJECT),
        example("plain", {**_OBJECT, _CONTENT: '{"city": "Par'}),
        example("plain", {**_OBJECT, _CONTENT: '```json\n{"city": "Paris"}\n```'}),
        example("plain", {**_OBJECT, _CONTENT: '["Paris"]'}),
        example("plain", {**_SCHEMA, _CONTENT: '{"town": "Paris"}'}),
        example("stream-plain", _SCHEMA),
        example("messages-plain", {"/0/request/output_config": {"format": {"type": "json_schema", "schema": _CITY}}}),
        example("gemini-result", _GEMINI),
    ],
    good=[
        example("plain", {**_OBJECT, _CONTENT: '{"city": "Paris"}\n'}),
        example("plain", {**_SCHEMA, _CONTENT: '{"city": "Paris"}'}),
    ],
    reads=("request.ignored-fields",),
    wires=EVERY,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """The content of a reply is the JSON that `response_format` asks for.

    Clients parse it as it comes, without looking for JSON between words or code fences, and read the keys of a strict
    schema unchecked. Calls, refusals and truncated replies are exempt, and so is a provider that documents that it
    ignores `response_format`. To fix it, constrain decoding, or reject a format that the engine cannot guarantee.
    """
    text = untagged_text(said_text(reply.message.get("content"))).strip()
    if not text:
        # `response/message-not-empty` reports that there is nothing.
        return []
    wanted: Any = reply.request["response_format"] if reply.request is not None else {}
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return [_fault(f"expected JSON, because response_format asks for it, got {quoted(text)} ({error.msg})")]
    if wanted["type"] == "json_object":
        is_object = type(value) is dict
        return [] if is_object else [_fault(f"expected a JSON object, as in response_format, got {quoted(text)}")]
    described = as_object(wanted.get("json_schema"))
    if described.get("strict") is not True:
        return []
    return [_fault(f"the content does not match the strict schema: {error}") for error in _errors(described, value)]


def _errors(described: Any, value: Any) -> tuple[str, ...]:
    schema = described.get("schema")
    return argument_errors(schema, value) if type(schema) is dict else ()


def _fault(message: str) -> Fault:
    return Fault(message, at=("message", "content"))
