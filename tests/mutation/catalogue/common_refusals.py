"""Faults that hosts refuse most often: schemas of tools, limits, and the forms of another wire."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from tests.mutation import definition, targets
from tests.mutation.bases import Record
from tests.mutation.definition import REJECTED
from tests.mutation.native_targets import blocks
from tests.mutation.targets import Slot

on_chat = definition.mutation
on_messages = partial(definition.mutation, wire="messages")
on_responses = partial(definition.mutation, wire="responses")
on_gemini = partial(definition.mutation, wire="gemini")

_MARK: Final = {"type": "ephemeral"}


def _parameters(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = body["tools"][0]["function"]["parameters"]
    return found


@on_chat(targets.requests_with_tools, "request/tool-arrays-have-items", claims={"tools.array-without-items": REJECTED})
def array_of_anything(body: dict[str, Any]) -> None:
    """A parameter is an array that does not say of what."""
    _parameters(body).setdefault("properties", {})["cities"] = {"type": "array"}


@on_chat(
    targets.requests_with_tools,
    "request/tool-required-declared",
    related=("tool-calls/arguments-fit-schema",),
    claims={"tools.required-undeclared": REJECTED},
)
def undeclared_parameter_required(body: dict[str, Any]) -> None:
    """A parameter is required that is not declared."""
    _parameters(body)["required"] = ["nowhere"]


@on_chat(
    targets.requests,
    "request/json-mode-says-json",
    related=("response/content-matches-format",),
    claims={"request.json-word": REJECTED},
)
def json_mode_unsaid(body: dict[str, Any]) -> None:
    """The JSON mode is asked for, and no message says so."""
    body["response_format"] = {"type": "json_object"}


@on_messages(targets.requests, "messages/cache-marks-few", claims={"messages.cache-marks-over-4": REJECTED})
def five_cache_marks(body: dict[str, Any]) -> None:
    """Five blocks are marked for the cache."""
    body["system"] = [{"type": "text", "text": "You are a bot.", "cache_control": _MARK} for _ in range(5)]


def _thinks(body: Any) -> bool:
    return isinstance(body, dict) and body.get("thinking", {}).get("type") == "enabled"


def _thinking(records: Sequence[Record]) -> Any:
    return (body for body in targets.requests(records) if _thinks(body))


@on_messages(_thinking, "messages/budget-not-too-small", claims={"messages.budget-under-1024": REJECTED})
def budget_of_a_few_tokens(body: dict[str, Any]) -> None:
    """The budget for thinking is smaller than the model accepts."""
    body["thinking"] = {**body["thinking"], "budget_tokens": 512}


@on_messages(blocks("text"), "native/part-types-known", claims={"request.unknown-part-type": REJECTED})
def image_of_chat_completions(block: Slot) -> None:
    """A block is an image as chat completions send it."""
    block.holder.insert(block.key, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})


@on_responses(
    targets.requests,
    "native/part-types-known",
    related=("native/request-shape",),
    claims={"request.unknown-part-type": REJECTED},
)
def text_of_chat_completions(body: dict[str, Any]) -> None:
    """A part is a text as chat completions send it."""
    body["input"] = [{"role": "user", "content": [{"type": "text", "text": "Hello."}]}, *body["input"]]


@on_gemini(targets.requests, "gemini/calls-after-user", claims={"gemini.call-not-after-user": REJECTED})
def history_cut_at_a_call(body: dict[str, Any]) -> None:
    """The history is cut so that it begins with a call of the model."""
    at = next(
        (at for at, each in enumerate(body["contents"]) if any("functionCall" in part for part in each["parts"])), None
    )
    if at is not None:
        del body["contents"][:at]


@on_chat(
    targets.requests,
    "request/parameters-in-range",
    claims={"request.limits": [{"at": "/temperature", "max": 1, "refusal": REJECTED}]},
)
def temperature_of_another_host(body: dict[str, Any]) -> None:
    """The temperature is in the range of another host alone."""
    body["temperature"] = 1.5


@on_chat(
    targets.requests,
    "request/message-names-accepted",
    claims={"request.message-name-pattern": {"pattern": "[a-zA-Z0-9_-]+", "refusal": REJECTED}},
)
def name_with_a_space(body: dict[str, Any]) -> None:
    """A message names its author, with a space."""
    body["messages"][0]["name"] = "John Doe"


def _numbered(values: list[Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"day": {"type": "integer", "enum": values}}}


@on_chat(targets.requests_with_tools, "request/tool-enums-are-text", claims={"tools.enum-of-numbers": REJECTED})
def enum_of_numbers(body: dict[str, Any]) -> None:
    """A parameter is one of some numbers."""
    body["tools"][0]["function"]["parameters"] = _numbered([1, 7])


@on_messages(blocks("text"), "messages/image-media-types-known", claims={"messages.image-media-type": REJECTED})
def image_of_the_type_jpg(block: Slot) -> None:
    """An image has the ending of its file as its media type."""
    source = {"type": "base64", "media_type": "image/jpg", "data": "/9j/4AAQSkZJRg=="}
    block.holder.insert(block.key, {"type": "image", "source": source})


@on_messages(targets.requests, "messages/stop-sequences-not-blank", claims={"messages.blank-stop": REJECTED})
def line_break_as_stop_sequence(body: dict[str, Any]) -> None:
    """A reply is to end at the first line break."""
    body["stop_sequences"] = ["\n"]


@on_messages(targets.requests, "messages/first-message-of-user", claims={"messages.first-assistant": REJECTED})
def greeting_of_a_program(body: dict[str, Any]) -> None:
    """A greeting of the program, as the assistant, comes before what the user says."""
    body["messages"].insert(0, {"role": "assistant", "content": "How can I help you?"})


@on_gemini(targets.requests, "gemini/text-not-empty", claims={"content.empty-text-part": REJECTED})
def text_without_letters(body: dict[str, Any]) -> None:
    """A message without content became a part with an empty text."""
    body["contents"][0]["parts"].insert(0, {"text": ""})


@on_gemini(targets.requests, "gemini/parts-hold-one-thing", claims={"gemini.part-with-several-data": REJECTED})
def text_and_image_in_one_part(body: dict[str, Any]) -> None:
    """A part holds a text and an image."""
    body["contents"][0]["parts"][0]["inlineData"] = {"mimeType": "image/png", "data": "iVBORw0KGgo="}


@on_chat(targets.requests_with_tools, "request/tool-types-single", claims={"tools.type-list": REJECTED})
def type_or_null(body: dict[str, Any]) -> None:
    """A parameter may be a text or null."""
    _parameters(body).setdefault("properties", {})["unit"] = {"type": ["string", "null"]}


@on_chat(targets.requests_with_tools, "request/tool-unions-untyped", claims={"tools.type-beside-any-of": REJECTED})
def type_beside_a_union(body: dict[str, Any]) -> None:
    """A parameter has a type, and branches beside it."""
    _parameters(body).setdefault("properties", {})["unit"] = {"type": "string", "anyOf": [{"minLength": 1}]}


@on_chat(targets.requests_with_tools, "request/tools-strict-alike", claims={"tools.mixed-strict": REJECTED})
def one_strict_function(body: dict[str, Any]) -> None:
    """One more function is declared, with the other value of strict."""
    first = body["tools"][0]["function"]
    other = {"name": "one_more", "strict": not first.get("strict"), "parameters": {"type": "object", "properties": {}}}
    body["tools"].append({"type": "function", "function": other})


@on_gemini(targets.requests, "gemini/functions-alone", claims={"gemini.functions-beside-tools": REJECTED})
def search_beside_functions(body: dict[str, Any]) -> None:
    """The server's search stands beside functions."""
    if body.get("tools"):
        body["tools"].append({"googleSearch": {}})
