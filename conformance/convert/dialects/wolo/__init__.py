"""The messages of wolo, a Python agent with two layers: messages in parts inside, chat completions outside.

A tool part is a call and its result in one. This module takes the inner messages to the canonical transcript with
all they say; `requests` builds what the agent sends, as it is documented and as it should be, `stream` applies what
comes back, and `compaction` shortens a session. What comes back as it was is not lost: ids that are numbered as
`to_native` numbers them, and fields at their defaults. Source: "Wolo LLM Message Structure Documentation".
"""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Final

from conformance.convert.canonical.held import AS_STRING
from conformance.convert.dialects import Converted, Losses, answers
from conformance.convert.dialects.wolo import calls
from conformance.convert.dialects.wolo.compaction import compact, prune, summarise
from conformance.convert.dialects.wolo.requests import mended, request_headers, to_llm_messages
from conformance.convert.dialects.wolo.stream import TRANSITIONS, advance, apply
from conformance.documents.pointer import Place

__all__ = [
    "TITLE",
    "TRANSITIONS",
    "advance",
    "apply",
    "compact",
    "mended",
    "prune",
    "request_headers",
    "summarise",
    "to_canonical",
    "to_llm_messages",
    "to_native",
]

TITLE: Final = "The inner messages of the wolo agent: text and tool parts, a call and its result in one."

_KEPT: Final[dict[str, Any]] = {"timestamp": 0.0, "finish_reason": "", "metadata": {}}
_TIMED: Final[dict[str, Any]] = {"start_time": 0.0, "end_time": 0.0}


def to_canonical(native: list[dict[str, Any]]) -> Converted:
    """Return the canonical transcript of the inner messages; a call that has not ended has no result there.

    A message that goes on after its calls have ended is several on the wire, one a reply.
    """
    losses = Losses()
    numbers = count(1)
    messages: list[dict[str, Any]] = []
    told = 1
    for position, message in enumerate(native):
        _note_kept(message, position, told, losses)
        for later, reply in enumerate(calls.replies(message)):
            if later:
                losses.add((position, "parts", reply[0][0]), "said after the results, so in a message of its own")
            content = _content(message["role"], reply, position, numbers, losses)
            reasoning = "" if later else message.get("reasoning_content", "")
            messages += _to_wire({"role": message["role"], "content": content}, reasoning, reply, position, losses)
            told += 1
    return losses.converted(messages)


def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return the inner messages for a canonical transcript: numbered, finished, without times.

    A call whose result follows is completed, any other is pending. Results take the order of their calls.
    """
    losses = Losses()
    numbers = count(1)
    messages: list[dict[str, Any]] = []
    taken: set[int] = set()
    for position, message in enumerate(canonical):
        if message["role"] != "tool":
            answered, _ = answers(canonical, position)
            taken.update(answered.values())
            results = {number: canonical[at]["content"] for number, at in answered.items()}
            native = _from_wire(message, position, numbers, losses)
            native["parts"] += _tool_parts(message, position, results, losses)
            messages.append({"id": f"msg_{len(messages) + 1:03}", **native})
            calls.note_results(canonical, [answered[number] for number in sorted(answered)], losses)
        elif position not in taken:
            losses.add((position,), "answers no call of the message before it")
    return losses.converted(messages)


def _note_kept(message: Mapping[str, Any], position: int, number: int, losses: Losses) -> None:
    if message["id"] != f"msg_{number:03}":
        losses.add((position, "id"), "messages of the wire have no ids")
    for key, default in _KEPT.items():
        if message.get(key, default) != default:
            losses.add((position, key), "kept by the agent; a message of the wire has no such field")
    if not message.get("finished"):
        place = (position, "finished") if "finished" in message else (position,)
        losses.add(place, "a message of the wire is finished")


def _content(role: str, reply: calls.Reply, position: int, numbers: Iterator[int], losses: Losses) -> Any:
    """Return the texts of a reply: none is "", one a string, several are parts."""
    spoken = [(number, part) for number, part in reply if part["type"] == "text"]
    called = next((number for number, part in reply if part["type"] == "tool"), None)
    texts: list[str] = []
    for number, part in spoken:
        place = (position, "parts", number)
        text = part.get("text", "")
        if len(spoken) == 1 and not text:
            losses.add(place, "a message with one empty text says no more than one with none")
            continue
        texts.append(text)
        if part["id"] != f"text_{next(numbers):03}":
            losses.add((*place, "id"), "texts of the wire have no ids")
        if role == "assistant" and called is not None and number > called:
            losses.add(place, "the wire has a message's text before its calls; the text moves there")
    return [{"type": "text", "text": text} for text in texts] if len(texts) > 1 else "".join(texts)


def _to_wire(
    result: dict[str, Any], reasoning: str, reply: calls.Reply, position: int, losses: Losses
) -> list[dict[str, Any]]:
    """Return a reply's message with its reasoning and its calls, and the results of those that have ended."""
    tools = [(number, part) for number, part in reply if part["type"] == "tool"]
    if result["role"] != "assistant":
        if reasoning:
            losses.add((position, "reasoning_content"), "only an assistant reasons")
        for number, _ in tools:
            losses.add((position, "parts", number), "only an assistant calls tools")
        return [result]
    if reasoning:
        result["reasoning_content"] = reasoning
    if tools:
        result["tool_calls"] = [calls.to_wire(part) for _, part in tools]
    return [result, *(each for number, part in tools for each in _result(part, (position, "parts", number), losses))]


def _result(part: Mapping[str, Any], place: Place, losses: Losses) -> list[dict[str, Any]]:
    """Return the tool message of a call that has ended; nothing where it has not."""
    for key, default in _TIMED.items():
        if part.get(key, default) != default:
            losses.add((*place, key), "the wire does not say when a tool ran")
    status = part.get("status", "pending")
    if status in ("completed", "failed"):
        if status == "failed":
            losses.add((*place, "status"), "the wire has no flag for a failure; its text is the result")
        return [{"role": "tool", "tool_call_id": part["id"], "content": part.get("output", "")}]
    if status == "running":
        losses.add((*place, "status"), "the wire does not say that a tool has begun; the call comes back pending")
    if part.get("output"):
        losses.add((*place, "output"), "a call that has not ended has no result")
    return []


def _from_wire(message: Mapping[str, Any], position: int, numbers: Iterator[int], losses: Losses) -> dict[str, Any]:
    role = message["role"]
    for key in ("name", "refusal", "audio", "reasoning_details"):
        if message.get(key) is not None:
            losses.add((position, key), "a message of the agent has no such field")
    if role == "developer":
        losses.add((position, "role"), "there is no developer here; the message becomes the system's")
        role = "system"
    content = message.get("content") or []
    texts = []
    for number, part in enumerate([{"type": "text", "text": content}] if isinstance(content, str) else content):
        if part["type"] == "text":
            texts.append(part["text"])
        else:
            losses.add((position, "content", number), "a part of the agent's is text or a tool")
    if len(texts) == 1 and not isinstance(content, str):
        losses.add((position, "content"), AS_STRING)
    spoken = [] if texts == [""] else texts
    parts = [{"id": f"text_{next(numbers):03}", "type": "text", "text": text} for text in spoken]
    native = {"role": role, "parts": parts, "timestamp": 0.0, "finished": True}
    reasoning = calls.reasoning(message, position, losses)
    return {**native, "reasoning_content": reasoning} if reasoning else native


def _tool_parts(
    message: Mapping[str, Any], position: int, results: Mapping[int, Any], losses: Losses
) -> list[dict[str, Any]]:
    parts = []
    for number, call in enumerate(message.get("tool_calls") or ()):
        arguments = calls.parsed(call, (position, "tool_calls", number), losses)
        part = {"id": call["id"], "type": "tool", "tool": call["function"]["name"], "input": arguments}
        if number in results:
            parts.append({**part, "status": "completed", "output": calls.joined(results[number])})
        else:
            parts.append({**part, "status": "pending"})
    return parts
