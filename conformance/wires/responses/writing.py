"""Chat completions as Responses: the requests of the suites, and the replies of the simulator.

A request is sent stateless: nothing is stored, and encrypted reasoning is asked for. What `reasoning_details` hold
becomes items of type reasoning, before the text and the calls. A call with an `item_id` becomes an item with that id.
Ids that a reply of chat completions lacks are made from the request and the id of the reply, so that they are
reproducible, and differ if anything else does.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.wire.media import IMAGE, Media, address_of
from conformance.wires.drafts import as_object, as_word, objects, rendered
from conformance.wires.responses.playing import events

__all__ = ["events", "reply", "request"]

_COPIED: Final = ("model", "stream", "temperature", "top_p", "parallel_tool_calls", "reasoning")
_LIMITS: Final = ("max_completion_tokens", "max_tokens")
_SYSTEM: Final = ("system", "developer")
BLOBS: Final = "reasoning.encrypted_content"
"""What `include` names to get encrypted reasoning."""

_REASONS: Final[Mapping[str, str]] = {"length": "max_output_tokens", "content_filter": "content_filter"}
_DEFAULTS: Final[Mapping[str, Any]] = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
}
"""What a reply repeats of its request, and what it says if the request does not."""

_TEXT_MEMBERS: Final[Mapping[str, Any]] = {"annotations": [], "logprobs": []}
_ID_BYTES: Final = 24


def request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of chat completions as one of Responses."""
    made: dict[str, Any] = {key: body[key] for key in _COPIED if key in body}
    made |= {"store": False, "include": [BLOBS]}
    limit = next((body[key] for key in _LIMITS if key in body), None)
    if limit is not None:
        made["max_output_tokens"] = limit
    listed = [message for _, message in objects(body.get("messages"))]
    first = listed[0] if listed else {}
    if first.get("role") == "system" and type(first.get("content")) is str and first["content"]:
        made["instructions"] = first["content"]
        listed = listed[1:]
    made["input"] = [item for message in listed for item in _input_items(message)]
    if type(body.get("tools")) is list:
        made["tools"] = [_tool(as_object(tool.get("function"))) for _, tool in objects(body["tools"])]
    if "tool_choice" in body:
        made["tool_choice"] = _choice(body["tool_choice"])
    if "response_format" in body:
        made["text"] = {"format": _format(body["response_format"])}
    return made


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function as a tool; a schema is not taken literally unless chat completions asked for that."""
    made = {"type": "function", "name": function.get("name"), "parameters": function.get("parameters")}
    made |= {"description": function["description"]} if "description" in function else {}
    return made | {"strict": function.get("strict") is True}


def _choice(choice: Any) -> Any:
    if type(choice) is not dict:
        return choice
    return {"type": "function", "name": as_object(choice.get("function")).get("name")}


def _format(wanted: Any) -> Any:
    """Return the form that a reply has to have; a schema stands one level higher than in chat completions."""
    if as_object(wanted).get("type") != "json_schema":
        return wanted
    return {"type": "json_schema", **as_object(wanted.get("json_schema"))}


def _input_items(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the items that a message is sent as."""
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        item = {"type": "function_call_output", "output": _parts(content, "input_text")}
        yield item | ({"call_id": message["tool_call_id"]} if "tool_call_id" in message else {})
        return
    if role != "assistant":
        yield {"type": "message", "role": role, "content": _parts(content, "input_text")}
        return
    yield from reasoning_items(message.get("reasoning_details"))
    parts = _said(message, is_needed=not message.get("tool_calls"))
    if parts is not None:
        yield {"type": "message", "role": "assistant", "content": parts}
    for _, call in objects(message.get("tool_calls")):
        yield _call(call)


def _said(message: Mapping[str, Any], *, is_needed: bool) -> Any:
    """Return the content of an assistant's message as parts; None if it says nothing."""
    content, refusal = message.get("content"), message.get("refusal")
    parts: list[Any] = []
    if type(content) is list:
        parts = _parts(content, "output_text")
    elif type(content) is str and (content or (is_needed and not refusal)):
        parts = [{"type": "output_text", "text": content}]
    if type(refusal) is str and refusal:
        parts.append({"type": "refusal", "refusal": refusal})
    return parts or None


def _parts(content: Any, kind: str) -> Any:
    """Return a content with its parts under the names that they have on this wire; a text stays one.

    Only what a client says shows images.
    """
    if type(content) is not list:
        return content
    return [_part(part, kind) if type(part) is dict else part for part in content]


def _part(part: dict[str, Any], kind: str) -> dict[str, Any]:
    if part.get("type") == "text":
        return {**part, "type": kind}
    address = address_of(part) if kind == "input_text" else ""
    if not address:
        return part
    asked = {"detail": part[IMAGE]["detail"]} if "detail" in part[IMAGE] else {}
    return {"type": "input_image", "image_url": address.url if isinstance(address, Media) else address, **asked}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = as_object(call.get("function"))
    item = {"type": "function_call", "name": function.get("name"), "arguments": function.get("arguments")}
    item |= {"id": call["item_id"]} if "item_id" in call else {}
    return item | ({"call_id": call["id"]} if "id" in call else {})


def reasoning_items(details: Any) -> list[dict[str, Any]]:
    """Return reasoning details as items; a blob belongs to the item of the text before it unless their ids differ."""
    made: list[dict[str, Any]] = []
    for _, detail in objects(details):
        item = _reasoning(detail)
        last = made[-1] if made else None
        if last is not None and _is_blob_of(item, last):
            last |= {key: item[key] for key in ("id", "encrypted_content") if key in item}
        else:
            made.append(item)
    return made


def _reasoning(detail: Mapping[str, Any]) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "reasoning"}
    if type(detail.get("id")) is str:
        item["id"] = detail["id"]
    summary = detail.get("summary")
    item["summary"] = [{"type": "summary_text", "text": summary}] if type(summary) is str else summary or []
    if type(detail.get("text")) is str:
        item["content"] = [{"type": "reasoning_text", "text": detail["text"]}]
    if "data" in detail:
        item["encrypted_content"] = detail["data"]
    return item


def _is_blob_of(item: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    """Return whether an item holds nothing but the blob of the one before, which has none."""
    if item["summary"] or "content" in item or "encrypted_content" in last or "encrypted_content" not in item:
        return False
    return "id" not in item or "id" not in last or bool(item["id"] == last["id"])


def reply(body: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply of chat completions as one of Responses to a request; the body of an error is the same on both."""
    if "choices" not in body:
        return dict(body)
    _, choice = next(objects(body["choices"]), (0, {}))
    identity = str(body.get("id", ""))
    if not identity.startswith("resp_"):
        identity = f"resp_{_made_id(identity + rendered(asked))}"
    reason = _REASONS.get(as_word(choice.get("finish_reason")))
    status = "completed" if reason is None else "incomplete"
    repeated = {key: value if asked.get(key) is None else asked[key] for key, value in _DEFAULTS.items()}
    return {
        "id": identity,
        "object": "response",
        "created_at": body.get("created", 0),
        "status": status,
        "error": None,
        "incomplete_details": None if reason is None else {"reason": reason},
        "model": body.get("model"),
        "output": _output(as_object(choice.get("message")), identity, status, asked),
        **repeated,
        "usage": _usage(as_object(body.get("usage"))),
    }


def _made_id(seed: str) -> str:
    """Return the hexadecimal digits of an id that is made from a text."""
    return hashlib.blake2b(seed.encode(errors="surrogatepass"), digest_size=_ID_BYTES).hexdigest()


def _output(message: Mapping[str, Any], identity: str, status: str, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the items of a reply; the last one is incomplete if the reply is."""
    items = [_as_asked(item, asked) for item in reasoning_items(message.get("reasoning_details"))]
    parts = _said(message, is_needed=not message.get("tool_calls"))
    if parts is not None:
        shown = [
            part | ({"annotations": [], "logprobs": []} if part["type"] == "output_text" else {}) for part in parts
        ]
        phase = {"phase": message["phase"]} if "phase" in message else {}
        items.append({"type": "message", "role": "assistant", "status": "completed", "content": shown, **phase})
    items += [{**_call(call), "status": "completed"} for _, call in objects(message.get("tool_calls"))]
    if items and "status" in items[-1]:
        items[-1]["status"] = status
    prefixes = {"reasoning": "rs", "message": "msg", "function_call": "fc"}
    return [
        {"id": f"{prefixes[item['type']]}_{_made_id(f'{identity} {position}')}"} | item
        for position, item in enumerate(items)
    ]


def _as_asked(item: dict[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reasoning item of a reply, with encrypted content if the request asks for it or nothing is stored."""
    if BLOBS in (asked.get("include") or ()) or asked.get("store") is False:
        return item
    return {key: value for key, value in item.items() if key != "encrypted_content"}


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "input_tokens": usage.get("prompt_tokens", 0),
        "input_tokens_details": {"cached_tokens": 0, **as_object(usage.get("prompt_tokens_details"))},
        "output_tokens": usage.get("completion_tokens", 0),
        "output_tokens_details": {"reasoning_tokens": 0, **as_object(usage.get("completion_tokens_details"))},
        "total_tokens": usage.get("total_tokens", 0),
    }
