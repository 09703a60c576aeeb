from typing import Any

from conformance.protocols.views import NativeMessage, messages
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule

_NOTE = {"type": "text", "text": "Here they are."}


@rule(
    Level.MUST,
    on=messages,
    where=lambda message, _context: any(map(_is_result, _blocks(message))),
    source=Source(
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        "the tool_result blocks must come first in the content array",
    ),
    bad=[
        example(
            "messages-session",
            {
                "/1/request/messages/2/content/0": _NOTE,
                "/1/request/messages/2/content/-": {
                    "type": "tool_result",
                    "tool_use_id": "toolu_01",
                    "content": "18 degrees",
                },
            },
        )
    ],
    good=[
        example("messages-session"),
        example("messages-session", {"/1/request/messages/2/content/-": _NOTE}),
    ],
    claim="messages.results-after-content",
    wires=("messages",),
)
def judge(message: NativeMessage, _context: Context) -> list[Fault]:
    """Tool results come before all other blocks of their message.

    The server looks for the results directly after the calls: text or an image before them makes the calls unanswered.
    To fix it, put the `tool_result` blocks first and what the user says after them.
    """
    blocks = _blocks(message)
    last = max(at for at, block in enumerate(blocks) if _is_result(block))
    other = next((at for at, block in enumerate(blocks[:last]) if not _is_result(block)), None)
    if other is None:
        return []
    kind = blocks[other].get("type") if type(blocks[other]) is dict else None
    got = f"expected the tool_result blocks first, got a block of type {kind!r} before one"
    return [Fault(got, at=("content", other), values={"index": message.number})]


def _blocks(message: NativeMessage) -> list[Any]:
    content = message.value.get("content")
    return content if type(content) is list else []


def _is_result(block: Any) -> bool:
    return type(block) is dict and block.get("type") == "tool_result"
