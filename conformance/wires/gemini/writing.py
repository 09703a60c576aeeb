"""Chat completions as Gemini: requests, replies and their streams.

Neighbouring tool messages become one content, as this wire demands. Writing repairs nothing, so that the suites can
send deviations. `hold` takes from a transcript what this wire cannot hold, and names it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.wire.blocks import Block, blocks_of, reduced
from conformance.wire.content import AS_STRING, held_parts, joined_instructions, texts_of
from conformance.wire.ids import id_of_place, is_of_place
from conformance.wire.losses import Losses
from conformance.wire.native import OWN, Native, NativeEvent
from conformance.wire.pairing import PendingCalls
from conformance.wire.tool_choice import NamedChoice, limited_choice
from conformance.wire.values import as_object, objects, rendered
from conformance.wires.gemini.pairing import Waiting
from conformance.wires.gemini.parts import (
    CALLS,
    PARTS,
    details,
    id_of,
    is_alone,
    signature_of,
    with_signature,
    write_call,
    write_detail,
    write_response,
)
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
    made = conversation(body.get("messages"))
    if functions := [_function(as_object(tool.get("function"))) for _, tool in objects(body.get("tools"))]:
        made["tools"] = [{"functionDeclarations": functions}]
    if calling := _calling(body.get("tool_choice")):
        made["toolConfig"] = {"functionCallingConfig": calling}
    limit = {"max_tokens": body["max_completion_tokens"]} if "max_completion_tokens" in body else {}
    given = {**limit, **body}
    settings = {native: given[name] for native, name in SETTINGS.items() if name in given}
    configuration = {**as_object(body.get("generationConfig")), **settings}
    return made | ({"generationConfig": configuration} if configuration else {})


def conversation(canonical: Any) -> dict[str, Any]:
    """Return the instruction and the contents of a request."""
    made: dict[str, Any] = {}
    contents: list[dict[str, Any]] = []
    names = _CallNames()
    for _, message in objects(canonical):
        if message.get("role") in ("system", "developer") and not contents and not made:
            made["systemInstruction"] = {"parts": _said(message.get("content"))}
        else:
            _add(message, contents, names)
    return made | {"contents": contents}


class _CallNames:
    """The names of the functions that were called, for the results, which have one on this wire."""

    def __init__(self) -> None:
        self._pending: PendingCalls[Any] = PendingCalls()
        self._last: Any = _NO_CALL

    def start(self, calls: Sequence[Mapping[str, Any]]) -> None:
        named = [(call.get("id"), as_object(call.get("function")).get("name")) for call in calls]
        self._pending.start([(rendered(identity), (name,)) for identity, name in named])
        self._last = named[-1][1] if named else self._last

    def of_result(self, identity: Any) -> Any:
        """Return the name of the call that a result answers; that of the last call if it answers none."""
        found = self._pending.answer(rendered(identity))
        return self._last if found is None else found[0]


def _add(message: Mapping[str, Any], contents: list[dict[str, Any]], names: _CallNames) -> None:
    """Add a message; results that follow each other are one content."""
    role = message.get("role")
    if role == "assistant":
        names.start([call for _, call in objects(message.get("tool_calls"))])
        if OWN in message:
            contents.append(message[OWN])
            return
        parts = _parts(message)
    elif role == "tool":
        parts = [_result(message, names)]
        if contents and "functionResponse" in contents[-1]["parts"][-1]:
            contents[-1]["parts"] += parts
            return
    else:
        parts = _said(message.get("content"))
    contents.append({"role": _ROLES.get(role, role), "parts": parts or [{"text": ""}]})


def _said(content: Any) -> list[dict[str, Any]]:
    """Return a content as parts; what this wire has no form for keeps its own."""
    if type(content) is str:
        return [{"text": content}]
    return [PARTS.written_or_kept(part) for _, part in objects(content)]


def _result(message: Mapping[str, Any], names: _CallNames) -> dict[str, Any]:
    identity = message.get("tool_call_id")
    content, shown = _split(message.get("content"))
    answer = {**id_of(identity), "name": names.of_result(identity), "response": write_response(content)}
    return {"functionResponse": answer | ({"parts": shown} if shown else {})}


def _split(content: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Return what a result says, and its media: here they stand beside it, and only with their data."""
    if type(content) is not list:
        return content, []
    written = [(at, part, PARTS.written_or_kept(part)) for at, part in objects(content)]
    shown = {at: made for at, part, made in written if "inlineData" in made and made != part}
    said = [part for at, part in enumerate(content) if at not in shown]
    return said or ("" if shown else said), list(shown.values())


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the model said, thought and called as parts; a signature directly before a text belongs to it."""
    parts: list[dict[str, Any]] = []
    signature: dict[str, Any] = {}
    for block in _blocks(message):
        made: Any = {"text": block.value, **signature} if block.kind == "text" else _part(block)
        if type(made) is str:
            continue
        if signature and block.kind != "text":
            parts.append({"text": "", **signature})
        is_signature = block.kind == "detail" and "thought" not in made
        signature = {"thoughtSignature": made["thoughtSignature"]} if is_signature else {}
        parts += [] if is_signature else [made]
    return [*parts, {"text": "", **signature}] if signature else parts


def _blocks(message: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of an assistant message in their order; what is not an object, or not a text, is left out."""
    held = {key: [item for _, item in objects(message.get(key))] for key in ("tool_calls", "reasoning_details")}
    content, reasoning = message.get("content"), message.get("reasoning_content")
    if type(content) is not str:
        content = [part for _, part in objects(content)]
    return blocks_of({**held, "content": content, "reasoning_content": reasoning if type(reasoning) is str else None})


def _part(block: Block) -> dict[str, Any] | str:
    if block.kind == "call":
        return write_call(block.value)
    return write_detail(block.value) if block.kind == "detail" else PARTS.written_or_kept(block.value)


def hold(canonical: Sequence[Mapping[str, Any]], losses: Losses) -> list[dict[str, Any]]:
    """Return what this wire holds of a transcript's messages; the rest is noted, by its place among them."""
    holding = _Holding(joined_instructions(canonical, losses), losses)
    for position, message in enumerate(canonical):
        role, place = message["role"], (position,)
        if role == "assistant":
            holding.turn(message, place)
        elif role == "tool":
            holding.result(message, place)
        elif role == "user":
            holding.user(message, place)
        else:
            holding.instruction(message, place)
    return holding.held


class _Holding:
    """The messages that this wire holds, one after the other, and how their results will be paired."""

    def __init__(self, held: list[dict[str, Any]], losses: Losses) -> None:
        self.held = held
        self._losses = losses
        self._texts = held[0]["content"] if held else ""
        self._pending: PendingCalls[str] = PendingCalls()
        self._waiting = Waiting()
        self._turn = -1
        self._calls = 0

    def instruction(self, message: Mapping[str, Any], place: Place) -> None:
        """Note a list of one text, which is joined with the others already."""
        is_list = type(message["content"]) is list and any([part["text"] for part in message["content"]])
        if is_list and len(self._texts) == 1:
            self._losses.add((*place, "content"), AS_STRING)

    def user(self, message: Mapping[str, Any], place: Place) -> None:
        """Hold what a user says."""
        if "name" in message:
            self._losses.add((*place, "name"), "a user message has no name there")
        at = (*place, "content")
        content = held_parts(message["content"], at, self._losses, PARTS)
        if type(content) is list and len(content) == 1 and content[0]["type"] == "text":
            self._losses.add(at, AS_STRING)
        self.held.append({"role": "user", "content": content})

    def turn(self, message: Mapping[str, Any], place: Place) -> None:
        """Hold what the model says, thinks and calls."""
        if self.held and self.held[-1]["role"] == "assistant":
            self._waiting.continue_turn()
        else:
            self._waiting.clear()
            self._turn, self._calls = self._turn + 1, 0
        tied = {call["id"] for call in message.get("tool_calls") or () if signature_of(call) is None}
        given = message.get("reasoning_details") or ()
        kept = reduced(message, place, self._losses, details(tied), CALLS)
        if "reasoning_details" in kept and is_alone(blocks_of(kept)):
            self._losses.add((*place, "reasoning_details"), "one unsigned block comes back as reasoning_content")
        signatures = {
            detail["id"]: detail["data"]
            for detail in given
            if detail["type"] == "reasoning.encrypted" and detail.get("id") in tied
            if isinstance(write_detail(detail), dict)
        }
        calls = kept.get("tool_calls", ())
        self._pending.start([(call["id"], call["function"]["name"]) for call in calls])
        if calls:
            signed = [
                with_signature(call, signatures[call["id"]])
                if call["id"] in signatures and signature_of(call) is None
                else call
                for call in calls
            ]
            kept["tool_calls"] = [
                self._call(call, (*place, "tool_calls", number)) for number, call in enumerate(signed)
            ]
        self.held.append(kept)

    def _call(self, call: Mapping[str, Any], place: Place) -> dict[str, Any]:
        """Return a call with the id that it will be read with."""
        identity, own = call["id"], id_of_place(self._turn, self._calls)
        self._calls += 1
        if _is_absent(identity) and identity != own:
            self._losses.add((*place, "id"), "comes back as one that says where the call stands now")
        held = {**call, "id": own if _is_absent(identity) else identity}
        self._waiting.add(held["id"], call["function"]["name"])
        return held

    def result(self, message: Mapping[str, Any], place: Place) -> None:
        """Hold a result, if it answers a call."""
        identity = message["tool_call_id"]
        name = self._pending.answer(identity)
        if name is None:
            self._losses.add(place, "answers no call, but a function response requires the name of one")
            return
        at = (*place, "content")
        text = "".join(texts_of(message["content"], at, self._losses))
        if type(message["content"]) is not str:
            self._losses.add(at, AS_STRING)
        called = self._waiting.take(None if _is_absent(identity) else identity, name)
        if called is None or called.identity != identity:
            self._losses.add((*place, "tool_call_id"), "without an id, results belong to calls by name and order")
        held = identity if called is None else called.identity
        self.held.append({"role": "tool", "tool_call_id": held, "content": text})


def _is_absent(identity: str) -> bool:
    """Return whether an id is not on the wire."""
    return not identity or is_of_place(identity)


def _function(function: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: function[key] for key in ("name", "description") if key in function}
    return made | ({"parametersJsonSchema": function["parameters"]} if "parameters" in function else {})


def _calling(choice: Any) -> dict[str, Any]:
    limited = limited_choice(choice)
    if isinstance(limited, NamedChoice):
        return {"mode": "ANY", "allowedFunctionNames": [limited.name]}
    if limited is not None:
        # Names stand only beside these two modes; VALIDATED leaves the model free to answer.
        mode = "ANY" if limited.mode == "required" else "VALIDATED"
        return {"mode": mode, "allowedFunctionNames": list(limited.names)}
    return {"mode": _MODES[choice]} if type(choice) is str and choice in _MODES else {}


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


def named(identity: str, _asked: Mapping[str, Any]) -> tuple[str, str]:
    """Return the id that a reply has here, which is that in chat completions: what all begin with, and the rest."""
    return "", identity


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


def own(native: Native) -> Any:
    """Return the content of the first candidate of a reply; None if it has none."""
    _, candidate = next(objects(as_object(native.reply).get("candidates")), (0, {}))
    return candidate.get("content")


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
