"""Exchanges of Gemini as exchanges of chat completions.

A call without an id gets one from its place, and the result of the same name or position gets the same: this wire pairs
them so. A signature stands in the call that it came with. Summaries of reasoning need not come back, and stay native.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from conformance.documents.pointer import Place
from conformance.protocols.drafts import Draft, as_chat, as_object, as_word, objects, rendered, total
from conformance.protocols.gemini.stream import Assembled, add_up, assemble
from conformance.wire.exchange import Exchange
from conformance.wire.native import Native, NativeEvent

_ERROR: Final = 400
_FINISH: Final[Mapping[Any, str]] = {"STOP": "stop", 1: "stop", "MAX_TOKENS": "length", 2: "length"}
_FILTERED: Final = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"})
_CALLING: Final = frozenset({"stop", "UNEXPECTED_TOOL_CALL"})
_MODES: Final[Mapping[Any, str]] = {"AUTO": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}


def translated(exchange: Exchange) -> Exchange:
    """Return an exchange of Gemini as one of chat completions, with its native form."""
    draft = Draft()
    request = exchange.request
    turns = request.get("contents") if type(request) is dict else None
    model = exchange.model or _model(exchange.url)
    if type(request) is dict:
        request = _with_method(_request(request, draft), exchange.url, model)
    made = _assembled(exchange)
    reply, begins = None if made is None else made.reply, {} if made is None else made.begins
    response = exchange.response
    if made is not None and made.error is None:
        response = None if made.reply is None else _body(made.reply, len(turns or ()), draft, begins)
    elif made is not None:
        response = made.error
    if type(response) is list:
        # Without alt=sse, an error comes as an array with one object.
        response = next((item for _, item in objects(response)), None)
    native = Native(
        "gemini",
        exchange.request,
        exchange.response,
        () if made is None or type(exchange.response) is dict else made.events,
        reply,
        made is None or made.complete,
        places=draft.places,
        facts={} if made is None or made.error is None else {"error": made.error},
    )
    return as_chat(exchange, request, response, native, model)


def _assembled(exchange: Exchange) -> Assembled | None:
    """Return the response as what its chunks add up to; None if it is an error or was not recorded."""
    response = exchange.response
    if (exchange.status or 0) >= _ERROR or response is None:
        return None
    if type(response) is str and exchange.streamed:
        return assemble(response)
    chunks = response if type(response) is list else [response]
    return add_up(tuple([NativeEvent("", chunk) for chunk in chunks if type(chunk) is dict]))


def _model(url: str) -> str:
    """Return the model that the URL of a request names."""
    return unquote(url.partition("/models/")[2].partition(":")[0])


def _with_method(request: dict[str, Any], url: str, model: str) -> dict[str, Any]:
    """Return a request with what its URL says: the model, and whether the reply is a stream."""
    made = {"model": model, **request} if model else request
    return made | ({"stream": True} if ":streamGenerateContent" in url else {})


def _of(holder: Mapping[str, Any], name: str) -> Any:
    """Return a member by its name in either notation: SDKs write snake_case, the wire camelCase."""
    snake = "".join([f"_{letter.lower()}" if letter.isupper() else letter for letter in name])
    return holder.get(name, holder.get(snake))


def _request(body: dict[str, Any], draft: Draft) -> dict[str, Any]:
    system = _of(body, "systemInstruction")
    if system:
        text = system if type(system) is str else _text(as_object(system))
        draft.add({"role": "system", "content": text}, ("request", "systemInstruction"))
    waiting: list[tuple[str, Any]] = []
    for position, content in objects(body.get("contents")):
        _add_content(content, position, draft, waiting)
    made: dict[str, Any] = {key: body[key] for key in ("model",) if key in body}
    if type(body.get("contents")) is list:
        made["messages"] = draft.messages
    if functions := _functions(body, draft):
        made["tools"] = functions
    calling = as_object(_of(as_object(_of(body, "toolConfig")), "functionCallingConfig"))
    if (mode := as_word(calling.get("mode"))) in _MODES:
        made["tool_choice"] = _MODES[mode]
    limit = _of(as_object(_of(body, "generationConfig")), "maxOutputTokens")
    return made | ({"max_tokens": limit} if type(limit) is int else {})


def _functions(body: Mapping[str, Any], draft: Draft) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for position, tool in objects(body.get("tools")):
        for number, function in objects(_of(tool, "functionDeclarations")):
            place: Place = ("request", "tools", position, "functionDeclarations", number)
            draft.places["request", "tools", len(made)] = place
            made.append({"type": "function", "function": {"name": function.get("name")}})
    return made


def _add_content(content: Mapping[str, Any], position: int, draft: Draft, waiting: list[tuple[str, Any]]) -> None:
    """Add the messages of one content; `waiting` are the ids and names of calls that have no result yet."""
    place: Place = ("request", "contents", position)
    parts = list(objects(content.get("parts")))
    if content.get("role") == "model":
        last = draft.messages[-1] if draft.messages else {}
        if last.get("role") == "assistant":
            at: Place = ("request", "messages", len(draft.messages) - 1)
        else:
            last = {"role": "assistant", "content": None}
            at = draft.add(last, place)
            waiting.clear()
        fill(last, parts, at, (*place, "parts"), draft, position)
        known = {identity for identity, _ in waiting}
        calls = last.get("tool_calls", ())
        waiting += [(call["id"], call["function"]["name"]) for call in calls if call["id"] not in known]
        return
    texts = [{"type": "text", "text": part["text"]} for _, part in parts if type(part.get("text")) is str]
    for number, part in parts:
        answer = _of(part, "functionResponse")
        if type(answer) is dict:
            _add_result(answer, (*place, "parts", number), draft, waiting)
    if texts or not any([type(_of(part, "functionResponse")) is dict for _, part in parts]):
        draft.add({"role": "user", "content": texts}, place)


def _add_result(answer: Mapping[str, Any], place: Place, draft: Draft, waiting: list[tuple[str, Any]]) -> None:
    identity = answer.get("id")
    if identity is None:
        # By name, else by position: both are how the wire pairs what has no id.
        named = [each for each, name in waiting if name == answer.get("name")] or [each for each, _ in waiting]
        identity = named[0] if named else f"unpaired.{len(draft.messages)}"
    waiting[:] = [each for each in waiting if each[0] != identity]
    text = rendered(answer.get("response"))
    at = draft.add({"role": "tool", "tool_call_id": identity, "content": text}, place)
    draft.places[*at, "tool_call_id"] = place


def fill(
    message: dict[str, Any],
    parts: list[tuple[int, Mapping[str, Any]]],
    place: Place,
    inside: Place,
    draft: Draft,
    turn: int,
    begins: Mapping[int, int] | None = None,
) -> None:
    """Add the parts of the model's content number `turn` to a message."""
    for position, part in parts:
        native: Place = ("response", begins[position]) if begins and position in begins else (*inside, position)
        call = _of(part, "functionCall")
        if type(call) is dict:
            calls = message.setdefault("tool_calls", [])
            at: Place = (*place, "tool_calls", len(calls))
            calls.append(_call(call, part, f"{turn}.{position}"))
            draft.places.update({at: native, (*at, "function", "arguments"): (*native, "functionCall", "args")})
        elif type(part.get("text")) is str and not part.get("thought"):
            message["content"] = (message["content"] or "") + part["text"]
            draft.places.setdefault((*place, "content"), native)


def _call(call: Mapping[str, Any], part: Mapping[str, Any], derived: str) -> dict[str, Any]:
    arguments = rendered(call.get("args") or {})
    made: dict[str, Any] = {"id": call.get("id") or derived, "type": "function"}
    made["function"] = {"name": call.get("name"), "arguments": arguments}
    signature = _of(part, "thoughtSignature")
    return made | ({"extra_content": {"google": {"thought_signature": signature}}} if signature else {})


def _text(content: Mapping[str, Any]) -> str:
    return "".join([part["text"] for _, part in objects(content.get("parts")) if type(part.get("text")) is str])


def _body(body: Mapping[str, Any], turn: int, draft: Draft, begins: Mapping[int, int]) -> dict[str, Any]:
    """Return a response as a reply of chat completions."""
    _, candidate = next(objects(body.get("candidates")), (0, {}))
    message: dict[str, Any] = {"role": "assistant", "content": None}
    place: Place = ("response", "choices", 0, "message")
    inside: Place = ("response", "candidates", 0, "content", "parts")
    parts = list(objects(as_object(candidate.get("content")).get("parts")))
    fill(message, parts, place, inside, draft, turn, begins if len(begins) > 1 else None)
    given = candidate.get("finishReason")
    reason = given if type(given) is int else as_word(given) or None
    finish = "content_filter" if reason in _FILTERED else _FINISH.get(reason, reason)
    if finish in _CALLING and "tool_calls" in message:
        finish = "tool_calls"
    draft.places["response", "choices", 0, "finish_reason"] = ("response", "candidates", 0, "finishReason")
    draft.places["response", "usage"] = ("response", "usageMetadata")
    made: dict[str, Any] = {"object": "chat.completion"}
    made["choices"] = [{"index": 0, "message": message, "finish_reason": finish}] if candidate else []
    usage = body.get("usageMetadata")
    return made | ({"usage": _usage(usage)} if type(usage) is dict else {})


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts as chat completions have them: there, the completion's include the reasoning."""
    reasoning, cached = usage.get("thoughtsTokenCount"), usage.get("cachedContentTokenCount")
    prompt = total(usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount"))
    completion = total(usage.get("candidatesTokenCount"), reasoning)
    made: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    made["total_tokens"] = prompt + completion
    if type(cached) is int:
        made["prompt_tokens_details"] = {"cached_tokens": cached}
    if type(reasoning) is int:
        made["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return made
