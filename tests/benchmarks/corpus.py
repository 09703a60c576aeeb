"""A seeded corpus of agent traffic: the same seed gives the same bytes.

The sizes are those of coding agents' requests: a long system message, a dozen tools, a history of tool turns whose
results are files and command output, reasoning beside the calls; a part of the replies is streamed.
"""

import random
from typing import Any, NamedTuple

import orjson

WORDS = (
    "the a of to in for with on that this file line value error test build call result list index name type path "
    "return import class def self None True False assert while if else raise yield lambda config schema parser"
).split()


class Sample(NamedTuple):
    """One exchange as bytes: the request body, and the reply as a body or as the data of a stream's events."""

    request: bytes
    reply: bytes
    events: tuple[bytes, ...]

    @property
    def documents(self) -> tuple[bytes, ...]:
        """Return every JSON text of the exchange."""
        return (self.request, *(self.events or (self.reply,)))


def samples(seed: int = 20261121, count: int = 60) -> list[Sample]:
    """Return the corpus."""
    source = random.Random(seed)  # noqa: S311 — repeatable, not secret
    return [_sample(source, number) for number in range(count)]


def _text(source: random.Random, median: float, newline: float = 0.08) -> str:
    length = int(source.lognormvariate(0, 0.7) * median)
    pieces: list[str] = []
    size = 0
    while size < length:
        word = source.choice(WORDS)
        pieces.append(word + ("\n    " if source.random() < newline else " "))
        size += len(word) + 1
    return "".join(pieces)


def _tool(source: random.Random, number: int) -> dict[str, Any]:
    properties = {
        f"{source.choice(WORDS)}_{position}": {"type": "string", "description": _text(source, 80, 0)}
        for position in range(source.randint(1, 5))
    }
    parameters = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    function = {"name": f"tool_{number}", "description": _text(source, 500), "parameters": parameters}
    return {"type": "function", "function": function}


def _call(source: random.Random, tools: list[dict[str, Any]]) -> dict[str, Any]:
    function = source.choice(tools)["function"]
    arguments = {name: _text(source, 90) for name in function["parameters"]["required"]}
    identity = "call_" + "".join(source.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=24))
    text = orjson.dumps(arguments).decode()
    return {"id": identity, "type": "function", "function": {"name": function["name"], "arguments": text}}


def _assistant(source: random.Random, tools: list[dict[str, Any]]) -> dict[str, Any]:
    calls = [_call(source, tools) for _ in range(source.choice((1, 1, 1, 2, 3)))]
    thought = _text(source, 500)
    return {"role": "assistant", "content": "", "reasoning_content": thought, "tool_calls": calls}


def _sample(source: random.Random, number: int) -> Sample:
    tools = [_tool(source, position) for position in range(source.randint(6, 14))]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": _text(source, 6000)},
        {"role": "user", "content": _text(source, 400)},
    ]
    for _ in range(source.randint(1, 16)):
        assistant = _assistant(source, tools)
        messages.append(assistant)
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": _text(source, 2500, 0.15)}
            for call in assistant["tool_calls"]
        ]
    streamed = number % 4 == 0
    request = {"model": "example-model", "messages": messages, "tools": tools, "stream": streamed}
    if streamed:
        request["stream_options"] = {"include_usage": True}
        return Sample(orjson.dumps(request), b"", tuple(_events(source, tools)))
    return Sample(orjson.dumps(request), orjson.dumps(_reply(_assistant(source, tools))), ())


USAGE = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
FRAME = {"id": "chatcmpl-1", "created": 1767225600, "model": "example-model", "system_fingerprint": "fp_0123456789"}


def _reply(message: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    return FRAME | {"object": "chat.completion", "choices": [choice], "usage": USAGE}


def _events(source: random.Random, tools: list[dict[str, Any]]) -> list[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": word + " "} for word in _text(source, 500).split()]
    call = _call(source, tools)
    function = call["function"]
    deltas.append({"tool_calls": [{"index": 0, **call, "function": function | {"arguments": ""}}]})
    text = function["arguments"]
    deltas += [
        {"tool_calls": [{"index": 0, "function": {"arguments": text[start : start + 6]}}]}
        for start in range(0, len(text), 6)
    ]
    frame = FRAME | {"object": "chat.completion.chunk"}
    chunks = [frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append(frame | {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    chunks.append(frame | {"choices": [], "usage": USAGE})
    return [orjson.dumps(chunk) for chunk in chunks]
