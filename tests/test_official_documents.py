"""Our schemas beside the vendors' own documents: what is required, and each difference with its reason.

The documents are those that llm-comply brings: OpenAI's and Anthropic's. Google publishes no OpenAPI document of
generateContent; its client on npm brings the definitions of the messages, which say what is required of each.
"""

import re
from typing import Any, NamedTuple

import pytest

from conformance.documents import read_json
from conformance.resources import folder
from conformance.schemas import validator
from tests.documents_of_vendors import gemini_messages, vendor_document

pytestmark = pytest.mark.exhaustive

FUTURE = "nullable, and left out by other hosts and by older recordings; SDKs read it with a default"
CLOSED = "clients read it nowhere, and no other host sends it"


class Pair(NamedTuple):
    """A part of a document and ours; what each requires that the other does not, with the reason."""

    document: str
    theirs: tuple[str, ...]
    schema: str
    ours: tuple[str, ...]
    only_theirs: dict[str, str] = {}  # noqa: RUF012 — a constant of the test
    only_ours: dict[str, str] = {}  # noqa: RUF012


CHOICE = ("properties", "choices", "items")
PAIRS = (
    Pair("openai_chat", ("CreateChatCompletionResponse",), "canonical/response", ("else",)),
    Pair(
        "openai_chat",
        ("CreateChatCompletionResponse", *CHOICE),
        "canonical/response",
        ("$defs", "choice"),
        {"logprobs": FUTURE},
    ),
    Pair("openai_chat", ("CreateChatCompletionStreamResponse",), "canonical/chunk", ()),
    Pair(
        "openai_chat",
        ("CreateChatCompletionStreamResponse", *CHOICE),
        "canonical/chunk",
        ("$defs", "choice"),
        {"finish_reason": FUTURE},
    ),
    Pair("openai_chat", ("ChatCompletionTool", "properties", "function"), "", ()),
    Pair(
        "openai_chat",
        ("ChatCompletionTool",),
        "canonical/tool-definition",
        (),
        {"function": "required where the type is function, which the document has alone"},
    ),
    Pair(
        "openai_chat",
        ("ChatCompletionMessageToolCall",),
        "canonical/tool-call",
        (),
        {"function": "required where the type is function"},
    ),
    Pair(
        "anthropic",
        ("CreateMessageParams",),
        "wires/messages/request",
        (),
        {"model": "the URL has it at Bedrock and Vertex"},
    ),
    Pair(
        "anthropic",
        ("Message",),
        "wires/messages/reply",
        (),
        {"stop_sequence": FUTURE, "stop_details": FUTURE, "container": FUTURE},
    ),
)


def part(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        document = document[name]
    return document


def required(schema: Any) -> set[str]:
    return set(schema.get("required", ()))


@pytest.mark.parametrize(
    "pair", [each for each in PAIRS if each.schema], ids=lambda pair: f"{pair.schema}-{'/'.join(pair.ours)}"
)
def test_each_difference_of_what_is_required_has_a_reason(pair: Pair) -> None:
    theirs = required(part(vendor_document(pair.document)["components"]["schemas"], pair.theirs))
    ours = required(part(read_json(folder("schemas") / f"{pair.schema}.json"), pair.ours))
    assert set(pair.only_theirs) == theirs - ours
    assert set(pair.only_ours) == ours - theirs


BLOCKS = {
    "text": ("RequestTextBlock", "ResponseTextBlock"),
    "thinking": ("RequestThinkingBlock", "ResponseThinkingBlock"),
    "redacted_thinking": ("RequestRedactedThinkingBlock", "ResponseRedactedThinkingBlock"),
    "tool_use": ("RequestToolUseBlock", "ResponseToolUseBlock"),
    "tool_result": ("RequestToolResultBlock", ""),
}
LEFT_OUT = {
    "citations": "older replies and other hosts leave it out",
    "caller": "older replies and other hosts leave it out",
    "signature": "hosts of other models sign nothing; messages/thinking-signed says what Anthropic does",
}
"""What the document requires of blocks and our schema does not, with the reason."""


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_block_without_what_the_document_requires_is_refused_by_our_schema(kind: str) -> None:
    schemas = vendor_document("anthropic")["components"]["schemas"]
    values = {
        "text": "Hi", "thinking": "Hm", "signature": "c2ln", "data": "ZGF0YQ==", "id": "toolu_01", "name": "f",
        "input": {}, "tool_use_id": "toolu_01", "type": kind, "citations": None, "caller": {"type": "direct"},
    }  # fmt: skip
    asked, answered = BLOCKS[kind]
    messages = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": []}]}
    reply = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "end_turn",
        "usage": {},
    }
    reply["usage"] = {"input_tokens": 1, "output_tokens": 1}
    for name, wire, whole in ((asked, "request", messages), (answered, "reply", reply)):
        if not name:
            continue
        needed = required(schemas[name])
        block = {key: values[key] for key in needed}

        def errors(given: dict[str, Any], wire: str = wire, whole: dict[str, Any] = whole) -> Any:
            role = "user" if given.get("type") == "tool_result" else "assistant"
            inside = {"messages": [{"role": role, "content": [given]}]} if wire == "request" else {"content": [given]}
            return validator(f"wires/messages/{wire}").errors({**whole, **inside})

        assert () == errors(block), name
        for key in needed - set(LEFT_OUT):
            assert errors({other: value for other, value in block.items() if other != key}), f"{name} without {key}"


REQUIRED_OF_GEMINI: Any = (
    ("GenerateContentRequest", "request", (), {"model": "the URL has it"}, {}),
    (
        "Content",
        "request",
        ("$defs", "content"),
        {},
        {"parts": "a list, which these definitions never require; one without parts says nothing"},
    ),
    (
        "FunctionDeclaration",
        "request",
        ("$defs", "declaration"),
        {"description": "clients leave it out of tools that have none; no source says that it is refused"},
        {},
    ),
    ("FunctionCall", "request", ("$defs", "call"), {}, {}),
    ("FunctionCall", "reply", ("$defs", "part", "properties", "functionCall"), {}, {}),
    ("FunctionResponse", "request", ("$defs", "answer"), {}, {}),
    ("GenerateContentResponse", "reply", (), {}, {}),
)
"""What a message of Google's definitions and a part of our schema require, and what only one of them does, with why."""


@pytest.mark.parametrize("case", REQUIRED_OF_GEMINI, ids=lambda case: f"{case[0]}-{case[1]}")
def test_gemini_requires_what_our_schema_requires(case: Any) -> None:
    message, schema, path, only_theirs, only_ours = case
    fields = gemini_messages()[message]["fields"]
    behaviours = {name: field.get("options", {}).get("(google.api.field_behavior)") for name, field in fields.items()}
    theirs = {name for name, behaviour in behaviours.items() if behaviour == "REQUIRED"}
    ours = required(part(read_json(folder("schemas") / "wires" / "gemini" / f"{schema}.json"), path))
    assert (set(only_theirs), set(only_ours)) == (theirs - ours, ours - theirs)


@pytest.mark.parametrize("name", ["Content", "Part", "FunctionCall", "FunctionResponse", "Tool"])
def test_every_key_that_our_schema_of_gemini_names_is_one_of_its_document(name: str) -> None:
    """Both spellings are known, because the API takes both."""
    parts = {"Content": "content", "Part": "part", "FunctionCall": "call", "FunctionResponse": "answer", "Tool": "tool"}
    fields = gemini_messages()[name]["fields"]
    known = set(fields) | {re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", each) for each in fields}
    schema: Any = read_json(folder("schemas") / "wires" / "gemini" / "request.json")
    assert set() == set(schema["$defs"][parts[name]]["properties"]) - known
