"""Faults of requests on other wires: names that the vendor does not know, for providers that reject them."""

from functools import partial
from typing import Any

from conformance.rules import native_keys
from tests.mutation import definition, targets
from tests.mutation.definition import REJECTED
from tests.mutation.native_targets import blocks, contents, parts
from tests.mutation.targets import Slot

RULE = "native/no-unknown-fields"
CLAIMS = dict.fromkeys(native_keys.CLAIMS, REJECTED)

on_messages = partial(definition.mutation, wire="messages", claims=CLAIMS)
on_responses = partial(definition.mutation, wire="responses", claims=CLAIMS)
on_gemini = partial(definition.mutation, wire="gemini", claims=CLAIMS)


@on_messages(targets.requests, RULE)
def effort_of_chat_completions(body: dict[str, Any]) -> None:
    """A parameter of chat completions is sent on another wire."""
    body["reasoning_effort"] = "high"


@on_messages(blocks("tool_result"), RULE)
def result_with_a_name(block: Slot) -> None:
    """A result has the name of its tool, which only other wires have."""
    block.value["name"] = "get_weather"


@on_messages(targets.requests_with_tools, RULE)
def tool_of_chat_completions(body: dict[str, Any]) -> None:
    """A tool has the parameters of chat completions beside the schema of this wire."""
    body["tools"] = [{**tool, "parameters": {"type": "object"}} for tool in body["tools"]]


@on_responses(targets.requests, RULE)
def limit_of_chat_completions(body: dict[str, Any]) -> None:
    """The limit on the length of the reply has its name on another wire."""
    body["max_tokens"] = 64


@on_gemini(contents("user"), RULE)
def content_of_chat_completions(content: Slot) -> None:
    """A content has its text under the name of chat completions, too."""
    content.value["content"] = "What is the weather?"


@on_gemini(parts("user", "functionResponse"), RULE)
def part_of_chat_completions(part: Slot) -> None:
    """A part has a type, as the parts of other wires have."""
    part.value["type"] = "tool_result"


@on_gemini(targets.requests, RULE)
def settings_of_chat_completions(body: dict[str, Any]) -> None:
    """A setting has its name on another wire."""
    body["generationConfig"] = {**body.get("generationConfig", {}), "max_tokens": 64}
