"""Chat completions as exchanges of the made-up wire."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.wire.losses import Losses
from conformance.wire.native import NativeEvent
from conformance.wire.values import objects

_WHO = {"assistant": "parrot", "tool": "chore", "system": "keeper"}


def request(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != "messages"} | conversation(body["messages"])


def conversation(canonical: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"utterances": [_utterance(message) for message in canonical]}


def hold(canonical: Sequence[Mapping[str, Any]], losses: Losses) -> list[dict[str, Any]]:
    held = []
    for position, message in enumerate(canonical):
        for key in message.keys() & {"reasoning_content", "reasoning_details", "name"}:
            losses.add((position, key), "a parrot has no such feather")
        held.append({key: message[key] for key in ("role", "content", "tool_calls", "tool_call_id") if key in message})
    return held


def reply(body: Mapping[str, Any], _asked: Mapping[str, Any]) -> dict[str, Any]:
    if "error" in body:
        return dict(body)
    return {
        "id": body.get("id"), "model": body.get("model"), "usage": body.get("usage"),
        "utterance": _utterance(body["choices"][0]["message"]),
    }  # fmt: skip


def events(whole: Mapping[str, Any]) -> Iterator[NativeEvent]:
    utterance = whole["utterance"]
    yield NativeEvent("", {"utterance": {"said": utterance["said"]}})
    yield NativeEvent("", {**whole, "utterance": {"chores": utterance.get("chores", [])}})


def _utterance(message: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"who": _WHO.get(message["role"], "visitor"), "said": message.get("content") or ""}
    if "tool_call_id" in message:
        made["tag"] = message["tool_call_id"]
    chores = [
        {"tag": call["id"], "what": call["function"]["name"], "how": call["function"]["arguments"]}
        for _, call in objects(message.get("tool_calls"))
    ]
    return made | ({"chores": chores} if chores else {})
