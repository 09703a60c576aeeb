"""Chat completions as Gemini: the requests of the suites, and the replies and streams of the simulator.

Neighbouring tool messages become one content, as this wire demands. What this wire has no word for, such as
`parallel_tool_calls`, is left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from conformance.wire.ids import is_of_place
from conformance.wire.native import NativeEvent
from conformance.wires.drafts import as_object, objects
from conformance.wires.gemini.images import image_part
from conformance.wires.gemini.reading import SETTINGS

_MODES: Final[Mapping[Any, str]] = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
_REASONS: Final[Mapping[Any, str]] = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
}
_ROLES: Final[Mapping[Any, str]] = {"assistant": "model", "tool": "user"}
_CODES: Final[Mapping[Any, int]] = {"not_found_error": 404, "simulator_error": 500}
_STATUSES: Final[Mapping[Any, str]] = {404: "NOT_FOUND", 500: "INTERNAL"}
_NO_CALL: Final = "unknown_function"
"""The name in a result that no call of the request belongs to: this wire requires one."""

_PIECE: Final = 12
"""How many characters of a text a chunk holds."""


def request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of chat completions as one of Gemini; its model and its stream are in the URL."""
    contents: list[dict[str, Any]] = []
    made: dict[str, Any] = {}
    names: dict[Any, Any] = {}
    for _, message in objects(body.get("messages")):
        if message.get("role") in ("system", "developer") and not contents and not made:
            made["systemInstruction"] = {"parts": _said(message.get("content"))}
        else:
            _add(message, contents, names)
    made["contents"] = contents
    if functions := [_function(as_object(tool.get("function"))) for _, tool in objects(body.get("tools"))]:
        made["tools"] = [{"functionDeclarations": functions}]
    if calling := _calling(body.get("tool_choice")):
        made["toolConfig"] = {"functionCallingConfig": calling}
    limit = {"max_tokens": body["max_completion_tokens"]} if "max_completion_tokens" in body else {}
    given = {**limit, **body}
    settings = {native: given[name] for native, name in SETTINGS.items() if name in given}
    configuration = {**as_object(body.get("generationConfig")), **settings}
    return made | ({"generationConfig": configuration} if configuration else {})


def _add(message: Mapping[str, Any], contents: list[dict[str, Any]], names: dict[Any, Any]) -> None:
    """Add a message; results that follow each other are one content. `names`: those of the functions, by call id."""
    role = message.get("role")
    if role == "assistant":
        parts = _parts(message)
        names |= {call.get("id"): as_object(call.get("function")).get("name") for _, call in _calls(message)}
    elif role == "tool":
        parts = [_result(message, names)]
        if contents and "functionResponse" in contents[-1]["parts"][-1]:
            contents[-1]["parts"] += parts
            return
    else:
        parts = _said(message.get("content"))
    contents.append({"role": _ROLES.get(role, role), "parts": parts or [{"text": ""}]})


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    return objects(message.get("tool_calls"))


def _said(content: Any) -> list[dict[str, Any]]:
    """Return a content as parts; what this wire has no form for keeps its own."""
    if type(content) is str:
        return [{"text": content}]
    return [
        {"text": part["text"]} if part.get("type") == "text" else image_part(part) or dict(part)
        for _, part in objects(content)
    ]


def _result(message: Mapping[str, Any], names: dict[Any, Any]) -> dict[str, Any]:
    identity = message.get("tool_call_id")
    name = names[identity] if identity in names else next(reversed(names.values()), _NO_CALL)
    output, shown = _split(message.get("content"))
    answer = {**_id(identity), "name": name, "response": {"output": output}}
    return {"functionResponse": answer | ({"parts": shown} if shown else {})}


def _split(content: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Return what a result says, and its images: here they stand beside it, and only with their data."""
    if type(content) is not list:
        return content, []
    shown = {at: made for at, part in objects(content) if (made := image_part(part)) and "inlineData" in made}
    said = [part for at, part in enumerate(content) if at not in shown]
    return said or ("" if shown else said), list(shown.values())


def _id(identity: Any) -> dict[str, Any]:
    """Return an id as a member; one that only says where the call stands is not on the wire."""
    is_absent = identity is None or (type(identity) is str and is_of_place(identity))
    return {} if is_absent else {"id": identity}


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the model said as parts: reasoning, text, calls."""
    parts: list[dict[str, Any]] = []
    reasoning, content = message.get("reasoning_content"), message.get("content")
    if type(reasoning) is str:
        parts.append({"text": reasoning, "thought": True})
    parts += _said(content) if content else []
    return parts + [_call(call) for _, call in _calls(message)]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = as_object(call.get("function"))
    try:
        given = orjson.loads(function.get("arguments") or "{}")
    except (orjson.JSONDecodeError, TypeError):
        # This wire has no arguments that are not JSON, so they go as the text that they are.
        given = function.get("arguments")
    part: dict[str, Any] = {"functionCall": {**_id(call.get("id")), "name": function.get("name"), "args": given}}
    google = as_object(as_object(call.get("extra_content")).get("google"))
    return part | ({"thoughtSignature": google["thought_signature"]} if "thought_signature" in google else {})


def _function(function: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: function[key] for key in ("name", "description") if key in function}
    return made | ({"parametersJsonSchema": function["parameters"]} if "parameters" in function else {})


def _calling(choice: Any) -> dict[str, Any]:
    if type(choice) is dict:
        return {"mode": "ANY", "allowedFunctionNames": [as_object(choice.get("function")).get("name")]}
    return {"mode": _MODES[choice]} if choice in _MODES else {}


def reply(body: Mapping[str, Any], _asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply of chat completions as one of Gemini."""
    if "error" in body:
        return {"error": _error(as_object(body["error"]))}
    _, choice = next(objects(body.get("choices")), (0, {}))
    reason = choice.get("finish_reason")
    content = {"role": "model", "parts": _parts(as_object(choice.get("message")))}
    return {
        "candidates": [{"content": content, "finishReason": _REASONS.get(reason, reason), "index": 0}],
        "usageMetadata": _usage(as_object(body.get("usage"))),
        "modelVersion": body.get("model"),
        "responseId": body.get("id"),
    }


def _error(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error in Google's shape; another shape's type becomes the reason among the details."""
    kind, code = error.get("type"), error.get("code")
    code = code if type(code) is int else _CODES.get(kind, 400)
    status = error.get("status") or _STATUSES.get(code, "INVALID_ARGUMENT")
    made = {"code": code, "message": error.get("message"), "status": status}
    return made | ({"details": [{"reason": kind}]} if kind else {})


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts as this wire has them: here, those of the candidates do not include the reasoning."""
    reasoning = as_object(usage.get("completion_tokens_details")).get("reasoning_tokens")
    cached = as_object(usage.get("prompt_tokens_details")).get("cached_tokens")
    made = {"promptTokenCount": usage.get("prompt_tokens", 0)}
    made["candidatesTokenCount"] = usage.get("completion_tokens", 0) - (reasoning or 0)
    made["totalTokenCount"] = usage.get("total_tokens", 0)
    made |= {"thoughtsTokenCount": reasoning} if reasoning is not None else {}
    return made | ({"cachedContentTokenCount": cached} if cached is not None else {})


def events(response: Mapping[str, Any]) -> Iterator[NativeEvent]:
    """Yield the chunks of the stream that adds up to a response: texts in pieces, calls whole, the reason last."""
    about = {key: response[key] for key in ("modelVersion", "responseId") if key in response}
    _, candidate = next(objects(response.get("candidates")), (0, {}))
    pieces = [piece for _, part in objects(as_object(candidate.get("content")).get("parts")) for piece in _pieces(part)]
    for number, piece in enumerate(pieces or [{"text": ""}], 1):
        shown: dict[str, Any] = {"content": {"role": "model", "parts": [piece]}, "index": 0}
        ending = {}
        if number >= len(pieces):
            shown["finishReason"] = candidate.get("finishReason")
            ending = {"usageMetadata": response.get("usageMetadata")}
        yield NativeEvent("", {"candidates": [shown], **ending, **about})


def _pieces(part: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return a part as those of several chunks; what is signed and what is no text comes whole."""
    text = part.get("text")
    if type(text) is not str or "thoughtSignature" in part:
        return [part]
    return [{**part, "text": text[start : start + _PIECE]} for start in range(0, len(text) or 1, _PIECE)]
