"""The walk over what Gemini holds of a conversation: once for the judge, and with every loss named for the converter.

A call without an id gets one from its place among the model's turns, and the result of the same name or position gets
the same: this wire pairs them so. A signature stands in the call that it came with; that of a thought or a text is a
detail of its own, before the text.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place
from conformance.wire.blocks import Block
from conformance.wire.content import EMPTY_SYSTEM, EMPTY_TEXT, content_of
from conformance.wire.drafts import Draft, Transcript
from conformance.wire.ids import id_of_place, is_of_place
from conformance.wire.read_requests import ReadRequests
from conformance.wire.values import objects, rendered
from conformance.wires.gemini.names import SPELLINGS, of_either
from conformance.wires.gemini.pairing import Called, Waiting
from conformance.wires.gemini.parts import (
    LOCAL,
    READ_PARTS,
    is_alone,
    read_call,
    read_detail,
    read_part,
    read_response,
    write_response,
)

_SIGNATURE: Final = ("thoughtSignature", "thought_signature")
_SAID: Final = frozenset({"text", "thought", *_SIGNATURE})
_CALLING: Final = frozenset({"functionCall", "function_call", *_SIGNATURE})
_CALLED: Final = frozenset({"id", "name", "args"})
_ANSWERED: Final = frozenset({"id", "name", "response"})
_BLOBS: Final = ("inlineData", "inline_data", "fileData", "file_data")
_SHOWN: Final = frozenset({"text", *_BLOBS})
_BLOB: Final = frozenset({"mimeType", "mime_type", "data", "fileUri", "file_uri"})

Parts = Sequence[tuple[Place, Mapping[str, Any]]]
"""The parts of a content, each with its place."""


class TurnMark(NamedTuple):
    """What a walk knows where a turn of the model begins: how many were before, and how many calls do not wait."""

    turn: int
    answered: int


class ContentsWalk:
    """Hands what contents hold to a draft, one content after the other, as it stands.

    `draft`: takes the messages. What has no counterpart keeps its own form, or is passed over.
    """

    marks_before = True
    notes = False
    """Whether it notes what is not read: a call for each part would cost the judge more than the part itself."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.waiting = Waiting()
        self._turn = -1
        self._calls = 0
        self._began: TurnMark | None = None

    def mark(self) -> TurnMark | None:
        """Return what another walk goes on with from before the content that was just read, if a turn begins there."""
        return self._began

    def resume(self, earlier: "ContentsWalk", mark: TurnMark) -> None:
        """Go on with a new turn of the model, as an earlier walk did."""
        self._turn = mark.turn
        self.waiting.go_on(earlier.waiting.settled(mark.answered))

    def request(self, body: Mapping[str, Any], place: Place, read: ReadRequests | None = None) -> None:
        """Read the instruction and the contents of a request that is at a place; `read`: the requests before it."""
        key = "systemInstruction" if "systemInstruction" in body else "system_instruction"
        if system := body.get(key):
            self.draft.instruct(content_of(self._instructions(system, (*place, key))), (*place, key))
        elif system is not None:
            self.draft.lose((*place, key), EMPTY_SYSTEM)
        contents, inside = body.get("contents"), (*place, "contents")
        if type(contents) is dict:
            self.draft.lose(inside, "comes back as a list")
            self.content(contents, inside)
        if read is not None:
            read.into(self.draft, contents, _read_content, inside, self)
            return
        for number, content in objects(contents):
            self.content(content, (*inside, number))

    def _instructions(self, system: Any, place: Place) -> list[str]:
        if type(system) is not dict:
            return [system] if type(system) is str else []
        self.note(system, ("role", "parts"), place)
        if system.get("role") is not None:
            self.draft.lose((*place, "role"), "an instruction on the wire has no other role")
        texts = []
        for at, part in self.parts(system, place):
            if type(part.get("text")) is str and part["text"]:
                self.note(part, ("text",), at)
                texts.append(part["text"])
            else:
                self.draft.lose(at, "an instruction on the wire is text")
        return texts

    def parts(self, content: Mapping[str, Any], place: Place) -> Parts:
        """Return the parts of a content that is at a place."""
        given, inside = content.get("parts"), (*place, "parts")
        if type(given) is list:
            return [((*inside, number), part) for number, part in enumerate(given) if type(part) is dict]
        if type(given) is not dict:
            return []
        self.draft.lose(inside, "comes back as a list")
        return [(inside, given)]

    def note(self, value: Mapping[str, Any], known: Container[str], place: Place) -> None:
        """Note the members of a value that are not read, and those that come back under another name."""
        for key in value:
            if key in SPELLINGS and key in known:
                self.draft.lose((*place, key), f"comes back as {SPELLINGS[key]}")
        self.draft.rest(value, known, place, LOCAL)

    def content(self, content: Mapping[str, Any], place: Place) -> None:
        """Read a content that is at a place."""
        role, parts = content.get("role"), self.parts(content, place)
        self._began = None
        if self.notes:
            self.note(content, ("role", "parts"), place)
            if content.get("parts") == []:
                self.draft.lose((*place, "parts"), "comes back as an empty text")
        if role != "model":
            if role == "function":
                self.draft.lose((*place, "role"), "comes back as user")
            # Most contents of a user are one text, and the judge has nothing to note of it.
            if len(parts) == 1 and type(parts[0][1].get("text")) is str and not self.notes:
                self.draft.add({"role": "user", "content": parts[0][1]["text"]}, place)
            else:
                self._user(parts, place)
            return
        messages = self.draft.messages
        if messages and messages[-1]["role"] == "assistant":
            self.waiting.continue_turn()
        else:
            self.waiting.clear()
            self._began = TurnMark(self._turn, len(self.waiting))
            self.begin()
        self.draft.turn(self.blocks(parts), place)

    def begin(self) -> None:
        """Begin a turn of the model, whose calls are counted from its beginning."""
        self._turn += 1
        self._calls = 0

    def blocks(self, parts: Parts) -> Iterator[Block]:
        """Yield the texts, thinking, signatures and calls of the model; the place of a call is that of its value."""
        for place, part in parts:
            key = "functionCall" if "functionCall" in part else "function_call"
            if type(part.get(key)) is dict:
                call = read_call(part, id_of_place(self._turn, self._calls))
                self._calls += 1
                self.waiting.add(call["id"], call["function"]["name"])
                yield Block("call", call, (*place, key))
                continue
            text = part.get("text")
            if type(text) is not str:
                continue
            if part.get("thought"):
                yield Block("detail", read_detail(part), place)
                continue
            is_signed = of_either(part, "thoughtSignature") is not None
            if is_signed:
                yield Block("detail", read_detail(part), place)
            if text or not is_signed:
                yield Block("text", text, place)

    def _user(self, parts: Parts, place: Place) -> None:
        """Add the results in a content, then what the user says beside them as one message."""
        said, answers = [], 0
        for at, part in parts:
            key = "functionResponse" if "functionResponse" in part else "function_response"
            if type(part.get(key)) is dict:
                answers += 1
                identity = part[key].get("id") or None
                called = self.waiting.take(identity, part[key].get("name"))
                self._answer(part, key, called, at)
            else:
                said.append((at, part))
        if said or not answers:
            self._say(said, place, answers)

    def _answer(self, part: Mapping[str, Any], key: str, called: Called | None, place: Place) -> None:
        """Add a result; one that belongs to no call keeps its own id, or gets one that no call has."""
        draft, answer = self.draft, part[key]
        own = answer.get("id") or f"unpaired.{len(draft.messages)}"
        identity = called.identity if called is not None and _is_its(called, answer) else own
        content = read_response(answer.get("response"))
        shown = draft.pieces(READ_PARTS, answer["parts"], (*place, key, "parts")) if "parts" in answer else ()
        if shown and (type(content) is list or type(content) is str):
            said = [{"type": "text", "text": content}] if content and type(content) is str else list(content)
            content = [*said, *shown]
        draft.add({"role": "tool", "tool_call_id": identity, "content": content}, place)

    def _say(self, said: list[tuple[Place, Mapping[str, Any]]], place: Place, _answers: int) -> None:
        """Add a message of the user; a single text is a string."""
        if len(said) == 1 and type(said[0][1].get("text")) is str:
            self.draft.add({"role": "user", "content": said[0][1]["text"]}, place)
        else:
            self.draft.add(
                {"role": "user", "content": [self.draft.piece(READ_PARTS, part, at) for at, part in said]}, place
            )


def _read_content(content: Mapping[str, Any], place: Place, walk: ContentsWalk) -> None:
    walk.content(content, place)


class TranscriptWalk(ContentsWalk):
    """Hands what contents hold to a transcript, and notes what it cannot hold, or not as it stands."""

    draft: Transcript
    notes = True

    def candidates(self, given: list[dict[str, Any]]) -> None:
        """Read the first candidate of a reply as the only message; none if it has no parts."""
        for number in range(1, len(given)):
            self.draft.lose(("candidates", number), "a transcript holds one candidate")
        first = given[0]
        has_parts = bool((first.get("content") or {}).get("parts"))
        place = ("candidates", 0)
        self.draft.rest(first, ("content",) if has_parts else (), place, "a transcript holds only messages")
        if has_parts:
            self.content({"role": "model", **first["content"]}, (*place, "content"))

    def blocks(self, parts: Parts) -> Iterator[Block]:
        """Yield the blocks of the model; an empty text that is all there is stays an empty message."""
        found: list[Block] = []
        for place, part in parts:
            self._note_part(part, place)
            made = list(super().blocks([(place, part)]))
            last = found[-1] if found else None
            if last is not None and _is_signature(last) and [block.kind for block in made if block.value] == ["text"]:
                self.draft.lose(last.place, "a signature comes back with the text that follows it")
            found += made
        if is_alone(found):
            # Without a format, it becomes the plain reasoning of its message.
            found[0].value.pop("format")
        return iter([] if [block[:2] for block in found] == [("text", "")] else found)

    def _note_part(self, part: Mapping[str, Any], place: Place) -> None:
        key = "functionCall" if "functionCall" in part else "function_call"
        if type(part.get(key)) is dict:
            given = part[key].get("id")
            self.note(part, _CALLING, place)
            self.note(part[key], _CALLED, (*place, key))
            if given is not None and (not given or is_of_place(given)):
                self.draft.lose((*place, key, "id"), LOCAL)
        elif type(part.get("text")) is not str:
            self.draft.lose(place, "code and media that Gemini makes are neither a call nor text")
        else:
            self.note(part, _SAID, place)
            if part.get("thought") is False:
                self.draft.lose((*place, "thought"), "comes back without the flag, which is false")

    def _user(self, parts: Parts, place: Place) -> None:
        messages = self.draft.messages
        before = len(messages)
        super()._user(parts, place)
        if len(messages) == before:
            self.draft.lose(place, "nothing of it can be converted")
        elif messages[before]["role"] == "tool" and before and messages[before - 1]["role"] == "tool":
            self.draft.lose(place, "comes back in one content with the results before it")

    def _answer(self, part: Mapping[str, Any], key: str, called: Called | None, place: Place) -> None:
        if called is None:
            self.draft.lose(place, "answers no call")
            return
        answer, within = part[key], (*place, key)
        self.note(part, ("functionResponse", "function_response"), place)
        self.note(answer, _ANSWERED, within)
        if answer.get("id") and answer["id"] != called.identity:
            self.draft.lose((*within, "id"), LOCAL)
        if answer.get("name") != called.name:
            self.draft.lose((*within, "name"), LOCAL)
        given = answer.get("response") or {}
        content = read_response(given)
        if type(content) is not str:
            content = rendered(given["output"])
        if write_response(content) != given:
            self.draft.lose((*within, "response"), "comes back as another object that says the same")
        self.draft.add({"role": "tool", "tool_call_id": called.identity, "content": content}, place)

    def _say(self, said: list[tuple[Place, Mapping[str, Any]]], place: Place, answers: int) -> None:
        shown = []
        for at, part in said:
            if answers:
                self.draft.lose(at, "comes back in a content of its own, after the results")
            if part.get("text") == "" and len(said) > 1:
                self.draft.lose(at, EMPTY_TEXT)
            elif (made := self._shown(part, at)) is not None:
                shown.append(made)
        if shown or not answers:
            is_text = len(shown) == 1 and shown[0]["type"] == "text"
            content: Any = shown[0]["text"] if is_text else shown or ""
            self.draft.add({"role": "user", "content": content}, place)

    def _shown(self, part: Mapping[str, Any], place: Place) -> dict[str, Any] | None:
        """Return a user's part as a content part; None if there is none."""
        made = read_part(part)
        if isinstance(made, str):
            self.draft.lose(place, made)
            return None
        self.note(part, _SHOWN, place)
        for key in _BLOBS:
            if type(part.get(key)) is dict:
                self.note(part[key], _BLOB, (*place, key))
        return made


def _is_its(called: Called, answer: Mapping[str, Any]) -> bool:
    """Return whether a result stands for its call by that call's id: it has no id of its own, or the call has none.

    A result of a call without an id may have one: https://github.com/google-gemini/gemini-cli/issues/6974.
    """
    return not answer.get("id") or (type(called.identity) is str and is_of_place(called.identity))


def _is_signature(block: Block) -> bool:
    return block.kind == "detail" and "data" in block.value
