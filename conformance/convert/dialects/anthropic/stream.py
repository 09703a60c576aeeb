"""Anthropic's event stream put together: the reply that its events make."""

from typing import Any, Final

from conformance.convert.canonical.arguments import decode
from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.wire import sse

_TEXTS: Final = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def assembled(text: str) -> dict[str, Any]:
    """Return the reply of an event stream, the error that ends it, or of a stream without either an empty object.

    Arguments of a call that was cut off are read as far as they go. Raises InvalidDocument where the data of an event
    is no JSON, or the text is no event stream.
    """
    reply: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    reading = sse.read(text)
    if not reading.data and text.strip():
        raise InvalidDocument("expected an event stream, got text without an event", "<stream>")
    for data in reading.data:
        event = parse_json(data, "<stream>")
        if not isinstance(event, dict):
            continue
        index = event.get("index")
        match event.get("type"), index:
            case "error", _:
                return event
            case "message_start", _:
                reply |= _object(event, "message")
            case "content_block_start", int():
                blocks[index] = dict(_object(event, "content_block"))
            case "content_block_delta", int() if index in blocks:
                _extend(blocks[index], _object(event, "delta"), inputs, index)
            case "message_delta", _:
                usage = {**_object(reply, "usage"), **_object(event, "usage")}
                reply |= {**_object(event, "delta"), "usage": usage}
    for index, arguments in inputs.items():
        blocks[index]["input"] = decode(arguments)
    return {**reply, "content": [blocks[index] for index in sorted(blocks)]} if reply else {}


def _object(event: dict[str, Any], key: str) -> dict[str, Any]:
    value = event.get(key)
    return value if isinstance(value, dict) else {}


def _extend(block: dict[str, Any], delta: dict[str, Any], inputs: dict[int, str], index: int) -> None:
    """Add one delta to the block that it belongs to."""
    match delta:
        case {"type": "input_json_delta", "partial_json": str(piece)} if piece:
            inputs[index] = inputs.get(index, "") + piece
        case {"type": "citations_delta", "citation": citation}:
            known = block.get("citations")
            block["citations"] = [*(known if isinstance(known, list) else ()), citation]
        case {"type": str(kind)} if kind in _TEXTS and isinstance(delta.get(_TEXTS[kind]), str):
            known = block.get(_TEXTS[kind])
            block[_TEXTS[kind]] = (known if isinstance(known, str) else "") + delta[_TEXTS[kind]]
