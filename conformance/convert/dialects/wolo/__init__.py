"""The messages of wolo, a Python agent with two layers: messages in parts inside, chat completions outside.

A tool part is a call together with its result. This module converts the inner messages; `requests` builds what the
agent sends, as documented and as it should be, `stream` applies the events of a reply, and `compaction` shortens a
session. Ids that are numbered as `to_native` does and fields with their default values are not lost. Source: "Wolo LLM
Message Structure Documentation".
"""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Final

from conformance.convert.dialects import CANONICAL, checked
from conformance.convert.dialects.wolo import calls
from conformance.convert.dialects.wolo.compaction import compact, prune, summarise
from conformance.convert.dialects.wolo.requests import request_headers, to_llm_messages, to_wire_messages
from conformance.convert.dialects.wolo.stream import TRANSITIONS, advance, apply
from conformance.documents.pointer import Place
from conformance.wire.content import AFTER_CALLS, AS_STRING
from conformance.wire.losses import Converted, Losses
from conformance.wire.pairing import paired_results
from conformance.wire.text import content_text

__all__ = [
    "TITLE",
    "TRANSITIONS",
    "advance",
    "apply",
    "compact",
    "prune",
    "request_headers",
    "summarise",
    "to_canonical",
    "to_llm_messages",
    "to_native",
    "to_wire_messages",
]

TITLE: Final = "The inner messages of the wolo agent: text parts, and tool parts with call and result."

_DEFAULTS: Final[dict[str, Any]] = {"timestamp": 0.0, "finish_reason": "", "metadata": {}}
_EMPTY_TURN: Final = "an assistant message with neither text nor calls is not sent"
_TIME_DEFAULTS: Final[dict[str, Any]] = {"start_time": 0.0, "end_time": 0.0}


@checked("wolo", CANONICAL)
def to_canonical(native: list[dict[str, Any]]) -> Converted:
    """Return the canonical transcript of the inner messages; the result of a call that has not ended is a note.

    A message that continues after its calls have ended becomes one message for each reply.
    """
    losses = Losses()
    numbers = count(1)
    messages: list[dict[str, Any]] = []
    number = 1
    for position, message in enumerate(native):
        if message["role"] == "assistant" and not any(map(_is_sent, message["parts"])):
            losses.add((position,), _EMPTY_TURN)
            continue
        _note_defaults(message, position, number, losses)
        for later, reply in enumerate(calls.replies(message)):
            if later:
                losses.add((position, "parts", reply[0][0]), "becomes a message of its own, after the results")
            content = _content(message["role"], reply, position, numbers, losses)
            reasoning = "" if later else message.get("reasoning_content", "")
            messages += _to_wire({"role": message["role"], "content": content}, reasoning, reply, position, losses)
            number += 1
    return losses.converted(messages)


@checked(CANONICAL, "wolo")
def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return the inner messages for a canonical transcript: numbered, finished, without times.

    A call with a result is completed; one without, or with the note, is pending. Results get the order of their calls.
    """
    losses = Losses()
    numbers = count(1)
    messages: list[dict[str, Any]] = []
    taken: set[int] = set()
    for position, message in enumerate(canonical):
        if (
            message["role"] == "assistant"
            and not message.get("tool_calls")
            and not content_text(message.get("content"))
        ):
            losses.add((position,), _EMPTY_TURN)
        elif message["role"] != "tool":
            answered = paired_results(canonical, position)
            taken.update(answered.values())
            results = {number: canonical[at]["content"] for number, at in answered.items()}
            native = _from_wire(message, position, numbers, losses)
            native["parts"] += _tool_parts(message, position, results, losses)
            messages.append({"id": f"msg_{len(messages) + 1:03}", **native})
            calls.note_results(canonical, [answered[number] for number in sorted(answered)], losses)
        elif position not in taken:
            losses.add((position,), "answers no call of the message before it")
    return losses.converted(messages)


def _is_sent(part: Mapping[str, Any]) -> bool:
    """Return whether a part makes its message one that is sent: a call, or text that is not empty."""
    return part["type"] == "tool" or bool(part.get("text"))


def _note_defaults(message: Mapping[str, Any], position: int, number: int, losses: Losses) -> None:
    if message["id"] != f"msg_{number:03}":
        losses.add((position, "id"), "messages of the wire have no ids")
    for key, default in _DEFAULTS.items():
        if message.get(key, default) != default:
            losses.add((position, key), "the wire has no such field")
    if not message.get("finished"):
        place = (position, "finished") if "finished" in message else (position,)
        losses.add(place, "a message of the wire is always finished")


def _content(role: str, reply: calls.Reply, position: int, numbers: Iterator[int], losses: Losses) -> Any:
    """Return the texts of a reply as content: none is "", one is a string, several are parts."""
    text_parts = [(number, part) for number, part in reply if part["type"] == "text"]
    first_call = next((number for number, part in reply if part["type"] == "tool"), None)
    texts: list[str] = []
    for number, part in text_parts:
        place = (position, "parts", number)
        text = part.get("text", "")
        if len(text_parts) == 1 and not text:
            losses.add(place, "one empty text is the same as none")
            continue
        texts.append(text)
        if part["id"] != f"text_{next(numbers):03}":
            losses.add((*place, "id"), "texts of the wire have no ids")
        if role == "assistant" and first_call is not None and number > first_call:
            losses.add(place, AFTER_CALLS)
    return [{"type": "text", "text": text} for text in texts] if len(texts) > 1 else "".join(texts)


def _to_wire(
    result: dict[str, Any], reasoning: str, reply: calls.Reply, position: int, losses: Losses
) -> list[dict[str, Any]]:
    """Return a reply's message with its reasoning and calls, and the results of the calls that have ended."""
    tools = [(number, part) for number, part in reply if part["type"] == "tool"]
    if result["role"] != "assistant":
        if reasoning:
            losses.add((position, "reasoning_content"), "only assistant messages have reasoning")
        for number, _ in tools:
            losses.add((position, "parts", number), "only assistant messages have tool calls")
        return [result]
    if reasoning:
        result["reasoning_content"] = reasoning
    if tools:
        result["tool_calls"] = [calls.to_wire(part) for _, part in tools]
    results = [_result(part, (position, "parts", number), losses) for number, part in tools]
    return [result, *results]


def _result(part: Mapping[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return the tool message of a call, with a note if it has not ended: the wire requires a result for each call."""
    for key, default in _TIME_DEFAULTS.items():
        if part.get(key, default) != default:
            losses.add((*place, key), "the wire has no times of tool runs")
    status = part.get("status", "pending")
    if status in ("completed", "failed"):
        if status == "failed":
            losses.add((*place, "status"), "the wire has no flag for a failure, only its text")
        if part.get("output") == calls.UNFINISHED:
            losses.add((*place, "status"), "its output is the note of a call that has not ended; comes back pending")
        return {"role": "tool", "tool_call_id": part["id"], "content": part.get("output", "")}
    if status == "running":
        losses.add((*place, "status"), "the wire cannot hold that a tool is running; the call comes back pending")
    if part.get("output"):
        losses.add((*place, "output"), "a call that has not ended has no result")
    return {"role": "tool", "tool_call_id": part["id"], "content": calls.UNFINISHED}


def _from_wire(message: Mapping[str, Any], position: int, numbers: Iterator[int], losses: Losses) -> dict[str, Any]:
    role = message["role"]
    for key in ("name", "refusal", "audio", "reasoning_details"):
        if message.get(key) is not None:
            losses.add((position, key), "a message of the agent has no such field")
    if role == "developer":
        losses.add((position, "role"), "the agent has no developer role; comes back as system")
        role = "system"
    content = message.get("content") or []
    texts = []
    for number, part in enumerate([{"type": "text", "text": content}] if isinstance(content, str) else content):
        if part["type"] == "text":
            texts.append(part["text"])
        else:
            losses.add((position, "content", number), "a part of the agent is text or a tool")
    if len(texts) == 1 and not isinstance(content, str):
        losses.add((position, "content"), AS_STRING)
    texts = [] if texts == [""] else texts
    parts = [{"id": f"text_{next(numbers):03}", "type": "text", "text": text} for text in texts]
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
        output = calls.joined(results.get(number, calls.UNFINISHED))
        if number not in results:
            losses.add((position, "tool_calls", number), "a call without a result comes back with a note as its result")
        ended = {"status": "completed", "output": output}
        parts.append({**part, **({"status": "pending"} if output == calls.UNFINISHED else ended)})
    return parts
