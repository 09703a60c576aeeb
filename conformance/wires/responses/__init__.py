"""OpenAI Responses: `POST /v1/responses`.

Source: https://platform.openai.com/docs/api-reference/responses
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from conformance.wire.native import NativeEvent
from conformance.wire.values import as_object
from conformance.wires import Wire

NAME: Final = "responses"
_OWN_KEYS: Final = frozenset(
    {
        "instructions", "previous_response_id", "conversation", "max_output_tokens", "include", "store", "reasoning",
        "text", "truncation", "background", "max_tool_calls", "tools", "prompt", "temperature", "top_p", "top_logprobs",
        "tool_choice", "parallel_tool_calls", "metadata", "stream", "stream_options", "service_tier",
        "prompt_cache_key", "safety_identifier",
    }
)  # fmt: skip
"""Keys of a request that no other request with an `input` has, such as one for embeddings, speech or moderation."""
_FOREIGN_KEYS: Final = frozenset({"voice", "dimensions", "encoding_format", "input_type", "query", "documents"})
"""Keys of such other requests."""
_TEXT_MODELS: Final = re.compile(
    r"(?:openai/)?(?:gpt-\d|o\d|chatgpt-|codex-)(?!.*(?:tts|transcribe|realtime|audio|image))"
)
_ITEMS: Final = frozenset({"message", "reasoning", "item_reference", "compaction", "additional_tools"})


def _path(_body: Mapping[str, Any]) -> str:
    return "/responses"


def _is_request(body: dict[str, Any]) -> bool | None:
    """Return whether a body has an `input` of items, or one beside a key that only Responses has.

    None if it has neither that nor the messages of another wire.
    """
    if "messages" in body:
        return False
    if "contents" in body:
        return None
    given = body.get("input")
    if _holds_items(given):
        return True
    if "input" not in body:
        is_own = "previous_response_id" in body or "conversation" in body or type(body.get("prompt")) is dict
        return is_own or None
    return (type(given) in (str, list) and _is_own(body)) or None


def _is_own(body: dict[str, Any]) -> bool:
    """Return whether a body with an `input` has a key that only Responses has, or asks a model that writes text."""
    if not _FOREIGN_KEYS.isdisjoint(body):
        return False
    model = body.get("model")
    return not _OWN_KEYS.isdisjoint(body) or (type(model) is str and _TEXT_MODELS.match(model) is not None)


def _holds_items(listed: Any) -> bool:
    return type(listed) is list and any([type(item) is dict and _is_item(item) for item in listed])


def _is_item(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    if type(kind) is not str:
        return "role" in item and "content" in item
    return kind in _ITEMS or kind.endswith(("_call", "_call_output"))


def _is_reply(body: dict[str, Any]) -> bool:
    output = body.get("output")
    return body.get("object") == "response" or (type(output) is list and ("status" in body or _holds_items(output)))


def _event(value: Mapping[str, Any]) -> str:
    kind = value.get("type")
    # The events of the realtime API have the same names, and ids of their own.
    if type(kind) is not str or "event_id" in value:
        return ""
    return kind if kind.startswith("response.") or "sequence_number" in value else ""


def _headers(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _failure(message: str) -> NativeEvent:
    return NativeEvent("error", {"type": "error", "code": "server_error", "message": message, "param": None})


def _ended(reply: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the reason of a response that is incomplete, else its status."""
    reason = as_object(reply.get("incomplete_details")).get("reason")
    return ("status", reply.get("status")) if reason is None else ("incomplete_details.reason", reason)


_SETTINGS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "token limit": (("max_output_tokens",),),
    "temperature": (("temperature",),),
    "top_p": (("top_p",),),
    "reply format": (("text", "format"),),
    "tool choice": (("tool_choice",),),
    "parallel switch": (("parallel_tool_calls",),),
    "effort": (("reasoning", "effort"),),
}


def _settings(name: str) -> tuple[tuple[str, ...], ...]:
    return _SETTINGS.get(name, ())


WIRE: Final = Wire(
    NAME,
    "OpenAI Responses",
    _path,
    re.compile("/responses"),
    ("/responses",),
    _is_request,
    _is_reply,
    tuple(
        [
            f"{before}response.{kind}"
            for before in ("event: ", "event:", '"type":"', '"type": "')
            for kind in ("created", "queued", "in_progress", "failed")
        ]
    ),
    _headers,
    _failure,
    # Not the instructions, which a reply repeats.
    ("input",),
    ("output",),
    keeps_replies=True,
    ended=_ended,
    settings=_settings,
    event=_event,
    # https://platform.openai.com/docs/api-reference/responses/input-tokens
    counting=re.compile("/responses/input_tokens"),
    counted=lambda number: {"object": "response.input_tokens", "input_tokens": number},
)
