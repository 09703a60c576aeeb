"""Exchanges of Gemini as exchanges of chat completions.

A call without an id gets one from its place among the model's turns, and the result of the same name or position gets
the same: this wire pairs them so. A signature stands in the call that it came with. Parts with `thought` are summaries
of the reasoning, and become `reasoning_content`; they need not come back, since the signatures hold the reasoning.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from conformance.documents.pointer import Place
from conformance.wire.exchange import Exchange
from conformance.wire.ids import id_of_place
from conformance.wire.native import Native, NativeEvent
from conformance.wires.drafts import Draft, as_chat, as_object, as_word, objects, rendered, total
from conformance.wires.gemini.images import read_image
from conformance.wires.gemini.names import camel_case, of_either, snake_case
from conformance.wires.gemini.pairing import Waiting
from conformance.wires.gemini.stream import Assembled, add_up, assemble

_ERROR: Final = 400
_FINISH: Final[Mapping[Any, str]] = {"STOP": "stop", 1: "stop", "MAX_TOKENS": "length", 2: "length"}
_FILTERED: Final = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"})
_CALLING: Final = frozenset({"stop", "UNEXPECTED_TOOL_CALL"})
_MODES: Final[Mapping[Any, str]] = {"AUTO": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}
_ALPHABETS: Final = str.maketrans("-_", "+/")
_BYPASSES: Final = frozenset({"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"})
"""What the wire takes instead of a signature, for the history of other models."""
_SCHEMAS: Final = ("items", "additionalProperties", "not")

SETTINGS: Final = {"maxOutputTokens": "max_tokens", "temperature": "temperature", "topP": "top_p"}
"""The members of `generationConfig` that are keys of a request in chat completions, by their native names."""
_SPELLED: Final = frozenset({spelled for native in SETTINGS for spelled in (native, snake_case(native))})


def translated(exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
    """Return exchanges of Gemini as those of chat completions, with their native forms."""
    return [_translated(exchange) for exchange in exchanges]


def _translated(exchange: Exchange) -> Exchange:
    draft = Draft()
    request = exchange.request
    model = exchange.model or _model(exchange.url)
    if type(request) is dict:
        request = _with_method(_request(request, draft), exchange.url, model)
    made = _assembled(exchange)
    reply, response = None if made is None else made.reply, exchange.response
    begins = {} if made is None or type(response) is dict else made.begins
    if made is not None and made.error is None:
        # A plain reply stays as it is: what is wrong with its shape must be seen.
        reply = response if type(response) is dict else reply
        response = None if made.reply is None else _body(made.reply, draft, begins)
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


def _request(body: dict[str, Any], draft: Draft) -> dict[str, Any]:
    system = of_either(body, "systemInstruction")
    if system:
        text = system if type(system) is str else _text(as_object(system))
        draft.add({"role": "system", "content": text}, ("request", "systemInstruction"))
    waiting = Waiting()
    for position, content in objects(body.get("contents")):
        _add_content(content, position, draft, waiting)
    made: dict[str, Any] = {key: body[key] for key in ("model",) if key in body}
    if type(body.get("contents")) is list:
        made["messages"] = draft.messages
    if functions := _functions(body, draft):
        made["tools"] = functions
    choice = _choice(as_object(of_either(as_object(of_either(body, "toolConfig")), "functionCallingConfig")))
    return (
        made | ({"tool_choice": choice} if choice else {}) | _settings(as_object(of_either(body, "generationConfig")))
    )


def _choice(calling: Mapping[str, Any]) -> Any:
    """Return a tool choice; one of several functions demands a call, whichever it is."""
    names = of_either(calling, "allowedFunctionNames")
    mode = _MODES.get(as_word(calling.get("mode")))
    if mode == "required" and type(names) is list and len(names) == 1:
        return {"type": "function", "function": {"name": names[0]}}
    return mode


def _settings(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return how to generate, as keys of chat completions; what they have no key for stays together."""
    made = {name: value for native, name in SETTINGS.items() if (value := of_either(configuration, native)) is not None}
    rest = {key: value for key, value in configuration.items() if key not in _SPELLED}
    thinking = rest.pop("thinking_config", rest.get("thinkingConfig"))
    if type(thinking) is dict:
        rest["thinkingConfig"] = {camel_case(key): value for key, value in thinking.items()}
    return made | ({"generationConfig": rest} if rest else {})


def _functions(body: Mapping[str, Any], draft: Draft) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    tools = body.get("tools")
    # Some clients send the only tool without a list around it, such as releases of the AI SDK.
    listed: list[tuple[Place, Any]] = [((), tools)] if type(tools) is dict else [((at,), t) for at, t in objects(tools)]
    for position, tool in listed:
        for number, function in objects(of_either(tool, "functionDeclarations")):
            place: Place = ("request", "tools", *position, "functionDeclarations", number)
            draft.places["request", "tools", len(made)] = place
            made.append({"type": "function", "function": _function(function)})
    return made


def _function(function: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: function[key] for key in ("name", "description") if key in function}
    schema = of_either(function, "parametersJsonSchema")
    if schema is None and type(function.get("parameters")) is dict:
        schema = _schema(function["parameters"])
    return made | ({"parameters": schema} if schema is not None else {})


def _schema(given: Any) -> Any:
    """Return a schema of this wire as JSON Schema: the names of types are in lower case, and null is a type."""
    if type(given) is not dict:
        return given
    made = {key: _schema(value) if key in _SCHEMAS else value for key, value in given.items() if key != "nullable"}
    if type(given.get("type")) is str:
        made["type"] = given["type"].lower()
        if given.get("nullable") is True:
            made["type"] = [made["type"], "null"]
    if type(given.get("properties")) is dict:
        made["properties"] = {name: _schema(each) for name, each in given["properties"].items()}
    for key in ("anyOf", "any_of"):
        if type(given.get(key)) is list:
            made.pop(key)
            made["anyOf"] = [_schema(each) for each in given[key]]
    return made


def _add_content(content: Mapping[str, Any], position: int, draft: Draft, waiting: Waiting) -> None:
    """Add the messages of one content; `waiting` are the calls that have no result yet."""
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
        known = len(last.get("tool_calls", ()))
        fill(last, parts, at, (*place, "parts"), draft, draft.turns - 1)
        waiting.add(last.get("tool_calls", [])[known:])
        return
    said = []
    for number, part in parts:
        answer = of_either(part, "functionResponse")
        if type(answer) is dict:
            _add_result(answer, (*place, "parts", number), draft, waiting)
        else:
            is_text = type(part.get("text")) is str
            said.append({"type": "text", "text": part["text"]} if is_text else read_image(part) or dict(part))
    if said or not parts:
        is_text = len(said) == 1 and said[0].get("type") == "text"
        draft.add({"role": "user", "content": said[0]["text"] if is_text else said}, place)


def _add_result(answer: Mapping[str, Any], place: Place, draft: Draft, waiting: Waiting) -> None:
    identity = waiting.take(answer.get("id") or None, answer.get("name"))
    if identity is None:
        identity = f"unpaired.{len(draft.messages)}"
    content = _output(answer.get("response"))
    shown = [read_image(part) or dict(part) for _, part in objects(answer.get("parts"))]
    if shown and (type(content) is list or type(content) is str):
        said = [{"type": "text", "text": content}] if content and type(content) is str else list(content)
        content = [*said, *shown]
    at = draft.add({"role": "tool", "tool_call_id": identity, "content": content}, place)
    draft.places[*at, "tool_call_id"] = place


def _output(response: Any) -> Any:
    """Return what a result says: its `output` if that is all, as text or parts, or else the object as JSON."""
    if type(response) is dict and response.keys() == {"output"}:
        said = response["output"]
        if type(said) is str or said is None:
            return said
        if type(said) is list and said and all([type(part) is dict for part in said]):
            return said
        return rendered(said)
    return rendered(response)


def fill(
    message: dict[str, Any],
    parts: list[tuple[int, Mapping[str, Any]]],
    place: Place,
    inside: Place,
    draft: Draft,
    turn: int,
    begins: Mapping[int, int] | None = None,
) -> None:
    """Add the parts of a content to a message of the model, the one of number `turn`.

    `begins` are the chunks at which streamed parts begin.
    """
    for position, part in parts:
        native: Place = ("response", begins[position]) if begins and position in begins else (*inside, position)
        call = of_either(part, "functionCall")
        if type(call) is dict:
            calls = message.setdefault("tool_calls", [])
            at: Place = (*place, "tool_calls", len(calls))
            calls.append(_call(call, part, id_of_place(turn, len(calls))))
            draft.places.update({at: native, (*at, "function", "arguments"): (*native, "functionCall", "args")})
        elif type(part.get("text")) is str:
            key = "reasoning_content" if part.get("thought") else "content"
            message[key] = (message.get(key) or "") + part["text"]
            draft.places.setdefault((*place, key), native)


def _call(call: Mapping[str, Any], part: Mapping[str, Any], derived: str) -> dict[str, Any]:
    arguments = rendered(call.get("args") or {})
    made: dict[str, Any] = {"id": call.get("id") or derived, "type": "function"}
    made["function"] = {"name": call.get("name"), "arguments": arguments}
    signature = of_either(part, "thoughtSignature")
    if type(signature) is str and signature not in _BYPASSES:
        # Bytes may be written in either alphabet of base64, and Google's own SDK writes the other one than the server.
        signature = signature.translate(_ALPHABETS)
    return made | ({"extra_content": {"google": {"thought_signature": signature}}} if signature else {})


def _text(content: Mapping[str, Any]) -> str:
    return "".join([part["text"] for _, part in objects(content.get("parts")) if type(part.get("text")) is str])


def _body(body: Mapping[str, Any], draft: Draft, begins: Mapping[int, int]) -> dict[str, Any]:
    """Return a response as a reply of chat completions."""
    _, candidate = next(objects(body.get("candidates")), (0, {}))
    message: dict[str, Any] = {"role": "assistant", "content": None}
    place: Place = ("response", "choices", 0, "message")
    inside: Place = ("response", "candidates", 0, "content", "parts")
    parts = list(objects(as_object(candidate.get("content")).get("parts")))
    fill(message, parts, place, inside, draft, draft.turns, begins)
    given = candidate.get("finishReason")
    reason = given if type(given) is int else as_word(given) or None
    finish = "content_filter" if reason in _FILTERED else _FINISH.get(reason, reason)
    if finish in _CALLING and "tool_calls" in message:
        finish = "tool_calls"
    draft.places["response", "choices", 0, "finish_reason"] = ("response", "candidates", 0, "finishReason")
    draft.places["response", "usage"] = ("response", "usageMetadata")
    made: dict[str, Any] = {"object": "chat.completion"}
    made["choices"] = [{"index": 0, "message": message, "finish_reason": finish}] if candidate else []
    names = {"responseId": "id", "modelVersion": "model"}
    made |= {name: body[native] for native, name in names.items() if type(body.get(native)) is str}
    usage = body.get("usageMetadata")
    return made | ({"usage": _usage(usage)} if type(usage) is dict else {})


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts as chat completions have them: there, the completion's include the reasoning."""
    reasoning, cached = usage.get("thoughtsTokenCount"), usage.get("cachedContentTokenCount")
    prompt = total(usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount"))
    completion = total(usage.get("candidatesTokenCount"), reasoning)
    made: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    if type(usage.get("totalTokenCount")) is int:
        made["total_tokens"] = usage["totalTokenCount"]
    if type(cached) is int:
        made["prompt_tokens_details"] = {"cached_tokens": cached}
    if type(reasoning) is int:
        made["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return made
