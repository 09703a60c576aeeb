"""Exchanges of Messages as exchanges of chat completions.

A message's thinking becomes `reasoning_details`, in order and whole: its text may be empty while the signature carries
everything. Tool results become tool messages where they stand, so that results after other content stay after it.
Neighbouring messages of one role are one message to the server, so assistant messages are joined.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.errors import InvalidDocument
from conformance.wire.arguments import decode
from conformance.wire.blocks import Block
from conformance.wire.content import AS_STRING
from conformance.wire.drafts import Draft, SubPlaces, Transcript, as_chat, require_events, strict_format
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.native import Native
from conformance.wire.read_requests import ReadRequests
from conformance.wire.values import as_object, as_word, objects, total
from conformance.wires.messages import WIRE
from conformance.wires.messages.blocks import LOCAL, READ_PARTS, read_call, read_detail
from conformance.wires.messages.stream import assemble

_INSIDE: Final = SubPlaces(
    call={("id",): ("id",), ("function", "name"): ("name",), ("function", "arguments"): ("input",)},
    result={("tool_call_id",): ("tool_use_id",), ("content",): ("content",)},
)
_READ: Final[Mapping[Any, frozenset[str]]] = {
    "text": frozenset({"type", "text"}),
    "tool_use": frozenset({"type", "id", "name", "input"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
}
"""The kinds of blocks of an assistant that have a counterpart, each with the members that are read."""
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


def translator(*, apart: bool = False) -> Callable[[Exchange], Exchange]:  # noqa: ARG001 — no reply is remembered
    """Return what translates exchanges of Messages into those of chat completions, with their native forms."""
    return partial(_translated, read=ReadRequests())


def _translated(exchange: Exchange, read: ReadRequests) -> Exchange:
    draft = Draft(_INSIDE)
    asked = request = exchange.request
    if type(asked) is dict:
        request = _request(asked, draft, read)
        asked = read.sharing(asked, "messages")
    response = exchange.response
    native = Native("messages", asked, exchange.response, places=draft.all_places())
    if type(response) is str and exchange.streamed:
        made = assemble(response)
        native = Native(
            "messages",
            asked,
            exchange.response,
            made.events,
            made.reply if (exchange.status or 0) < _ERROR else None,
            made.complete and made.error is None,
            made.irregularities,
            draft.all_places(),
            {} if made.error is None else {"error": made.error},
            continuing=made.continuing,
            fragments=made.fragments,
        )
        body = made.reply if made.error is None else made.error
        response = None if body is None else _body(body, draft, made.inputs, made.begins)
    elif type(response) is dict:
        reply = response if (exchange.status or 0) < _ERROR and response.get("type") != "error" else None
        native = Native("messages", asked, exchange.response, reply=reply, places=draft.all_places())
        response = _body(response, draft, {}, {})
    return as_chat(exchange, request, response, native, model_of(exchange.response))


def _request(body: dict[str, Any], draft: Draft, read: ReadRequests) -> dict[str, Any]:
    """Return a request as one of chat completions."""
    draft.instruct(_said(body.get("system"), ("request", "system"), draft), ("request", "system"))
    read.into(draft, body.get("messages"), _add_message, ("request", "messages"))
    listed = body.get("messages")
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
    # The key at the top is that of the beta.
    wanted = as_object(as_object(body.get("output_config")).get("format") or body.get("output_format"))
    if type(wanted.get("schema")) is dict:
        made["response_format"] = strict_format(wanted["schema"])
    return made


def _read_messages(body: Mapping[str, Any], place: Place, draft: Draft) -> None:
    """Read the system prompt and the messages of a request that is at a place."""
    draft.instruct(_said(body.get("system"), (*place, "system"), draft), (*place, "system"))
    for position, message in objects(body.get("messages")):
        _add_message(message, (*place, "messages", position), draft)


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
    draft.rest(message, ("role", "content"), place, LOCAL)
    if role == "assistant":
        draft.turn(_blocks(content, place, draft), place)
        return
    if role == "system":
        draft.lose(place, "comes back in the system prompt")
    if type(content) is not list:
        draft.say(role, content, place)
        return
    if not content:
        draft.lose((*place, "content"), AS_STRING)
    draft.ask(role, _asked(content, (*place, "content"), draft), place)


def _asked(content: list[Any], place: Place, draft: Draft) -> Iterator[Block]:
    """Yield the results and the parts of a user's content."""
    for position, block in objects(content):
        at: Place = (*place, position)
        if block.get("type") == "tool_result":
            yield Block("result", _result(block, at, draft), at)
        elif (part := draft.piece(READ_PARTS, block, at)) is not None:
            yield Block("part", part, at)


def _result(block: Mapping[str, Any], place: Place, draft: Draft) -> dict[str, Any]:
    content = block.get("content") or ""
    texts = draft.texts(READ_PARTS, content, (*place, "content")) if type(content) is list else content
    message: dict[str, Any] = {"role": "tool", "content": texts}
    if "tool_use_id" in block:
        message["tool_call_id"] = block["tool_use_id"]
    if block.get("is_error") is True:
        message["is_error"] = True
    draft.rest(block, ("type", "tool_use_id", "content"), place, "a tool result on the wire has only an id and text")
    return message


def _said(content: Any, place: Place, draft: Draft) -> Any:
    """Return a content as parts or as the text that it is."""
    return draft.pieces(READ_PARTS, content, place) if type(content) is list else content


def _blocks(content: Any, place: Place, draft: Draft) -> Iterator[Block]:
    """Yield what an assistant message of a request holds."""
    if type(content) is list:
        return _blocks_of(content, [(*place, "content", position) for position in range(len(content))], draft, {})
    draft.lose((*place, "content"), "comes back as a block")
    return iter([Block("text", as_word(content), place)] if content else [])


def _blocks_of(content: list[Any], places: Sequence[Place], draft: Draft, inputs: Mapping[int, str]) -> Iterator[Block]:
    """Yield the texts, calls and reasoning in a content; `places` and `inputs` are by the position of a block.

    `inputs` are those of streamed blocks, as they were written.
    """
    for position, block in objects(content):
        place, kind = places[position], as_word(block.get("type"))
        if kind not in _READ:
            draft.lose(place, "a tool that Anthropic runs is not a tool call")
            continue
        draft.rest(block, _READ[kind], place, LOCAL)
        if kind == "text":
            yield Block("text", as_word(block.get("text")), place)
        elif kind == "tool_use":
            yield Block("call", read_call(block, inputs.get(position, "")), place)
        else:
            yield Block("detail", read_detail(block), place)


def transcript(native: dict[str, Any], draft: Transcript) -> None:
    """Read a request, or a reply as the only message, into a transcript; nothing is added for any other body."""
    is_reply = native.get("role") == "assistant" and "content" in native
    held = WIRE.asked if "messages" in native else WIRE.said if is_reply else ()
    draft.rest(native, held, (), "a transcript holds only messages")
    if is_reply:
        draft.turn(_blocks(native["content"], (), draft), ())
        return
    _read_messages(native, (), draft)
    roles = [message["role"] for message in draft.messages]
    if roles[:1] == ["system"] and "system" in native and "system" in roles[1:]:
        draft.lose(("system",), "comes back joined with later instructions")


def assembled(text: str) -> dict[str, Any]:
    """Return the reply of an event stream, or the error that ends it; an empty object if it has neither.

    Arguments that were cut off are read as far as possible. Raises InvalidDocument if the text is not an event stream,
    or the data of an event is not JSON.
    """
    made = assemble(text)
    require_events(made.events, text)
    for number, event in enumerate(made.events):
        if event.value is None:
            raise InvalidDocument(f"expected the data of event {number} to be JSON, got something else", "<stream>")
    if made.error is not None:
        return made.error
    reply = dict(made.reply or {})
    for position, written in made.inputs.items():
        if written:
            reply["content"][position]["input"] = decode(written)
    return reply


def _body(
    body: Mapping[str, Any], draft: Draft, inputs: Mapping[int, str], begins: Mapping[int, int]
) -> dict[str, Any]:
    """Return a reply, or the report of an error, as the body that chat completions have for it."""
    if body.get("type") == "error" or "content" not in body:
        error = as_object(body.get("error"))
        return {"error": {"message": error.get("message"), "type": error.get("type")}} if error else dict(body)
    message: dict[str, Any] = {"role": "assistant", "content": None}
    content = body["content"] if type(body.get("content")) is list else []
    places: list[Place] = [
        ("response", begins[position]) if position in begins else ("response", "content", position)
        for position in range(len(content))
    ]
    draft.fill(message, ("response", "choices", 0, "message"), _blocks_of(content, places, draft, inputs))
    reason = body.get("stop_reason")
    choice = {"index": 0, "message": message, "finish_reason": _FINISH.get(as_word(reason), reason)}
    draft.places["response", "choices", 0, "finish_reason"] = ("response", "stop_reason")
    draft.places.update({("response", key): ("response", key) for key in ("usage", "id", "model")})
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
