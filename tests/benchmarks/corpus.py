"""Seeded corpora of traffic: the same seed gives the same bytes.

- `recorded`: exchanges like those of public recordings, with requests and replies drawn by the project's strategies.
  Sizes and shares follow 1,571 recorded exchanges, of which 36 % are streams, 10 % errors, and 40 % have findings; half
  of their plain replies are smaller than 750 bytes, half of the streams than 6,300. Requests are some 1.5 kB, because
  the strategies draw tools more often than recordings have them. `FORMS` has the shares of the forms of chunks.
- `agent`: requests of coding agents, 10 to 200 kB: a long system message, a dozen tools, a history of tool turns whose
  results are files and command output. With `faulty`, each request has an answer too few and a key too many.
- `sessions`: agent sessions whose history grows from one request to the next.
"""

import random
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from conformance.strategies import replies, requests
from conformance.wires import WireWriter, by_name

SEED = 20261121
WORDS = (
    "the a of to in for with on that this file line value error test build call result list index name type path "
    "return import class def self None True False assert while if else raise yield lambda config schema parser"
).split()


class Sample(NamedTuple):
    """One exchange as bytes: the request body, the reply's body, and the data of its events if it is a stream.

    `is_text`: whether the reply's body is no JSON. `more`: what else its line says, such as the URL.
    """

    request: bytes
    reply: bytes
    events: tuple[bytes, ...] = ()
    status: int = 200
    is_text: bool = False
    more: Mapping[str, Any] = {}

    @property
    def documents(self) -> tuple[bytes, ...]:
        """Return every JSON text of the exchange."""
        return (self.request, *(self.events or (() if self.is_text else (self.reply,))))

    def line(self, session: str) -> bytes:
        """Return the exchange as a line of JSON Lines."""
        reply = self.reply.decode() if self.events or self.is_text else orjson.Fragment(self.reply)
        record = {"request": orjson.Fragment(self.request), "response": reply, "status": self.status, **self.more}
        return orjson.dumps({**record, "session": session} if session else record, option=orjson.OPT_APPEND_NEWLINE)


Session = list[Sample]


def recorded(count: int = 240) -> list[Session]:
    """Return exchanges like the recorded ones, each a session of its own."""
    source = random.Random(SEED)  # noqa: S311 — repeatable, not secret
    return [[_recorded(source, body, message)] for body, message in _drawn(count)]


def agent(count: int = 40, *, faulty: bool = False) -> list[Session]:
    """Return the exchanges of coding agents, each a session of its own."""
    source = random.Random(SEED)  # noqa: S311
    return [[_sample(source, number, faulty=faulty)] for number in range(count)]


def sessions(length: int = 12) -> list[Session]:
    """Return sessions that grow by a tool turn from one request to the next."""
    source = random.Random(SEED)  # noqa: S311
    return [_session(source, length) for _ in range(2)]


def _drawn(count: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    found: list[tuple[dict[str, Any], dict[str, Any]]] = []

    @seed(SEED)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(st.tuples(requests(), replies()))
    def collect(drawn: tuple[dict[str, Any], dict[str, Any]]) -> None:
        found.append(drawn)

    collect()
    return found[:count]


def _recorded(source: random.Random, body: dict[str, Any], message: dict[str, Any]) -> Sample:
    kind = source.random()
    _lengthen(source, body["messages"][0], 680 * source.lognormvariate(0, 0.8) - len(orjson.dumps(body)))
    if kind < 0.10:
        error = {"error": {"message": _text(source, 80), "type": "invalid_request_error", "param": None, "code": None}}
        return Sample(orjson.dumps(body | {"stream": False}), orjson.dumps(error), status=400)
    if kind < 0.46:
        _lengthen(source, message, 110 * source.lognormvariate(0, 1.0))
        body = body | {"stream": True, "stream_options": {"include_usage": True}}
        quirk, (form,) = source.randrange(5), source.choices([*FORMS], [*FORMS.values()])
        return _streamed(body, message, quirk=quirk, form=form)
    _lengthen(source, message, 750 * source.lognormvariate(0, 0.9) - 350)
    reply = _reply(message) | {"model": body["model"]}
    if source.random() < 0.4:
        reply["choices"][0]["finish_reason"] = None
    return Sample(orjson.dumps(body | {"stream": False}), orjson.dumps(reply))


def _lengthen(source: random.Random, message: dict[str, Any], size: float) -> None:
    """Add words to the content of a message; one with content that is not a string stays as it is."""
    if type(message.get("content")) is str:
        message["content"] += _text(source, max(0.0, size), spread=0)


def _streamed(body: dict[str, Any], message: dict[str, Any], *, quirk: int, form: str = "") -> Sample:
    """Return a stream of a message in fragments of some six characters; two quirks of five give findings."""
    first: dict[str, Any] = {"role": "assistant", "content": ""}
    deltas = [first, *[dict(first) for _ in range(12 if form == "keeps open" else 0)]]
    for key in ("reasoning_content", "content"):
        deltas += [{key: part} for part in _parts(message.get(key) or "")]
    for number, call in enumerate(message.get("tool_calls", ())):
        text = call["function"]["arguments"]
        again = {"id": ""} if quirk == 0 else {}
        deltas.append({"tool_calls": [{"index": number, **call, "function": call["function"] | {"arguments": ""}}]})
        deltas += [
            {"tool_calls": [{"index": number, **again, "function": {"arguments": part}}]} for part in _parts(text)
        ]
    if quirk == 1:
        del first["role"]
    return _stream(body, deltas, "tool_calls" if message.get("tool_calls") else "stop", form)


def _stream(body: dict[str, Any], deltas: list[dict[str, Any]], reason: str, form: str) -> Sample:
    frame = FRAME | {"object": "chat.completion.chunk", "model": body["model"]}
    chunks = [frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append(frame | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    for number, chunk in enumerate(chunks):
        _give_form(chunk, form, number)
    chunks.append(frame | {"choices": [], "usage": USAGE})
    events = tuple([orjson.dumps(chunk) for chunk in chunks])
    text = b"".join([b"data: " + event + b"\n\n" for event in events]) + b"data: [DONE]\n\n"
    return Sample(orjson.dumps(body), text, events)


def _give_form(chunk: dict[str, Any], form: str, number: int) -> None:
    """Change a chunk to how some providers send it."""
    choice: dict[str, Any] = chunk["choices"][0]
    delta: dict[str, Any] = choice["delta"]
    if form == "padding":
        chunk["obfuscation"] = "x" * (1 + number % 14)
    elif form == "no object":
        del chunk["object"]
    elif form == "usage":
        chunk["usage"] = USAGE | {"completion_tokens": number}
    elif form == "role" and number:
        choice["delta"] = {"role": "assistant", **delta}
    elif form == "content twice":
        choice["text"] = delta.get("content", "")
    elif form == "reasoning twice" and delta.get("content"):
        text = delta.pop("content")
        delta["reasoning"] = text
        delta["reasoning_details"] = [{"type": "reasoning.text", "text": text, "format": "unknown", "index": 0}]


def _parts(text: str) -> list[str]:
    return [text[start : start + 6] for start in range(0, len(text), 6)]


def _text(source: random.Random, median: float, newline: float = 0.08, spread: float = 0.7) -> str:
    length = int(source.lognormvariate(0, spread) * median)
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


def _sample(source: random.Random, number: int, *, faulty: bool) -> Sample:
    tools = [_tool(source, position) for position in range(source.randint(6, 14))]
    messages = _opening(source)
    for _ in range(source.randint(1, 16)):
        messages += _turn(source, tools)
    if faulty:
        del messages[-1]
        messages[1]["timestamp"] = 1767225600
    body: dict[str, Any] = {"model": "example-model", "messages": messages, "tools": tools, "stream": number % 4 == 0}
    if not body["stream"]:
        return Sample(orjson.dumps(body), orjson.dumps(_reply(_assistant(source, tools))))
    return _streamed(body | {"stream_options": {"include_usage": True}}, _assistant(source, tools), quirk=4)


def session(length: int, result: float = 2500, seed: int = SEED) -> Session:
    """Return one session of an agent, whose results have so many characters in the median."""
    return _session(random.Random(seed), length, result)  # noqa: S311


def on_wire(given: Session, wire: str) -> Session:
    """Return a session as it is on another wire."""
    written = by_name(wire).writing
    return [_native(each, wire, written) for each in given]


def _native(sample: Sample, wire: str, written: WireWriter) -> Sample:
    body = orjson.loads(sample.request)
    request = written.request(body)
    reply = written.reply(orjson.loads(sample.reply), request)
    url = f"https://api.example.com/v1{by_name(wire).path(body)}"
    return Sample(orjson.dumps(request), orjson.dumps(reply), more={"url": url, "model": body["model"]})


def _session(source: random.Random, length: int, result: float = 2500) -> Session:
    tools = [_tool(source, position) for position in range(8)]
    messages = _opening(source)
    samples = []
    for _ in range(length):
        turn = _turn(source, tools, result)
        body = {"model": "example-model", "messages": messages, "tools": tools}
        samples.append(Sample(orjson.dumps(body), orjson.dumps(_reply(turn[0]))))
        messages = messages + turn
    return samples


def _opening(source: random.Random) -> list[dict[str, Any]]:
    return [{"role": "system", "content": _text(source, 6000)}, {"role": "user", "content": _text(source, 400)}]


def _turn(source: random.Random, tools: list[dict[str, Any]], result: float = 2500) -> list[dict[str, Any]]:
    """Return an assistant message with calls, and their results."""
    assistant = _assistant(source, tools)
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": _text(source, result, 0.15)}
        for call in assistant["tool_calls"]
    ]
    return [assistant, *results]


FORMS = {
    "": 30, "role": 25, "padding": 18, "no object": 13, "reasoning twice": 6, "usage": 4, "keeps open": 3,
    "content twice": 1,
}  # fmt: skip
"""How often a stream has chunks of a form: of 564 recorded streams 143 have a role in each chunk, 104 have padding, 74
lack `object`, 34 have reasoning in two fields, 22 count tokens in each chunk, 20 send empty chunks to keep the
connection open, and 8 have the content in two fields."""
USAGE = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
FRAME = {"id": "chatcmpl-1", "created": 1767225600, "model": "example-model", "system_fingerprint": "fp_0123456789"}


def _reply(message: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    return FRAME | {"object": "chat.completion", "choices": [choice], "usage": USAGE}
