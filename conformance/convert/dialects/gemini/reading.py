"""From Gemini's contents and streams to the transcript."""

from typing import Any, Final, NamedTuple

from conformance.convert.dialects.gemini.parts import (
    READ_PARTS,
    generated_id,
    read_call,
    read_detail,
    read_response,
    write_response,
)
from conformance.documents import parse_json
from conformance.documents.pointer import Place, parse, render
from conformance.errors import InvalidDocument
from conformance.wire import sse
from conformance.wire.blocks import Block, message_of, note_moved_texts
from conformance.wire.content import EMPTY_SYSTEM, EMPTY_TEXT, content_of
from conformance.wire.losses import Converted, Loss, Losses

_SPELLINGS: Final = {
    "system_instruction": "systemInstruction",
    "inline_data": "inlineData",
    "file_data": "fileData",
    "mime_type": "mimeType",
    "file_uri": "fileUri",
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "thought_signature": "thoughtSignature",
}
"""Keys that Gemini accepts in two spellings; arguments and responses are left alone."""

_HELD: Final = {
    "text": ("text", "thought", "thoughtSignature"),
    "functionCall": ("functionCall", "thoughtSignature"),
    "functionResponse": ("functionResponse",),
}
_LOCAL: Final = "the wire has no such field"


class _Call(NamedTuple):
    """A call without a result yet."""

    id: str
    name: str


def transcript(native: dict[str, Any]) -> Converted:
    """Return the transcript of a request or a reply; empty for any other body."""
    losses = Losses()
    reader = _Reader(losses)
    given, native = native, _spelled(native, (), losses)
    reply = native.get("candidates") if "contents" not in native else None
    for key in native:
        if key not in ("systemInstruction", "contents") and (key != "candidates" or not reply):
            losses.add((key,), "a transcript holds only messages")
    if reply:
        reader.candidates(reply)
    else:
        reader.instruct(native.get("systemInstruction"))
        for position, content in enumerate(_listed(native, "contents", (), losses)):
            reader.add(content, ("contents", position))
    found, lost = losses.converted(reader.found)
    return Converted(found, tuple(_as_given(loss, given) for loss in lost))


def _as_given(loss: Loss, native: Any) -> Loss:
    """Return a loss whose pointer has the spelling of the input, where a list of one may be the item itself."""
    place: list[str] = []
    for token in parse(loss.pointer):
        if place and place[-1] in ("contents", "parts") and isinstance(native, dict) and token.isdecimal():
            continue
        is_other = isinstance(native, dict) and token not in native
        place.append(next((name for name, key in _SPELLINGS.items() if key == token), token) if is_other else token)
        native = native[int(token)] if isinstance(native, list) else native[place[-1]]
    return Loss(render(tuple(place)), loss.reason)


def _spelled(value: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return an object with its keys in the spelling that comes back."""
    result = {}
    for key, item in value.items():
        if key in _SPELLINGS:
            losses.add((*place, key), f"comes back as {_SPELLINGS[key]}")
        result[_SPELLINGS.get(key, key)] = item
    return result


def _listed(value: dict[str, Any], key: str, place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return the items under a key; Gemini accepts one item without its list."""
    items: Any = value.get(key, [])
    if isinstance(items, list):
        return items
    losses.add((*place, key), "comes back as a list")
    return [items]


def _parts(content: dict[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return the parts of a content in one spelling, including the media in them."""
    for key in content:
        if key not in ("role", "parts"):
            losses.add((*place, key), _LOCAL)
    parts = []
    for number, given in enumerate(_listed(content, "parts", place, losses)):
        at = (*place, "parts", number)
        part = _spelled(given, at, losses)
        for key in ("inlineData", "fileData"):
            if isinstance(part.get(key), dict):
                part[key] = _spelled(part[key], (*at, key), losses)
        parts.append(part)
    return parts


class _Reader:
    """Reads one content after the other; a result without an id answers the first open call with its name."""

    __slots__ = ("_calls", "_losses", "_names", "_open", "found")

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._calls = 0
        self._names: dict[str, str] = {}
        self._open: list[_Call] = []
        self.found: list[dict[str, Any]] = []

    def instruct(self, content: dict[str, Any] | None) -> None:
        """Add the system message for an instruction."""
        if content is None:
            return
        place: Place = ("systemInstruction",)
        if "role" in content:
            self._losses.add((*place, "role"), "an instruction on the wire has no other role")
        texts = []
        for number, part in enumerate(_parts(content, place, self._losses)):
            if part.get("text"):
                READ_PARTS.convert(part, (*place, "parts", number), self._losses)
                texts.append(part["text"])
            else:
                self._losses.add((*place, "parts", number), "an instruction on the wire is text")
        if texts:
            self.found.append({"role": "system", "content": content_of(texts)})
        else:
            self._losses.add(place, EMPTY_SYSTEM)

    def candidates(self, given: list[dict[str, Any]]) -> None:
        """Add the message of a reply's first candidate."""
        for number in range(1, len(given)):
            self._losses.add(("candidates", number), "a transcript holds one candidate")
        has_parts = bool((given[0].get("content") or {}).get("parts"))
        for key in given[0]:
            if key != "content" or not has_parts:
                self._losses.add(("candidates", 0, key), "a transcript holds only messages")
        if has_parts:
            self.add({"role": "model", **given[0]["content"]}, ("candidates", 0, "content"))

    def add(self, content: dict[str, Any], place: Place) -> None:
        """Add the messages of the wire for one content."""
        parts = _parts(content, place, self._losses)
        if content.get("role") == "model":
            self._model(parts, place)
            return
        if content.get("role") == "function":
            self._losses.add((*place, "role"), "comes back as user")
        results = [number for number, part in enumerate(parts) if "functionResponse" in part]
        before = len(self.found)
        joined = bool(self.found) and self.found[-1]["role"] == "tool"
        for number in results:
            self._result(parts[number], (*place, "parts", number))
        if joined and len(self.found) > before:
            self._losses.add(place, "comes back in one content with the results before it")
        if len(results) < len(parts) or not parts:
            self._user(parts, results, place)
        if len(self.found) == before:
            self._losses.add(place, "nothing of it can be converted")

    def _user(self, parts: list[dict[str, Any]], results: list[int], place: Place) -> None:
        user_parts = []
        for number, part in enumerate(parts):
            at = (*place, "parts", number)
            if number in results:
                continue
            if results:
                self._losses.add(at, "comes back in a content of its own, after the results")
            if part.get("text") == "":
                self._losses.add(at, EMPTY_TEXT)
            elif (written := READ_PARTS.convert(part, at, self._losses)) is not None:
                user_parts.append(written)
        is_text = len(user_parts) == 1 and user_parts[0]["type"] == "text"
        if user_parts or not results:
            self.found.append({"role": "user", "content": user_parts[0]["text"] if is_text else user_parts or ""})

    def _result(self, part: dict[str, Any], place: Place) -> None:
        within = (*place, "functionResponse")
        response = part["functionResponse"]
        call = self._answered(response.get("id"), response["name"])
        if call is None:
            self._losses.add(place, "answers no call")
            return
        self._note_others(part, "functionResponse", place)
        for key, value in response.items():
            is_other = (key == "id" and value != call.id) or (key == "name" and value != call.name)
            if key not in ("id", "name", "response") or is_other:
                self._losses.add((*within, key), _LOCAL)
        given = response.get("response") or {}
        text = read_response(given)
        if write_response(text) != given:
            self._losses.add((*within, "response"), "comes back as the object in its output")
        self.found.append({"role": "tool", "tool_call_id": call.id, "content": text})

    def _answered(self, ident: str | None, name: str) -> _Call | None:
        """Return the call that a result answers: by its id, else the first open one with its name, else the first.

        Recorded clients put an id of their own into the name, and Gemini accepted it as the result of the call.
        """
        call = next((call for call in self._open if call.id == ident), None)
        if call is None and ident is not None and ident in self._names:
            return _Call(ident, self._names[ident])
        call = call or next((call for call in self._open if call.name == name), None) or next(iter(self._open), None)
        if call is not None:
            self._open.remove(call)
        return call

    def _model(self, parts: list[dict[str, Any]], place: Place) -> None:
        blocks: list[Block] = []
        places: list[Place] = []
        goes_on = bool(self.found) and self.found[-1]["role"] == "assistant"
        earlier, self._open = self._open if goes_on else [], []
        for number, part in enumerate(parts):
            at = (*place, "parts", number)
            made = self._blocks(part, at)
            if len(made) == 1 and made[0].kind == "text" and blocks and _is_signature(blocks[-1]):
                self._losses.add(places[-1], "a signature comes back with the text that follows it")
            blocks += made
            places += [at] * len(made)
        note_moved_texts(blocks, places, self._losses)
        self._open = [call for call in earlier if call.id not in {other.id for other in self._open}] + self._open
        self.found.append(message_of(blocks))

    def _blocks(self, part: dict[str, Any], place: Place) -> list[Block]:
        """Return a part of the model as blocks: the signature of a text comes before it."""
        if "functionCall" in part:
            self._note_others(part, "functionCall", place)
            return [Block("call", self._call(part, place))]
        if not isinstance(part.get("text"), str):
            self._losses.add(place, "code and media that Gemini makes are neither a call nor text")
            return []
        self._note_others(part, "text", place)
        if part.get("thought"):
            return [Block("detail", read_detail(part))]
        if "thought" in part:
            self._losses.add((*place, "thought"), "comes back without the flag, which is false")
        if not part["text"] and "thoughtSignature" not in part:
            self._losses.add(place, EMPTY_TEXT)
            return []
        signature = [Block("detail", read_detail({**part, "thought": False}))] if "thoughtSignature" in part else []
        return [*signature, Block("text", part["text"])] if part["text"] else signature

    def _call(self, part: dict[str, Any], place: Place) -> dict[str, Any]:
        function_call = part["functionCall"]
        generated = generated_id(self._calls)
        self._calls += 1
        for key in function_call:
            if key not in ("id", "name", "args") or (key == "id" and function_call["id"] == generated):
                self._losses.add((*place, "functionCall", key), _LOCAL)
        call = read_call({**part, "functionCall": {**function_call, "id": function_call.get("id", generated)}})
        self._names[call["id"]] = function_call["name"]
        self._open.append(_Call(call["id"], function_call["name"]))
        return call

    def _note_others(self, part: dict[str, Any], kind: str, place: Place) -> None:
        for key in part:
            if key not in _HELD[kind]:
                self._losses.add((*place, key), _LOCAL)


def _is_signature(block: Block) -> bool:
    return block.kind == "detail" and block.value["type"] == "reasoning.encrypted"


def assembled(stream: str | list[Any]) -> dict[str, Any]:
    """Return the reply of a stream, given as text or as a list of chunks, or the error that ends it.

    Consecutive texts are joined, unless a signature separates them. Raises InvalidDocument if the data of an event is
    not JSON, or the text is not an event stream.
    """
    reply: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    for chunk in _chunks(stream):
        if not isinstance(chunk, dict):
            continue
        if "error" in chunk:
            return chunk
        reply |= {key: value for key, value in chunk.items() if key != "candidates"}
        for candidate in _list(chunk, "candidates"):
            if isinstance(candidate, dict):
                index = candidate.get("index")
                _extend(candidates.setdefault(index if isinstance(index, int) else 0, {}), candidate)
    return {**reply, "candidates": list(candidates.values())} if candidates else reply


def _chunks(stream: str | list[Any]) -> list[Any]:
    if not isinstance(stream, str):
        return stream
    reading = sse.read(stream)
    if not reading.data and stream.strip():
        raise InvalidDocument("expected events, got text without any", "<stream>")
    return [parse_json(data, "<stream>") for data in reading.data]


def _extend(whole: dict[str, Any], candidate: dict[str, Any]) -> None:
    """Add a chunk's part of a candidate to the earlier ones."""
    content = candidate.get("content")
    whole |= {key: value for key, value in candidate.items() if key != "content"}
    if not isinstance(content, dict):
        return
    parts = _list(whole.get("content", {}), "parts")
    given = content.get("parts")
    for part in [given] if isinstance(given, dict) else _list(content, "parts"):
        if parts and _is_plain(parts[-1]) and _is_plain(part) and parts[-1].get("thought") == part.get("thought"):
            parts[-1] = {**parts[-1], "text": parts[-1]["text"] + part["text"]}
        else:
            parts.append(part)
    whole["content"] = {**content, "parts": parts} if parts else content


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return list(found) if isinstance(found, list) else []


def _is_plain(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}
