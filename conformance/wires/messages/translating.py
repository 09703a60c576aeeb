"""Exchanges of Messages as exchanges of chat completions.

A message's thinking becomes `reasoning_details`, in order and whole: its text may be empty while the signature carries
everything. Tool results become tool messages where they stand, so that results after other content stay after it.
Neighbouring messages of one role are one message to the server, so assistant messages are joined.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from conformance.documents.pointer import Place
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.media import Media, image_at
from conformance.wire.native import Native
from conformance.wires.drafts import Draft, as_chat, as_object, as_word, objects, rendered, total
from conformance.wires.messages.stream import assemble

FORMAT: Final = "anthropic-claude-v1"
_CALLS: Final = ("tool_use",)
_ERROR: Final = 400
_FINISH: Final[Mapping[Any, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_CHOICES: Final[Mapping[Any, str]] = {"auto": "auto", "any": "required", "none": "none"}
_COPIED: Final = ("model", "max_tokens", "stream", "temperature", "top_p", "thinking")


def translated(exchange: Exchange) -> Exchange:
    """Return an exchange of Messages as one of chat completions, with its native form."""
    draft = Draft()
    request = exchange.request
    if type(request) is dict:
        request = _request(request, draft)
    response = exchange.response
    native = Native("messages", exchange.request, exchange.response, places=draft.places)
    if type(response) is str and exchange.streamed:
        made = assemble(response)
        native = Native(
            "messages",
            exchange.request,
            exchange.response,
            made.events,
            made.reply,
            made.complete and made.error is None,
            made.irregularities,
            draft.places,
            {} if made.error is None else {"error": made.error},
            continuing=made.continuing,
        )
        body = made.reply if made.error is None else made.error
        response = None if body is None else _body(body, draft, made.inputs, made.begins)
    elif type(response) is dict:
        reply = response if (exchange.status or 0) < _ERROR and response.get("type") != "error" else None
        native = Native("messages", exchange.request, exchange.response, reply=reply, places=draft.places)
        response = _body(response, draft, {}, {})
    return as_chat(exchange, request, response, native, model_of(exchange.response))


def _request(body: dict[str, Any], draft: Draft) -> dict[str, Any]:
    """Return a request as one of chat completions."""
    if body.get("system"):
        draft.add({"role": "system", "content": _text(body["system"])}, ("request", "system"))
    listed = body.get("messages")
    for position, message in objects(listed):
        _add_message(message, ("request", "messages", position), draft)
    made: dict[str, Any] = {key: body[key] for key in _COPIED if key in body}
    # A body without messages stays without: what is missing must be seen.
    if type(listed) is list:
        made["messages"] = draft.messages
    tools = list(objects(body.get("tools")))
    if tools:
        made["tools"] = [_tool(tool) for _, tool in tools]
        draft.places.update({("request", "tools", to): ("request", "tools", at) for to, (at, _) in enumerate(tools)})
    choice = as_object(body.get("tool_choice"))
    if choice:
        made["tool_choice"] = _choice(choice, tools)
    if choice.get("disable_parallel_tool_use") is True:
        made["parallel_tool_calls"] = False
    return made


def _choice(choice: Mapping[str, Any], tools: list[tuple[int, Mapping[str, Any]]]) -> Any:
    """Return a tool choice; one of a tool that the server runs leaves the choice of the client's tools open."""
    if choice.get("type") != "tool":
        return _CHOICES.get(as_word(choice.get("type")), "auto")
    name = choice.get("name")
    if any([tool.get("name") == name and "input_schema" not in tool for _, tool in tools]):
        return "auto"
    return {"type": "function", "function": {"name": name}}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool as a function; one that Anthropic defines has a name, but no schema."""
    function = {"name": tool.get("name")}
    if "input_schema" in tool:
        function["parameters"] = tool["input_schema"]
    if "description" in tool:
        function["description"] = tool["description"]
    return {"type": "function", "function": function}


def _add_message(message: Mapping[str, Any], place: Place, draft: Draft) -> None:
    role, content = message.get("role"), message.get("content")
    if role == "assistant":
        blocks = content if type(content) is list else [{"type": "text", "text": content}] if content else []
        inside = (*place, "content") if type(content) is list else place
        last = draft.messages[-1] if draft.messages else {}
        if last.get("role") == "assistant":
            at: Place = ("request", "messages", len(draft.messages) - 1)
        else:
            last = {"role": "assistant", "content": None}
            at = draft.add(last, place)
        fill(last, blocks, at, inside, draft)
        return
    if type(content) is not list:
        draft.add({"role": role, "content": content}, place)
        return
    parts: list[dict[str, Any]] = []
    for position, block in objects(content):
        if block.get("type") == "tool_result":
            _flush(role, parts, place, draft)
            _add_result(block, (*place, "content", position), draft)
        else:
            parts.append(_part(block))
    _flush(role, parts, place, draft)


def _flush(role: Any, parts: list[dict[str, Any]], place: Place, draft: Draft) -> None:
    """Add what a message holds beside results, as a message of its own."""
    if parts:
        draft.add({"role": role, "content": list(parts)}, place)
        parts.clear()


def _add_result(block: Mapping[str, Any], place: Place, draft: Draft) -> None:
    message: dict[str, Any] = {"role": "tool", "content": _text(block.get("content") or "")}
    if "tool_use_id" in block:
        message["tool_call_id"] = block["tool_use_id"]
    if block.get("is_error") is True:
        message["is_error"] = True
    at = draft.add(message, place)
    draft.places[*at, "tool_call_id"] = (*place, "tool_use_id")
    draft.places[*at, "content"] = (*place, "content")


def _part(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a content block as a part; what chat completions cannot hold keeps its own form."""
    if type(block.get("text")) is str:
        return {"type": "text", "text": block["text"]}
    url = _image_url(as_object(block.get("source"))) if block.get("type") == "image" else ""
    return image_at(url) if url else dict(block)


def _image_url(source: Mapping[str, Any]) -> str:
    """Return the URL of an image, with its data if that is where it comes from; empty if it comes from elsewhere."""
    if source.get("type") == "base64" and type(source.get("media_type")) is type(source.get("data")) is str:
        return Media(source["media_type"], source["data"]).url
    return as_word(source.get("url")) if source.get("type") == "url" else ""


def _text(content: Any) -> Any:
    """Return a content as parts or as the text that it is."""
    return [_part(block) for _, block in objects(content)] if type(content) is list else content


def fill(
    message: dict[str, Any],
    blocks: list[Any],
    place: Place,
    inside: Place,
    draft: Draft,
    inputs: Mapping[int, str] | None = None,
    begins: Mapping[int, int] | None = None,
) -> None:
    """Add the blocks of an assistant message to a message; `begins` are the events at which streamed blocks begin."""
    for position, block in objects(blocks):
        native: Place = ("response", begins[position]) if begins and position in begins else (*inside, position)
        kind = block.get("type")
        if kind == "text":
            message["content"] = (message["content"] or "") + as_word(block.get("text"))
            draft.places.setdefault((*place, "content"), native)
        elif kind in _CALLS:
            calls = message.setdefault("tool_calls", [])
            at: Place = (*place, "tool_calls", len(calls))
            calls.append(_call(block, (inputs or {}).get(position)))
            draft.places.update({at: native, (*at, "function", "arguments"): (*native, "input")})
            draft.places.update({(*at, "id"): (*native, "id"), (*at, "function", "name"): (*native, "name")})
        elif kind in ("thinking", "redacted_thinking"):
            details = message.setdefault("reasoning_details", [])
            draft.places[*place, "reasoning_details", len(details)] = native
            draft.places.setdefault((*place, "reasoning_details"), native)
            details.append(_detail(block))


def _call(block: Mapping[str, Any], written: str | None) -> dict[str, Any]:
    """Return a block as a call; `written` is its input as a stream wrote it, which stays as it is if it is no JSON."""
    given = block.get("input")
    if written:
        try:
            given = orjson.loads(written)
        except orjson.JSONDecodeError:
            given = None
    arguments = written if written and given is None else rendered({} if given is None else given)
    call = {"type": "function", "function": {"name": block.get("name"), "arguments": arguments}}
    return call | ({"id": block["id"]} if "id" in block else {})


def _detail(block: Mapping[str, Any]) -> dict[str, Any]:
    if block["type"] == "redacted_thinking":
        return {"type": "reasoning.encrypted", "data": block.get("data"), "format": FORMAT}
    detail = {"type": "reasoning.text", "text": block.get("thinking"), "format": FORMAT}
    return detail | ({"signature": block["signature"]} if block.get("signature") is not None else {})


def _body(
    body: Mapping[str, Any], draft: Draft, inputs: Mapping[int, str], begins: Mapping[int, int]
) -> dict[str, Any]:
    """Return a reply, or the report of an error, as the body that chat completions have for it."""
    if body.get("type") == "error" or "content" not in body:
        error = as_object(body.get("error"))
        return {"error": {"message": error.get("message"), "type": error.get("type")}} if error else dict(body)
    message: dict[str, Any] = {"role": "assistant", "content": None}
    blocks = body.get("content")
    place: Place = ("response", "choices", 0, "message")
    fill(message, blocks if type(blocks) is list else [], place, ("response", "content"), draft, inputs, begins)
    reason = body.get("stop_reason")
    choice = {"index": 0, "message": message, "finish_reason": _FINISH.get(as_word(reason), reason)}
    draft.places["response", "choices", 0, "finish_reason"] = ("response", "stop_reason")
    draft.places["response", "usage"] = ("response", "usage")
    made = {"object": "chat.completion", "choices": [choice]}
    made |= {key: body[key] for key in ("id", "model") if key in body}
    return made | ({"usage": _usage(body["usage"])} if type(body.get("usage")) is dict else {})


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts as chat completions have them: there, the prompt's include the cached ones."""
    cached = usage.get("cache_read_input_tokens")
    prompt = total(usage.get("input_tokens"), cached, usage.get("cache_creation_input_tokens"))
    completion = total(usage.get("output_tokens"))
    made: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    made["total_tokens"] = prompt + completion
    if type(cached) is int:
        made["prompt_tokens_details"] = {"cached_tokens": cached}
    thought = as_object(usage.get("output_tokens_details")).get("thinking_tokens")
    if type(thought) is int:
        made["completion_tokens_details"] = {"reasoning_tokens": thought}
    return made
