"""From Gemini's contents to the transcript."""

from typing import Any, Final, NamedTuple

from conformance.convert.canonical.assistant import Block, displaced, gather
from conformance.convert.canonical.held import content_of, passed
from conformance.convert.dialects import Converted, Loss, Losses
from conformance.convert.dialects.gemini.parts import (
    READ_PARTS,
    made_id,
    read_call,
    read_detail,
    read_response,
    write_response,
)
from conformance.documents.pointer import Place, parse, render

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
"""Keys that Gemini takes in two spellings; what lies within arguments and responses is left alone."""

_HELD: Final = {
    "text": ("text", "thought", "thoughtSignature"),
    "functionCall": ("functionCall", "thoughtSignature"),
    "functionResponse": ("functionResponse",),
}
_LOCAL: Final = "no place for it on the wire"


class _Call(NamedTuple):
    """A call that waits for its result."""

    id: str
    name: str


def transcript(native: dict[str, Any]) -> Converted:
    """Return the transcript of a body, whichever it is."""
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
        for position, content in enumerate(native.get("contents", ())):
            reader.add(content, ("contents", position))
    found, lost = losses.converted(reader.found)
    return Converted(found, tuple(_as_given(loss, given) for loss in lost))


def _as_given(loss: Loss, native: Any) -> Loss:
    """Return a loss whose pointer has the spelling of the body that was given."""
    place: list[str] = []
    for token in parse(loss.pointer):
        is_other = isinstance(native, dict) and token not in native
        place.append(next((name for name, key in _SPELLINGS.items() if key == token), token) if is_other else token)
        native = native[int(token)] if isinstance(native, list) else native[place[-1]]
    return Loss(render(tuple(place)), loss.reason)


def _spelled(value: dict[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return an object with the one spelling of its keys that comes back."""
    result = {}
    for key, item in value.items():
        if key in _SPELLINGS:
            losses.add((*place, key), f"comes back as {_SPELLINGS[key]}")
        result[_SPELLINGS.get(key, key)] = item
    return result


def _parts(content: dict[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return the parts of a content in one spelling, with that of the media in them."""
    for key in content:
        if key not in ("role", "parts"):
            losses.add((*place, key), _LOCAL)
    parts = []
    for number, given in enumerate(content.get("parts", ())):
        at = (*place, "parts", number)
        part = _spelled(given, at, losses)
        for key in ("inlineData", "fileData"):
            if isinstance(part.get(key), dict):
                part[key] = _spelled(part[key], (*at, key), losses)
        parts.append(part)
    return parts


class _Reader:
    """Reads one content after the other; a result without an id answers the first open call of its name."""

    __slots__ = ("_calls", "_losses", "_names", "_open", "found")

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._calls = 0
        self._names: dict[str, str] = {}
        self._open: list[_Call] = []
        self.found: list[dict[str, Any]] = []

    def instruct(self, content: dict[str, Any] | None) -> None:
        """Add the system message of an instruction."""
        if content is None:
            return
        place: Place = ("systemInstruction",)
        if "role" in content:
            self._losses.add((*place, "role"), "an instruction needs no role")
        words = []
        for number, part in enumerate(_parts(content, place, self._losses)):
            if part.get("text"):
                passed(part, (*place, "parts", number), self._losses, READ_PARTS)
                words.append(part["text"])
            else:
                self._losses.add((*place, "parts", number), "an instruction on the wire is text")
        if words:
            self.found.append({"role": "system", "content": content_of(words)})
        else:
            self._losses.add(place, "an empty system prompt is none")

    def candidates(self, given: list[dict[str, Any]]) -> None:
        """Add the message of the first candidate that a reply has."""
        for number in range(1, len(given)):
            self._losses.add(("candidates", number), "a transcript goes on with one candidate")
        is_said = bool((given[0].get("content") or {}).get("parts"))
        for key in given[0]:
            if key != "content" or not is_said:
                self._losses.add(("candidates", 0, key), "a transcript holds only messages")
        if is_said:
            self.add({"role": "model", **given[0]["content"]}, ("candidates", 0, "content"))

    def add(self, content: dict[str, Any], place: Place) -> None:
        """Add what one content is on the wire."""
        parts = _parts(content, place, self._losses)
        if content.get("role") == "model":
            self._model(parts, place)
            return
        if content.get("role") == "function":
            self._losses.add((*place, "role"), "comes back as user")
        answers = [number for number, part in enumerate(parts) if "functionResponse" in part]
        before = len(self.found)
        joined = bool(self.found) and self.found[-1]["role"] == "tool"
        for number in answers:
            self._result(parts[number], (*place, "parts", number))
        if joined and len(self.found) > before:
            self._losses.add(place, "stands with the results before it in one content")
        if len(answers) < len(parts) or not parts:
            self._user(parts, answers, place)
        if len(self.found) == before:
            self._losses.add(place, "nothing of it is left")

    def _user(self, parts: list[dict[str, Any]], answers: list[int], place: Place) -> None:
        said = []
        for number, part in enumerate(parts):
            at = (*place, "parts", number)
            if number in answers:
                continue
            if answers:
                self._losses.add(at, "stands after the results, in a content of its own")
            if part.get("text") == "":
                self._losses.add(at, "an empty text is none")
            elif (written := passed(part, at, self._losses, READ_PARTS)) is not None:
                said.append(written)
        is_text = len(said) == 1 and said[0]["type"] == "text"
        if said or not answers:
            self.found.append({"role": "user", "content": said[0]["text"] if is_text else said or ""})

    def _result(self, part: dict[str, Any], place: Place) -> None:
        within = (*place, "functionResponse")
        answer = part["functionResponse"]
        call = self._answered(answer.get("id"), answer["name"])
        if call is None:
            self._losses.add(place, "answers no call")
            return
        self._rest(part, "functionResponse", place)
        for key, value in answer.items():
            is_other = (key == "id" and value != call.id) or (key == "name" and value != call.name)
            if key not in ("id", "name", "response") or is_other:
                self._losses.add((*within, key), _LOCAL)
        response = answer.get("response") or {}
        text = read_response(response)
        if write_response(text) != response:
            self._losses.add((*within, "response"), "comes back as the object that its output spells")
        self.found.append({"role": "tool", "tool_call_id": call.id, "content": text})

    def _answered(self, ident: str | None, name: str) -> _Call | None:
        """Return the call that a result answers: by its id, else the first open one of its name, else just the first.

        Clients were recorded that put an id of their own into the name, and Gemini took it for the result of the call.
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
                self._losses.add(places[-1], "a signature comes back with the text after it")
            blocks += made
            places += [at] * len(made)
        for position in displaced(blocks):
            self._losses.add(places[position], "text stands before the calls on the wire")
        self._open = [call for call in earlier if call.id not in {each.id for each in self._open}] + self._open
        self.found.append(gather(blocks))

    def _blocks(self, part: dict[str, Any], place: Place) -> list[Block]:
        """Return a part of the model as blocks: a signature stands before the text that bears it."""
        if "functionCall" in part:
            self._rest(part, "functionCall", place)
            return [Block("call", self._call(part, place))]
        if not isinstance(part.get("text"), str):
            self._losses.add(place, "what Gemini runs or draws itself is no call and no text")
            return []
        self._rest(part, "text", place)
        if part.get("thought"):
            return [Block("detail", read_detail(part))]
        if "thought" in part:
            self._losses.add((*place, "thought"), "comes back without the word that this is none")
        if not part["text"] and "thoughtSignature" not in part:
            self._losses.add(place, "an empty text is none")
            return []
        signature = [Block("detail", read_detail({**part, "thought": False}))] if "thoughtSignature" in part else []
        return [*signature, Block("text", part["text"])] if part["text"] else signature

    def _call(self, part: dict[str, Any], place: Place) -> dict[str, Any]:
        asked = part["functionCall"]
        made = made_id(self._calls)
        self._calls += 1
        for key in asked:
            if key not in ("id", "name", "args") or (key == "id" and asked["id"] == made):
                self._losses.add((*place, "functionCall", key), _LOCAL)
        call = read_call({**part, "functionCall": {**asked, "id": asked.get("id", made)}})
        self._names[call["id"]] = asked["name"]
        self._open.append(_Call(call["id"], asked["name"]))
        return call

    def _rest(self, part: dict[str, Any], kind: str, place: Place) -> None:
        for key in part:
            if key not in _HELD[kind]:
                self._losses.add((*place, key), _LOCAL)


def _is_signature(block: Block) -> bool:
    return block.kind == "detail" and block.value["type"] == "reasoning.encrypted"
