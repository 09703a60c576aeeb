"""From the transcript to Gemini's contents."""

from typing import Any

from conformance.convert.dialects.gemini.parts import (
    CALLS,
    PARTS,
    details,
    generated_id,
    signature_of,
    with_signature,
    write_call,
    write_detail,
    write_response,
)
from conformance.documents.pointer import Place
from conformance.wire.blocks import Block, blocks_of, reduced
from conformance.wire.content import AS_STRING, instructions, texts_of, user_parts
from conformance.wire.losses import Converted, Losses
from conformance.wire.pairing import PendingCalls


def contents(canonical: list[dict[str, Any]]) -> Converted:
    """Return the instruction and contents of a request."""
    losses = Losses()
    texts = instructions(canonical, losses)
    writer = _Writer(losses)
    for position, message in enumerate(canonical):
        content = message.get("content")
        if message["role"] == "assistant":
            writer.model(message, (position,))
        elif message["role"] == "tool":
            writer.result(message, (position,))
        elif message["role"] == "user":
            writer.user(message, (position,))
        elif len(texts) == 1 and not isinstance(content, str) and any(part["text"] for part in content or ()):
            losses.add((position, "content"), AS_STRING)
    instruction = {"systemInstruction": {"parts": [{"text": text} for text in texts]}} if texts else {}
    return losses.converted({**instruction, "contents": writer.native})


class _Writer:
    """Writes one message after the other; a result gets the name of the call that it answers."""

    __slots__ = ("_calls", "_losses", "_pending", "_previous", "native")

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._calls = 0
        self._pending: PendingCalls[dict[str, Any]] = PendingCalls()
        self._previous = ""
        self.native: list[dict[str, Any]] = []

    def user(self, message: dict[str, Any], place: Place) -> None:
        """Add the content of a user."""
        if "name" in message:
            self._losses.add((*place, "name"), "a user message has no name there")
        at = (*place, "content")
        parts = user_parts(message["content"], at, self._losses, PARTS)
        if not isinstance(message["content"], str) and len(parts) == 1 and "text" in parts[0]:
            self._losses.add(at, AS_STRING)
        self.native.append({"role": "user", "parts": parts})
        self._previous = "user"

    def result(self, message: dict[str, Any], place: Place) -> None:
        """Add a function response; consecutive ones go into one content."""
        function_call = self._pending.answer(message["tool_call_id"])
        if function_call is None:
            self._losses.add(place, "answers no call, but a function response requires the name of one")
            return
        texts = texts_of(message["content"], (*place, "content"), self._losses)
        if not isinstance(message["content"], str):
            self._losses.add((*place, "content"), AS_STRING)
        part = {"functionResponse": {**function_call, "response": write_response("".join(texts))}}
        if self._previous == "tool":
            self.native[-1]["parts"].append(part)
        else:
            self.native.append({"role": "user", "parts": [part]})
        self._previous = "tool"

    def model(self, message: dict[str, Any], place: Place) -> None:
        """Add a content of the model: reasoning, texts and calls in their order."""
        tied = {call["id"] for call in message.get("tool_calls", ()) if signature_of(call) is None}
        kept = reduced(message, place, self._losses, details(tied), CALLS)
        signatures = {
            detail["id"]: detail["data"]
            for detail in message.get("reasoning_details") or ()
            if detail["type"] == "reasoning.encrypted" and detail.get("id") in tied
            if isinstance(write_detail(detail), dict)
        }
        parts = self._parts(blocks_of(kept), signatures)
        self.native.append({"role": "model", "parts": parts})
        written = [part["functionCall"] for part in parts if "functionCall" in part]
        self._pending.start(
            (call["id"], {key: value for key, value in function_call.items() if key != "args"})
            for call, function_call in zip(kept.get("tool_calls", ()), written, strict=True)
        )
        self._previous = "assistant"

    def _parts(self, blocks: list[Block], signatures: dict[str, str]) -> list[dict[str, Any]]:
        """Return blocks as parts; a signature directly before a text belongs to that text."""
        parts: list[dict[str, Any]] = []
        for block in blocks:
            if block.kind == "text":
                is_signed = bool(parts) and parts[-1].get("text") == "" and "thought" not in parts[-1]
                signature = parts.pop() if is_signed else {}
                parts.append({**signature, "text": block.value})
            elif block.kind == "call":
                parts.append(self._call(block.value, signatures))
            else:
                written: Any = write_detail(block.value)
                parts.append(written)
        return parts

    def _call(self, call: dict[str, Any], signatures: dict[str, str]) -> dict[str, Any]:
        """Return a call as a part; an id that was generated when Gemini's contents were read is left out."""
        is_signed = call["id"] in signatures and signature_of(call) is None
        part = write_call(with_signature(call, signatures[call["id"]]) if is_signed else call)
        if call["id"] == generated_id(self._calls):
            del part["functionCall"]["id"]
        self._calls += 1
        return part
