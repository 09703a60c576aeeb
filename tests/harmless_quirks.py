"""What an honest gateway may do, further: schemas in other words, usage elsewhere, events in any allowed form."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from tests.gateways import DATA, on_streams, on_values


def _events(text: bytes) -> list[bytes]:
    return [each for each in text.split(b"\n\n") if each]


def _event(value: Any) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"


def _on_schemas(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def walk(value: Any) -> None:
        if isinstance(value, dict):
            change(value)
        if isinstance(value, (dict, list)):
            for each in list(value.values()) if isinstance(value, dict) else value:
                walk(each)

    def changed(body: dict[str, Any]) -> dict[str, Any]:
        made = copy.deepcopy(body)
        for tool in made.get("tools") or ():
            walk(tool["function"].get("parameters"))
        return made

    return changed


def _reversed(schema: dict[str, Any]) -> None:
    for key in ("required", "enum"):
        if isinstance(schema.get(key), list):
            schema[key] = schema[key][::-1]


def _alternatives(schema: dict[str, Any]) -> None:
    if isinstance(schema.get("type"), list):
        schema["anyOf"] = [{"type": each} for each in schema.pop("type")]


def _usage_apart(text: bytes) -> list[bytes]:
    return [part for event in _events(text) for part in _apart(event)]


def _apart(event: bytes) -> Iterator[bytes]:
    found = DATA.search(event)
    value: Any = orjson.loads(found[1]) if found else {}
    usage = value.pop("usage", None) if value.get("choices") else None
    yield event + b"\n\n" if not usage else _event(value)
    if usage:
        yield _event({**value, "choices": [], "usage": usage})


def _usage_joined(text: bytes) -> list[bytes]:
    made: list[bytes] = []
    for event in _events(text):
        found = DATA.search(event)
        value: Any = orjson.loads(found[1]) if found else {}
        last = DATA.search(made[-1]) if made else None
        if value.get("usage") and value.get("choices") == [] and last:
            made[-1] = _event({**orjson.loads(last[1]), "usage": value["usage"]})
        else:
            made.append(event + b"\n\n")
    return made


def _several_lines(text: bytes) -> list[bytes]:
    def lines(value: Any) -> bytes:
        return b"\n".join([b"data: " + line for line in json.dumps(value, indent=1).encode().split(b"\n")])

    return [DATA.sub(lambda match: lines(json.loads(match[1])), text)]


def _letters(text: bytes) -> list[bytes]:
    return [part for event in _events(text) for part in _by_letter(event)]


def _by_letter(event: bytes) -> Iterator[bytes]:
    found = DATA.search(event)
    value: Any = orjson.loads(found[1]) if found else {}
    delta = value["choices"][0]["delta"] if value.get("choices") else {}
    calls = delta.get("tool_calls") or [{}]
    arguments = calls[0].get("function", {}).get("arguments") or ""
    if len(calls) > 1 or len(arguments) < 2:
        yield event + b"\n\n"
        return
    for number, letter in enumerate(arguments):
        made = copy.deepcopy(value)
        call = made["choices"][0]["delta"]["tool_calls"][0]
        if number:
            piece = {"index": call["index"], "function": {"arguments": letter}}
            made["choices"][0]["delta"] = {"tool_calls": [piece]}
        else:
            call["function"]["arguments"] = letter
        yield _event(made)


def _on_deltas(change: Callable[[dict[str, Any]], None]) -> Callable[[Any], Any]:
    def changed(value: Any) -> Any:
        for choice in value.get("choices") or ():
            change(choice.get("message") or choice["delta"])
        return value

    return changed


def _two_names(message: dict[str, Any]) -> None:
    if message.get("reasoning_content"):
        message["reasoning"] = message["reasoning_content"]


def _defaults(body: dict[str, Any]) -> dict[str, Any]:
    defaults = {"tool_choice": "auto", "parallel_tool_calls": True} if body.get("tools") else {}
    return {"n": 1, **defaults, **body}


FURTHER = (
    ("required reversed", ("messages", "chat"), {"request": _on_schemas(_reversed)}),
    ("required reversed", ("chat", "gemini"), {"request": _on_schemas(_reversed)}),
    ("null as alternative", ("responses", "chat"), {"request": _on_schemas(_alternatives)}),
    ("usage apart", ("chat", "messages"), {"quirk": on_streams(_usage_apart)}),
    ("usage joined", ("chat", "chat"), {"quirk": on_streams(_usage_joined)}),
    (
        "a role in each delta",
        ("chat", "gemini"),
        {"quirk": on_values(_on_deltas(lambda d: d.update(role="assistant")))},
    ),
    ("defaults spelled out", ("gemini", "chat"), {"request": _defaults}),
    ("carriage returns", ("messages", "chat"), {"quirk": on_streams(lambda text: [text.replace(b"\n", b"\r")])}),
    ("data on several lines", ("responses", "chat"), {"quirk": on_streams(_several_lines)}),
    ("arguments by the letter", ("chat", "messages"), {"quirk": on_streams(_letters)}),
    ("two names of reasoning", ("chat", "messages"), {"quirk": on_values(_on_deltas(_two_names))}),
)
