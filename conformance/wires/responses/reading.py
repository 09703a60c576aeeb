"""Exchanges of Responses as exchanges of chat completions.

A session whose history the server holds is resolved from the earlier replies at hand. Where they are not, the results
of calls that nobody can see are left out and named in the native form's facts: nothing can be said about them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import NoneType
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.drafts import Draft, SubPlaces, Transcript, as_chat, require_events
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.native import Native
from conformance.wire.read_requests import ReadRequests
from conformance.wire.values import as_object, objects
from conformance.wires.responses import WIRE
from conformance.wires.responses.blocks import name_of
from conformance.wires.responses.kinds import kind_of
from conformance.wires.responses.state import NOTHING, History, Memory
from conformance.wires.responses.stream import AssembledResponse, assemble
from conformance.wires.responses.turns import AT_SERVER, ItemsWalk

_INSIDE: Final = SubPlaces(
    call={("id",): ("call_id",), ("function", "name"): ("name",), ("function", "arguments"): ("arguments",)}
)

_INCOMPLETE: Final[Mapping[Any, str]] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_OVER: Final = ("completed", "incomplete")
_ERROR: Final = 400
_COPIED: Final = ("model", "stream", "temperature", "top_p", "parallel_tool_calls", "reasoning")
_HISTORY: Final = ("previous_response_id", "conversation", "prompt")
"""What stands for messages that the server has."""
_STATE: Final = (*_HISTORY, "store", "include", "background")
_CUSTOM: Final = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
_FUNCTIONS: Final = ("function", "custom")


class _Reply(NamedTuple):
    """A reply, plain or assembled: its body, the place of each of its items, and that of its other parts."""

    body: dict[str, Any]
    items: Sequence[Place]
    rest: Place
    repeated: Sequence[Any] = ()


def translator(*, apart: bool = False) -> Callable[[Exchange], Exchange]:
    """Return what translates the exchanges of a session into those of chat completions, with their native forms.

    `apart`: what one of them says is not known for another.
    """
    read = ReadRequests()
    if apart:
        return lambda exchange: _translated(exchange, Memory(grows=False), read)
    return partial(_translated, memory=Memory(), read=read)


def _translated(exchange: Exchange, memory: Memory, read: ReadRequests) -> Exchange:
    draft, facts = Draft(_INSIDE), dict[str, Any]()
    request, response = exchange.request, exchange.response
    body = request if type(request) is dict else {}
    held = None
    asked = exchange.request
    if body:
        request, held = _request(body, draft, memory, read, facts)
        asked = read.sharing(body, "input")
    made = assemble(response) if type(response) is str and exchange.streamed else None
    reply = None if (exchange.status or 0) >= _ERROR else _reply_of(response, made)
    is_complete = reply is None or reply.body.get("status", "completed") in _OVER
    if made is not None:
        is_complete = made.end is not None and made.error is None and is_complete
        response = None if made.error is None else _error(made.error[1])
        facts |= made.aside
    failure = _failure(reply, made)
    facts |= {"error": failure} if failure else {}
    if reply is not None:
        response = _reply(reply, draft, memory, body, facts) | ({"error": failure} if failure else {})
        if failure:
            draft.places["response", "error"] = (*reply.rest, "error")
    native = Native(
        "responses",
        asked,
        exchange.response,
        () if made is None else made.events,
        None if reply is None else reply.body,
        is_complete,
        () if made is None else made.irregularities,
        draft.all_places(),
        facts,
        held,
        continuing=frozenset() if made is None else made.continuing,
        fragments=() if made is None else made.fragments,
    )
    return as_chat(exchange, request, response, native, model_of(exchange.response))


def _reply_of(response: Any, made: AssembledResponse | None) -> _Reply | None:
    """Return the reply of an exchange; None if it has none, such as an error."""
    if made is not None:
        end: Place = ("response",) if made.end is None else ("response", made.end, "response")
        return None if made.reply is None else _Reply(made.reply, made.places, end, made.repeated)
    if type(response) is not dict:
        return None
    output = response.get("output")
    # A response that lacks its output is one all the same, and what is missing must be seen.
    if type(output) is not list and response.get("object") != "response":
        return None
    count = len(output) if type(output) is list else 0
    places: list[Place] = [("response", "output", position) for position in range(count)]
    return _Reply(response, places, ("response",))


def _failure(reply: _Reply | None, made: AssembledResponse | None) -> Mapping[str, Any]:
    """Return what a reply says about its failure; empty if it did not fail."""
    if made is not None and made.error is not None:
        return made.error[1]
    return as_object(reply.body.get("error")) if reply is not None else {}


def _error(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event that reports an error as the body of one; what it says stands in it or under `error`."""
    error = as_object(value.get("error")) or {key: value[key] for key in ("message", "code", "param") if key in value}
    return {"error": dict(error)}


def _request(
    body: dict[str, Any], draft: Draft, memory: Memory, read: ReadRequests, facts: dict[str, Any]
) -> tuple[dict[str, Any], range | None]:
    """Return a request as one of chat completions, and which of its messages the server holds."""
    facts |= {key: body[key] for key in _STATE if body.get(key) is not None}
    draft.instruct(body.get("instructions"), ("request", "instructions"))
    first = len(draft.messages)
    history = _history(body, memory, facts)
    for message in history.messages:
        draft.add(message, ("request", "conversation" if "conversation" in facts else "previous_response_id"))
    held = range(first, len(draft.messages)) if "history" in facts else None
    walk = ItemsWalk(draft, memory, is_stored=body.get("store") is not False, is_whole=history.is_whole)
    if type(body.get("input")) is list and held is None:
        read.into(draft, body["input"], _read_item, ("request", "input"), walk)
        walk.end()
    else:
        walk.read(body.get("input"), ("request", "input"), history.messages)
    facts |= {"hosted": tuple(walk.hosted)} if walk.hosted else {}
    facts |= {"unjudged": tuple(walk.unjudged)} if walk.unjudged else {}
    memory.asked(draft.messages, first, history)
    made: dict[str, Any] = {key: body[key] for key in _COPIED if body.get(key) is not None}
    if type(body.get("max_output_tokens")) is int:
        made["max_completion_tokens"] = body["max_output_tokens"]
    if draft.messages or body.get("input") is not None:
        made["messages"] = draft.messages
    _add_format(as_object(body.get("text")).get("format"), made, draft)
    _add_tools(body, walk, made, facts)
    return made, held


def _read_item(item: Mapping[str, Any], place: Place, walk: ItemsWalk) -> None:
    walk.add(item, place)


def _add_format(wanted: Any, made: dict[str, Any], draft: Draft) -> None:
    """Add the form that the text of the reply has to have; a schema stands one level deeper in chat completions."""
    if type(wanted) is not dict or wanted.get("type") == "text":
        return
    place: Place = ("request", "text", "format")
    draft.places["request", "response_format"] = place
    if wanted.get("type") != "json_schema":
        made["response_format"] = wanted
        return
    made["response_format"] = {
        "type": "json_schema",
        "json_schema": {key: value for key, value in wanted.items() if key != "type"},
    }
    draft.places["request", "response_format", "json_schema", "schema"] = (*place, "schema")


def _history(body: Mapping[str, Any], memory: Memory, facts: dict[str, Any]) -> History:
    """Return what a request refers to without sending it, as far as it is at hand."""
    key = _session_key(body)
    if key is None:
        # A stored prompt may hold messages and tools.
        return NOTHING if body.get("prompt") is None else History((), is_whole=False)
    found = memory.history(key)
    facts["history"] = "unknown" if found is None else "whole" if found.is_whole else "cut"
    return found or History((), is_whole=False)


def _session_key(body: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the kind and the id of what holds the history of a request; None if the request holds it itself."""
    previous, conversation = body.get("previous_response_id"), body.get("conversation")
    if type(previous) is str and previous:
        return "response", previous
    identity = as_object(conversation).get("id", conversation)
    return ("conversation", identity) if type(identity) is str and identity else None


def _add_tools(body: Mapping[str, Any], walk: ItemsWalk, made: dict[str, Any], facts: dict[str, Any]) -> None:
    """Add the tools of a request, those that its items bring along, and its choice of them."""
    found: list[tuple[Place, dict[str, Any]]] = []
    _collect(body.get("tools"), ("request", "tools"), {}, found)
    for place, item in walk.bringing:
        _collect(item.get("tools"), (*place, "tools"), {}, found)
    if found:
        made["tools"] = [tool for _, tool in found]
        walk.draft.places.update({("request", "tools", to): place for to, (place, _) in enumerate(found)})
    choice = body.get("tool_choice")
    # A choice among tools that the server runs says nothing about the client's.
    if choice is not None and (found or not body.get("tools")):
        made["tool_choice"] = _choice(choice) if type(choice) is dict else choice
    listed = [tool for _, tool in objects(as_object(choice).get("tools"))]
    if listed and all([tool.get("type") in _FUNCTIONS for tool in listed]):
        facts["allowed"] = tuple([name_of(tool) for tool in listed])


def _collect(tools: Any, place: Place, space: Mapping[str, Any], found: list[tuple[Place, dict[str, Any]]]) -> None:
    """Collect the functions in a list of tools; a namespace holds a list of its own."""
    for position, tool in objects(tools):
        at: Place = (*place, position)
        if tool.get("type") == "namespace":
            _collect(tool.get("tools"), (*at, "tools"), {"namespace": tool.get("name")}, found)
        elif tool.get("type") in _FUNCTIONS:
            found.append((at, _tool({**tool, **space})))


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function: dict[str, Any] = {"name": name_of(tool)}
    function |= {key: tool[key] for key in ("description", "parameters") if tool.get(key) is not None}
    # In chat completions, a schema is not taken literally unless the request says so.
    function |= {"strict": True} if tool.get("strict") is True else {}
    if tool["type"] == "custom":
        function["parameters"] = _CUSTOM
    return {"type": "function", "function": function}


def _choice(choice: Mapping[str, Any]) -> Any:
    """Return a tool choice; one of a tool that the server runs leaves the choice of the client's tools open."""
    if choice.get("type") in _FUNCTIONS:
        return {"type": "function", "function": {"name": name_of(choice)}}
    mode = choice.get("mode")
    return mode if choice.get("type") == "allowed_tools" and type(mode) is str else "auto"


def _reply(
    reply: _Reply, draft: Draft, memory: Memory, request: Mapping[str, Any], facts: dict[str, Any]
) -> dict[str, Any]:
    """Return a reply as the body that chat completions have for it, and remember it."""
    body, stored = reply.body, reply.body.get("store", request.get("store"))
    message: dict[str, Any] = {"role": "assistant", "content": None}
    walk = ItemsWalk(draft, memory, is_stored=stored is not False)
    output = body.get("output")
    memory.keep(output if type(output) is list else (), reply.repeated, is_stored=stored is not False)
    for position, item in objects(output):
        walk.speak(kind_of(item), item, reply.items[position])
    walk.fill(message, ("response", "choices", 0, "message"))
    if walk.hosted:
        facts["hosted"] = tuple(dict.fromkeys([*facts.get("hosted", ()), *walk.hosted]))
    choice = {"index": 0, "message": message, "finish_reason": _finish(body, message)}
    draft.places["response", "choices", 0] = reply.rest
    draft.places["response", "choices", 0, "finish_reason"] = (*reply.rest, "status")
    for key in ("usage", "id", "model"):
        draft.places["response", key] = (*reply.rest, key)
    memory.answered(body.get("id"), _session_key(request), message)
    made = {"object": "chat.completion", "choices": [choice]}
    made |= {key: body[key] for key in ("id", "model") if key in body}
    return made | ({"usage": _usage(body["usage"])} if type(body.get("usage")) is dict else {})


def _finish(body: Mapping[str, Any], message: Mapping[str, Any]) -> str | None:
    """Return the finish reason of a reply: calls have no status of their own, they are just there."""
    status = body.get("status", "completed")
    if status == "incomplete":
        reason = as_object(body.get("incomplete_details")).get("reason")
        return _INCOMPLETE.get(reason, "stop") if type(reason) is str else "stop"
    if status != "completed":
        return None
    return "tool_calls" if message.get("tool_calls") else "stop"


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts under their names in chat completions."""
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "total_tokens": "total_tokens"}
    made: dict[str, Any] = {new: usage[old] for old, new in names.items() if old in usage}
    for old, new in (("input_tokens_details", "prompt"), ("output_tokens_details", "completion")):
        if type(usage.get(old)) is dict:
            made[f"{new}_tokens_details"] = usage[old]
    return made


def transcript(native: dict[str, Any], draft: Transcript) -> None:
    """Read a request, or a reply as the only message, into a transcript; nothing is added for any other body."""
    held = WIRE.said if "output" in native else ("instructions", *WIRE.asked)
    for key, value in native.items():
        if key not in held and value is not None:
            draft.lose((key,), AT_SERVER if key in _HISTORY else "a transcript holds only messages")
    walk = ItemsWalk(draft, None, is_stored=native.get("store") is not False)
    if "output" in native:
        for position, item in objects(native["output"]):
            walk.speak(kind_of(item), item, ("output", position))
        walk.end()
        return
    instructions = native.get("instructions")
    if type(instructions) in (str, NoneType):
        draft.instruct(instructions, ("instructions",))
    else:
        draft.lose(("instructions",), "instructions are a text")
    walk.read(native.get("input"), ("input",))


def assembled(text: str) -> dict[str, Any]:
    """Return the reply of an event stream, or the error that ends it; an empty object if it has neither.

    Raises InvalidDocument if the text is not an event stream.
    """
    made = assemble(text)
    require_events(made.events, text)
    if made.error is not None:
        _, event = made.error
        return {"error": event.get("error", event)}
    return made.reply or {}
