"""Gemini: `POST …/models/<model>:generateContent`, and `:streamGenerateContent` for streams.

Source: https://ai.google.dev/api/generate-content
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from conformance.wire.native import NativeEvent
from conformance.wire.values import as_object, objects
from conformance.wires import Wire
from conformance.wires.gemini.names import SCHEMA_KEYWORDS, snake_case

NAME: Final = "gemini"
_STREAM: Final = ":streamGenerateContent"


def _path(body: Mapping[str, Any]) -> str:
    """Return the path of a request: on this wire, it names the model and whether the reply is a stream."""
    method = "streamGenerateContent?alt=sse" if body.get("stream") is True else "generateContent"
    return f"/models/{quote(str(body.get('model', '')), safe='')}:{method}"


def _is_request(body: dict[str, Any]) -> bool | None:
    if "messages" in body:
        return False
    contents = body.get("contents")
    return type(contents) is list or (type(contents) is dict and "parts" in contents) or None


def _is_reply(body: dict[str, Any]) -> bool:
    return type(body.get("candidates")) is list or "usageMetadata" in body or "promptFeedback" in body


def _headers(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key} if key else {}


def _is_array(url: str) -> bool:
    return _STREAM in url and "alt=sse" not in url


def _failure(message: str) -> NativeEvent:
    return NativeEvent("", {"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}})


def _ended(reply: Mapping[str, Any]) -> tuple[str, Any]:
    """Return why the first candidate ended, or why there is none."""
    blocked = as_object(reply.get("promptFeedback")).get("blockReason")
    _, candidate = next(objects(reply.get("candidates")), (0, {}))
    if blocked is not None and not candidate:
        return "promptFeedback.blockReason", blocked
    return "finishReason", candidate.get("finishReason")


def _notations(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield a path as the wire has it, then as SDKs may write it: https://protobuf.dev/programming-guides/json/."""
    yield path
    yield path[0], *map(snake_case, path[1:])
    yield tuple(map(snake_case, path))


_SETTINGS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    name: tuple([each for path in paths for each in _notations(path)])
    for name, paths in {
        "token limit": (("generationConfig", "maxOutputTokens"),),
        "temperature": (("generationConfig", "temperature"),),
        "top_p": (("generationConfig", "topP"),),
        "stop texts": (("generationConfig", "stopSequences"),),
        "reply format": tuple(
            [("generationConfig", key) for key in ("responseJsonSchema", "responseSchema", "responseMimeType")]
        ),
        "effort": tuple(
            [
                ("generationConfig", "thinkingConfig", key)
                for key in ("thinkingLevel", "thinkingBudget", "includeThoughts")
            ]
        ),
        "tool choice": (("toolConfig", "functionCallingConfig"),),
    }.items()
}


def _settings(name: str) -> tuple[tuple[str, ...], ...]:
    return _SETTINGS.get(name, ())


def _described(name: str, _owner: str) -> dict[str, Any]:
    """Return a model as https://ai.google.dev/api/models has it."""
    methods = ["generateContent", "countTokens", "streamGenerateContent"]
    limits = {"inputTokenLimit": 1048576, "outputTokenLimit": 65536}
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        **limits,
        "supportedGenerationMethods": methods,
    }


def _listed(names: Sequence[str], owner: str) -> dict[str, Any]:
    return {"models": [_described(name, owner) for name in names]}


def _asks(path: str, headers: Mapping[str, str]) -> bool:
    # OpenAI's clients reach Google's models below `/v1beta/openai`.
    return "x-goog-api-key" in headers or (path.startswith("/v1beta/") and "/openai/" not in path)


WIRE: Final = Wire(
    NAME,
    "Gemini",
    _path,
    re.compile(r"(?:/.+)?/models/[^/]+:(?:generateContent|streamGenerateContent)"),
    (":generateContent", _STREAM),
    _is_request,
    _is_reply,
    ('"candidates":', '"usageMetadata":'),
    _headers,
    _failure,
    ("systemInstruction", "system_instruction", "contents"),
    ("candidates",),
    _is_array,
    holds_objects=True,
    streams_lists=True,
    ended=_ended,
    settings=_settings,
    schema_keywords=SCHEMA_KEYWORDS,
    schema_member="parametersJsonSchema",
    # https://ai.google.dev/api/tokens
    counting=re.compile(r"(?:/.+)?/models/[^/]+:countTokens"),
    counted=lambda number: {"totalTokens": number},
    listed=_listed,
    described=_described,
    asks=_asks,
)
