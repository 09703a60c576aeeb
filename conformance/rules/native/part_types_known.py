from typing import Any, Final, TypeAlias

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, in_messages, requests
from conformance.wire.values import as_object, objects

_CLAIM = "request.unknown-part-type"
_REFUSED = {_CLAIM: {"status": 400, "message": "Invalid value: '{kind}'. Supported values are: {other}."}}
_IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}

_BLOCKS: Final = (
    "text", "image", "document", "search_result", "thinking", "redacted_thinking", "tool_use", "tool_result",
    "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
    "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result",
    "advisor_tool_result", "mcp_tool_use", "mcp_tool_result", "mcp_tool_listing", "container_upload", "compaction",
    "fallback", "tool_addition", "tool_removal", "tool_reference", "browser_state",
)  # fmt: skip
"""The blocks of messages in PyPI anthropic 2.14.0, types/*_block_param.py, stable and beta."""

_SAID: Final = ("output_text", "refusal")
_ASKED: Final = ("input_text", "input_image", "input_file", "input_audio", "computer_screenshot", "scoped_content")
"""The parts of Responses, of the assistant and of others; two of them are named by refusals alone."""

_Unknown: TypeAlias = tuple[Place, str, tuple[str, ...]]
"""The place of a part in its message, its type, and those that it may have."""


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source(
        package="pypi/anthropic@2.12.0:anthropic/types/message.py",
        quote="This is an array of content blocks, each of which has a `type` that determines its shape",
    ),
    bad=[
        example("messages-plain", {"/0/request/messages/0/content": [_IMAGE]}, _REFUSED),
        example("messages-result", {"/0/request/messages/2/content/0/content": [_IMAGE]}, _REFUSED),
        example("responses-request", {"/0/request/input/0/content": [{"type": "text", "text": "Hi."}]}, _REFUSED),
    ],
    good=[
        example("messages-result", claims=_REFUSED),
        example("responses-request", claims=_REFUSED),
        example("responses-request", {"/0/request/input/0/content": [{"type": "input_text", "text": "Hi."}]}, _REFUSED),
    ],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=("messages", "responses"),
)
def judge(request: NativeBody, context: Context) -> list[Fault]:
    """Parts and blocks have types that the wire has, for the role of their message.

    Messages that were built for chat completions have `text` and `image_url`, and Responses names the parts of the
    assistant otherwise than those of the user. To fix it, convert the parts to the wire's own types.
    """
    find, key = (_blocks, "messages") if request.native.protocol == "messages" else (_parts, "input")
    every = in_messages(context.index, context.number, find)
    return [
        Fault(
            f"expected another type of part, got {kind[:40]!r}",
            (*at, "type"),
            values={"index": at[1], "position": at[3], "kind": kind, "other": _listed(allowed)},
        )
        for number, found in every
        for inside, kind, allowed in found
        for at in [(key, number, *inside)]
    ]


def _listed(allowed: tuple[str, ...]) -> str:
    *first, last = [f"'{each}'" for each in allowed]
    return f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}"


def _blocks(message: Any) -> list[_Unknown]:
    """Return the blocks of a message that have no type of the wire."""
    found: list[_Unknown] = []
    for position, block in objects(as_object(message).get("content")):
        at = ("content", position)
        found.append((at, str(block.get("type")), _BLOCKS))
        if block.get("type") == "tool_result":
            found += [
                ((*at, "content", to), str(part.get("type")), _BLOCKS) for to, part in objects(block.get("content"))
            ]
    return [each for each in found if each[1] not in each[2]]


def _parts(item: Any) -> list[_Unknown]:
    """Return the parts of an item that have no type of the wire."""
    if type(item) is not dict or item.get("type", "message") != "message":
        return []
    allowed = _SAID if item.get("role") == "assistant" else _ASKED
    found = [(("content", at), str(part.get("type")), allowed) for at, part in objects(item.get("content"))]
    return [each for each in found if each[1] not in allowed]
