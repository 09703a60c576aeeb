"""Exchanges of Gemini as exchanges of chat completions, and its bodies as transcripts.

For the judge, parts with `thought` are summaries of the reasoning, and become `reasoning_content`; they need not come
back, since the signatures hold the reasoning. Signatures beside a text are for the rules of this wire. A transcript
keeps both, each as a reasoning detail.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import unquote

from conformance.documents import parse_json
from conformance.documents.pointer import Place
from conformance.wire import sse
from conformance.wire.blocks import Block
from conformance.wire.drafts import Draft, Transcript, as_chat, require_events, strict_format
from conformance.wire.exchange import Exchange
from conformance.wire.native import Native, NativeEvent
from conformance.wire.read_requests import ReadRequests
from conformance.wire.text import content_text
from conformance.wire.values import as_object, as_word, is_error_list, objects, total
from conformance.wires.gemini.names import SCHEMA_KEYWORDS, camel_case, listed, of_either, snake_case, spelled
from conformance.wires.gemini.stream import AssembledChunks, add_up, assemble, plain
from conformance.wires.gemini.walk import ContentsWalk, TranscriptWalk

_ERROR: Final = 400
_FINISH: Final[Mapping[Any, str]] = {"STOP": "stop", 1: "stop", "MAX_TOKENS": "length", 2: "length"}
_FILTERED: Final = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"})
_CALLING: Final = frozenset({"stop", "UNEXPECTED_TOOL_CALL"})
_MODES: Final[Mapping[Any, str]] = {"AUTO": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}
_ALPHABETS: Final = str.maketrans("-_", "+/")
_BYPASSES: Final = frozenset({"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"})
"""What the wire takes instead of a signature, for the history of other models."""
_SCHEMAS: Final = ("items", "additionalProperties", "not")
_KEYWORDS: Final = {snake_case(each): each for each in SCHEMA_KEYWORDS}

SETTINGS: Final = {"maxOutputTokens": "max_tokens", "temperature": "temperature", "topP": "top_p"}
"""The members of `generationConfig` that are keys of a request in chat completions, by their native names."""
_SPELLED: Final = frozenset({spelling for native in SETTINGS for spelling in (native, snake_case(native))})


class _Judged(Draft):
    """The messages of an exchange as the rules look at them."""

    def instruct(self, content: Any, native: Place) -> None:
        """Add the instructions as one text."""
        self.add({"role": "system", "content": content_text(content)}, native)

    def fill(self, message: dict[str, Any], at: Place, blocks: Iterable[Block]) -> None:
        """Add blocks to an assistant message that is at a place: its texts are one text, and so is its thinking."""
        for kind, value, native in blocks:
            if kind == "call":
                calls = message.setdefault("tool_calls", [])
                to: Place = (*at, "tool_calls", len(calls))
                calls.append(_comparable(value))
                self.places[to] = native[:-1]
                self.places[*to, "function", "arguments"] = (*native, "args")
                continue
            key = "reasoning_content" if kind == "detail" and "text" in value else "content"
            text = value if kind == "text" else value.get("text", "")
            message[key] = (message.get(key) or "") + text
            self.places.setdefault((*at, key), native)


def _comparable(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call with its signature, if it has one, in the standard alphabet of base64.

    Bytes may be written in either alphabet, and Google's own SDK writes the other one than the server.
    """
    if "extra_content" in call:
        held = call["extra_content"]["google"]
        signature = held["thought_signature"]
        if not signature:
            del call["extra_content"]
        elif type(signature) is str and signature not in _BYPASSES:
            held["thought_signature"] = signature.translate(_ALPHABETS)
    return call


def translator(*, apart: bool = False) -> Callable[[Exchange], Exchange]:  # noqa: ARG001 — no reply is remembered
    """Return what translates exchanges of Gemini into those of chat completions, with their native forms."""
    return partial(_translated, read=ReadRequests())


def _translated(exchange: Exchange, read: ReadRequests) -> Exchange:
    walk = ContentsWalk(_Judged())
    asked = request = exchange.request
    model = exchange.model or _model(exchange.url)
    if type(asked) is dict:
        request = _with_method(_request(asked, walk, read), exchange.url, model)
        asked = read.sharing(asked, "contents")
    made = _assembled(exchange)
    reply, response = None if made is None else made.reply, exchange.response
    if made is not None:
        response = made.error or (_body(reply, walk, made.begins) if reply else None)
    if type(response) is list:
        # Without alt=sse, an error comes as an array with one object.
        response = next((item for _, item in objects(response)), None)
    native = Native(
        "gemini",
        asked,
        exchange.response,
        () if made is None else made.events,
        reply,
        made is None or made.complete,
        places=walk.draft.all_places(),
        fragments=() if made is None else made.fragments,
        facts=_allowed(exchange.request) | ({} if made is None or made.error is None else {"error": made.error}),
    )
    return as_chat(exchange, request, response, native, model)


def _allowed(request: Any) -> dict[str, Any]:
    """Return the names of the functions to which a request limits the calls, as a fact; empty if it does not."""
    calling = as_object(of_either(as_object(of_either(as_object(request), "toolConfig")), "functionCallingConfig"))
    names = of_either(calling, "allowedFunctionNames")
    is_limited = type(names) is list and bool(names) and calling.get("mode") in ("ANY", "VALIDATED")
    return {"allowed": tuple(names)} if is_limited else {}


def _assembled(exchange: Exchange) -> AssembledChunks | None:
    """Return the response as what its chunks add up to; None if it is an error or was not recorded.

    A plain reply stays as it is: what is wrong with its shape must be seen.
    """
    response = exchange.response
    if (exchange.status or 0) >= _ERROR or response is None:
        return None
    if type(response) is str and exchange.streamed:
        return assemble(response)
    if type(response) is list and ":stream" not in exchange.url and is_error_list(response):
        return plain(response[0])
    if type(response) is dict:
        return plain(response)
    return add_up(tuple([NativeEvent("", chunk) for _, chunk in objects(response)]))


def _model(url: str) -> str:
    """Return the model that the URL of a request names."""
    return unquote(url.partition("/models/")[2].partition(":")[0])


def _with_method(request: dict[str, Any], url: str, model: str) -> dict[str, Any]:
    """Return a request with what its URL says: the model, and whether the reply is a stream."""
    made = {"model": model, **request} if model else request
    return made | ({"stream": True} if ":streamGenerateContent" in url else {})


def _request(body: dict[str, Any], walk: ContentsWalk, read: ReadRequests) -> dict[str, Any]:
    walk.request(body, ("request",), read)
    made: dict[str, Any] = {key: body[key] for key in ("model",) if key in body}
    if type(body.get("contents")) in (list, dict):
        made["messages"] = walk.draft.messages
    if functions := _functions(body, walk.draft):
        made["tools"] = functions
    choice = _choice(as_object(of_either(as_object(of_either(body, "toolConfig")), "functionCallingConfig")))
    configuration = as_object(of_either(body, "generationConfig"))
    if of_either(configuration, "responseMimeType") == "application/json":
        made["response_format"] = strict_format(_reply_schema(configuration))
    return made | ({"tool_choice": choice} if choice else {}) | _settings(configuration)


def _reply_schema(configuration: Mapping[str, Any]) -> Any:
    """Return the schema that the text of a reply has to match; without one, any JSON does."""
    schema = of_either(configuration, "responseJsonSchema")
    if schema is None:
        schema = _schema(of_either(configuration, "responseSchema"))
    return {} if schema is None else schema


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
    # Some clients send the only tool without a list around it, such as releases of the AI SDK.
    for position, tool in listed(body.get("tools")):
        key = spelled(tool, "functionDeclarations")
        for number, function in objects(tool.get(key)):
            draft.places["request", "tools", len(made)] = ("request", "tools", *position, key, number)
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
    named = {_KEYWORDS.get(key, key): value for key, value in given.items()}
    made = {key: _schema(value) if key in _SCHEMAS else value for key, value in named.items() if key != "nullable"}
    if type(named.get("type")) is str:
        made["type"] = named["type"].lower()
        if named.get("nullable") is True:
            made["type"] = [made["type"], "null"]
    if type(named.get("properties")) is dict:
        made["properties"] = {name: _schema(each) for name, each in named["properties"].items()}
    if type(named.get("anyOf")) is list:
        made["anyOf"] = [_schema(each) for each in named["anyOf"]]
        if named.get("nullable") is True and "type" not in named:
            made["anyOf"].append({"type": "null"})
    return made


def _body(body: Mapping[str, Any], walk: ContentsWalk, begins: Mapping[int, int]) -> dict[str, Any]:
    """Return a response as a reply of chat completions; `begins` are the chunks at which streamed parts begin."""
    _, candidate = next(objects(body.get("candidates")), (0, {}))
    message: dict[str, Any] = {"role": "assistant", "content": None}
    draft, place = walk.draft, ("response", "candidates", 0)
    parts = walk.parts(as_object(candidate.get("content")), (*place, "content"))
    if begins:
        parts = [(("response", begins[number]), part) for number, (_, part) in enumerate(parts)]
    walk.begin()
    draft.fill(message, ("response", "choices", 0, "message"), walk.blocks(parts))
    given = candidate.get("finishReason")
    reason = given if type(given) is int else as_word(given) or None
    finish = "content_filter" if reason in _FILTERED else _FINISH.get(reason, reason)
    if finish in _CALLING and "tool_calls" in message:
        finish = "tool_calls"
    draft.places["response", "choices", 0, "finish_reason"] = (*place, "finishReason")
    draft.places["response", "choices", 0, "index"] = (*place, "index")
    names = {"responseId": "id", "modelVersion": "model"}
    draft.places["response", "usage"] = ("response", "usageMetadata")
    draft.places.update({("response", name): ("response", native) for native, name in names.items()})
    made: dict[str, Any] = {"object": "chat.completion"}
    made["choices"] = [{"index": 0, "message": message, "finish_reason": finish}]
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


def transcript(native: dict[str, Any], draft: Transcript) -> None:
    """Read a request, or the first candidate of a reply, into a transcript; nothing is added for any other body."""
    walk = TranscriptWalk(draft)
    reply = None if "contents" in native else native.get("candidates")
    held = ("candidates",) if reply else ("systemInstruction", "system_instruction", "contents")
    walk.note({key: native[key] for key in held if key in native}, held, ())
    draft.rest(native, held, (), "a transcript holds only messages")
    if reply:
        walk.candidates(reply)
    else:
        walk.request(native, ())


def assembled(stream: str | list[Any]) -> dict[str, Any]:
    """Return the reply of a stream, given as text or as the list of its chunks, or the error that ends it.

    Empty if it has neither. Raises InvalidDocument if the data of an event is not JSON, or the text is not an event
    stream.
    """
    chunks = _chunks(stream) if isinstance(stream, str) else stream
    made = add_up(tuple([NativeEvent("", chunk) for chunk in chunks]))
    return made.error or made.reply or {}


def _chunks(text: str) -> list[Any]:
    reading = sse.read(text)
    require_events(reading.data, text)
    return [parse_json(data, "<stream>") for data in reading.data]
