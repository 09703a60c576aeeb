"""Ingress: a provider's reply becomes a message of the canonical transcript.

Reasoning gets one name, whatever the provider calls it; `reasoning_details`, ids and arguments stay verbatim.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from conformance.errors import Unusable
from conformance.wire.assemble import Stream, assemble
from conformance.wire.reasoning import PARTS, TAGS, TEXT_KEYS, find_tagged, reasoning_text
from conformance.wire.sse import read as read_events


def read(reply: Mapping[str, Any] | Stream | str | bytes, claims: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the canonical assistant message of a reply's first choice.

    A reply is a body, the message in one, the text of an event stream, or an assembled stream.

    `content` is a string (null becomes ""); thinking parts of a content list become reasoning, and so does text
    between tags if the claims say that the provider uses them. Signed blocks become `reasoning_details`. A tool call
    keeps its id, name, arguments and `extra_content`, and loses what only replies have, such as `index`. Raises
    Unusable if the reply holds no message, such as an error.
    """
    message = _message(reply)
    content, thinking = _split(message.get("content"))
    if thinking is None:
        content, thinking = _untagged(content, claims or {})
    details = _details(message)
    text = next((message[name] for name in TEXT_KEYS if isinstance(message.get(name), str)), None)
    result: dict[str, Any] = {"role": "assistant", "content": content}
    reasoning = next((found for found in (text, thinking, _details_text(details)) if found is not None), None)
    if reasoning is not None:
        result["reasoning_content"] = reasoning
    if details is not None:
        result["reasoning_details"] = details
    if isinstance(message.get("extra_content"), dict):
        result["extra_content"] = message["extra_content"]
    if isinstance(message.get("refusal"), str):
        result["refusal"] = message["refusal"]
    if isinstance(message.get("tool_calls"), list) and message["tool_calls"]:
        result["tool_calls"] = [_call(call) for call in _objects(message["tool_calls"])]
    return result


def _message(reply: Any) -> Mapping[str, Any]:
    if isinstance(reply, (str, bytes)):
        reply = assemble(read_events(reply))
    if isinstance(reply, Stream):
        found: Any = reply.choices[0].message if reply.choices else None
    elif not isinstance(reply, Mapping):
        found = None
    elif "choices" in reply:
        choices = _objects(reply["choices"])
        found = choices[0].get("message") if choices else None
    else:
        found = None if "error" in reply else reply
    if not isinstance(found, Mapping):
        message = "expected a reply with a message, got one without"
        raise Unusable(message)
    return found


def _split(content: Any) -> tuple[str, str | None]:
    """Return the text of a content, and that of its thinking parts."""
    if not isinstance(content, list):
        return (content if isinstance(content, str) else ""), None
    parts = _objects(content)
    texts = [part["text"] for part in parts if part.get("type") != "reasoning" and isinstance(part.get("text"), str)]
    thinking = [reasoning_text({"content": [part]}, field) for part in parts for field in PARTS if _is(part, field)]
    return "".join(texts), "".join(thinking) if thinking else None


def _is(part: Mapping[str, Any], field: str) -> bool:
    return part.get("type") == PARTS[field]


def _untagged(content: str, claims: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return content and reasoning of a text that begins with reasoning between tags, if that is claimed."""
    for tag, is_usual in _tags(claims):
        found = find_tagged(content, tag)
        if found is not None and found.closed and (is_usual or found.opened):
            return found.rest.lstrip("\n"), found.reasoning.strip("\n")
    return content, None


def _tags(claims: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield each tag that replies may have, and whether they have it by default.

    If only some requests cause it, the opening tag is required as well: templates leave it out only by default.
    """
    switches = claims.get("reasoning.response-field-switches")
    claimed = [claims.get("reasoning.response-field")]
    for number, each in enumerate([*claimed, *(switch["field"] for switch in _objects(switches))]):
        for field in each if isinstance(each, list) else [each]:
            if field in TAGS:
                yield TAGS[field], number == 0


def _details(message: Mapping[str, Any]) -> list[Any] | None:
    if isinstance(message.get("reasoning_details"), list):
        return list(message["reasoning_details"])
    blocks = _objects(message.get("thinking_blocks"))
    return [_detail(block) for block in blocks] if blocks else None


def _detail(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a thinking block as a reasoning detail."""
    if block.get("type") == "redacted_thinking":
        return {"type": "reasoning.encrypted", "data": block.get("data")}
    signature = {"signature": block["signature"]} if "signature" in block else {}
    return {"type": "reasoning.text", "text": block.get("thinking", "")} | signature


def _details_text(details: list[Any] | None) -> str | None:
    found = [detail.get("text") or detail.get("summary") for detail in _objects(details)]
    texts = [text for text in found if isinstance(text, str)]
    return "".join(texts) if texts else None


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call of the canonical wire; keys that the reply left out become empty text."""
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    extra = {"extra_content": call["extra_content"]} if isinstance(call.get("extra_content"), dict) else {}
    return {
        "id": _text(call.get("id")),
        "type": "function",
        "function": {"name": _text(function.get("name")), "arguments": _text(function.get("arguments"))},
        **extra,
    }


def _text(value: Any) -> str:
    """Return a text unchanged; an object, which some servers send as arguments, becomes its JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else orjson.dumps(value).decode()


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
