"""From the transcript to Gemini's contents."""

from typing import Any

from conformance.convert.canonical.asked import Asked
from conformance.convert.canonical.assistant import Block, reduced, spread
from conformance.convert.canonical.held import AS_STRING, instructions, texts, user_parts
from conformance.convert.dialects import Converted, Losses
from conformance.convert.dialects.gemini.parts import (
    CALLS,
    PARTS,
    details,
    made_id,
    signature_of,
    signed,
    write_call,
    write_detail,
    write_response,
)
from conformance.documents.pointer import Place


def contents(canonical: list[dict[str, Any]]) -> Converted:
    """Return a request's instruction and contents."""
    losses = Losses()
    words = instructions(canonical, losses)
    writer = _Writer(losses)
    for position, message in enumerate(canonical):
        content = message.get("content")
        if message["role"] == "assistant":
            writer.model(message, (position,))
        elif message["role"] == "tool":
            writer.result(message, (position,))
        elif message["role"] == "user":
            writer.user(message, (position,))
        elif len(words) == 1 and not isinstance(content, str) and any(part["text"] for part in content or ()):
            losses.add((position, "content"), AS_STRING)
    instruction = {"systemInstruction": {"parts": [{"text": text} for text in words]}} if words else {}
    return losses.converted({**instruction, "contents": writer.native})


class _Writer:
    """Writes one message after the other; a result takes the name of the call that it answers."""

    __slots__ = ("_asked", "_calls", "_losses", "_previous", "native")

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._calls = 0
        self._asked: Asked[dict[str, Any]] = Asked()
        self._previous = ""
        self.native: list[dict[str, Any]] = []

    def user(self, message: dict[str, Any], place: Place) -> None:
        """Add a content of what a user says."""
        if "name" in message:
            self._losses.add((*place, "name"), "a user has no name")
        at = (*place, "content")
        parts = user_parts(message["content"], at, self._losses, PARTS)
        if not isinstance(message["content"], str) and len(parts) == 1 and "text" in parts[0]:
            self._losses.add(at, AS_STRING)
        self.native.append({"role": "user", "parts": parts})
        self._previous = "user"

    def result(self, message: dict[str, Any], place: Place) -> None:
        """Add a function response, to the content before it where that is of results too."""
        asked = self._asked.answered(message["tool_call_id"])
        if asked is None:
            self._losses.add(place, "answers no call, whose name a function response needs")
            return
        words = texts(message["content"], (*place, "content"), self._losses)
        if not isinstance(message["content"], str):
            self._losses.add((*place, "content"), AS_STRING)
        part = {"functionResponse": {**asked, "response": write_response("".join(words))}}
        if self._previous == "tool":
            self.native[-1]["parts"].append(part)
        else:
            self.native.append({"role": "user", "parts": [part]})
        self._previous = "tool"

    def model(self, message: dict[str, Any], place: Place) -> None:
        """Add a content of the model: thoughts, texts and calls in their order."""
        tied = {call["id"] for call in message.get("tool_calls", ()) if signature_of(call) is None}
        kept = reduced(message, place, self._losses, details(tied), CALLS)
        seals = {
            detail["id"]: detail["data"]
            for detail in message.get("reasoning_details") or ()
            if detail["type"] == "reasoning.encrypted" and detail.get("id") in tied
            if isinstance(write_detail(detail), dict)
        }
        parts = self._parts(spread(kept), seals)
        self.native.append({"role": "model", "parts": parts})
        written = [part["functionCall"] for part in parts if "functionCall" in part]
        self._asked.begin(
            (call["id"], {key: value for key, value in asked.items() if key != "args"})
            for call, asked in zip(kept.get("tool_calls", ()), written, strict=True)
        )
        self._previous = "assistant"

    def _parts(self, blocks: list[Block], seals: dict[str, str]) -> list[dict[str, Any]]:
        """Return blocks as parts; a signature that stands directly before a text is that text's own."""
        parts: list[dict[str, Any]] = []
        for block in blocks:
            if block.kind == "text":
                is_sealed = bool(parts) and parts[-1].get("text") == "" and "thought" not in parts[-1]
                seal = parts.pop() if is_sealed else {}
                parts.append({**seal, "text": block.value})
            elif block.kind == "call":
                parts.append(self._call(block.value, seals))
            else:
                written: Any = write_detail(block.value)
                parts.append(written)
        return parts

    def _call(self, call: dict[str, Any], seals: dict[str, str]) -> dict[str, Any]:
        """Return a call as a part, without an id where only the reader of Gemini's contents gave one."""
        is_sealed = call["id"] in seals and signature_of(call) is None
        part = write_call(signed(call, seals[call["id"]]) if is_sealed else call)
        if call["id"] == made_id(self._calls):
            del part["functionCall"]["id"]
        self._calls += 1
        return part
