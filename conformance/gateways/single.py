"""Requests that test one thing each: what scenarios do not hold, such as tool choices, limits, images and refusals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.fidelity.facts.unknown_parameters_kept import PREFIX
from conformance.gateways import direct
from conformance.gateways.nonces import Nonces
from conformance.gateways.playing import FLAGGING
from conformance.scenarios import VARIANTS
from conformance.transport.http import HttpReply
from conformance.wire.exchange import Exchange

_PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
_OTHER_PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "the city"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "days": {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 7},
        "options": {
            "type": "object",
            "properties": {"wind": {"type": "boolean"}, "note": {"type": ["string", "null"]}},
            "required": ["wind"],
            "additionalProperties": False,
        },
        "place": {"anyOf": [{"type": "string"}, {"type": "number"}]},
    },
    "required": ["city", "options"],
    "additionalProperties": False,
}
_FORM: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
_STOPS: Final = ["END-OF-REPLY"]
_PLAIN: Final = ("plain",)
_STREAMED: Final = ("stream",)

Given = Mapping[str, Any]
Make = Callable[[Exchange, Given], HttpReply]


@dataclass(frozen=True, slots=True)
class Single:
    """One request and its reply.

    `more`: members of the request of chat completions. `native`: further ones by wire; without an entry for a wire, the
    case is not played there. `history`: returns the messages before the last one of the user. `says` and `calls`: what
    the model answers. `make`: returns the reply; by default a whole one. `watched`: what is seen beside the bodies:
    `pace`, `leave` or `comments`.
    """

    name: str
    more: Mapping[str, Any] = field(default_factory=dict)
    native: Mapping[str, Mapping[str, Any]] | None = None
    history: Callable[[Nonces], list[dict[str, Any]]] | None = None
    calls: tuple[tuple[str, str], ...] = ()
    finish: str = ""
    usage: Mapping[str, Any] = field(default_factory=lambda: direct.USAGE)
    make: Make = direct.whole
    variants: tuple[str, ...] = VARIANTS
    watched: str = ""

    def message(self, nonces: Nonces) -> dict[str, Any]:
        """Return the message that the model answers with."""
        text = f"Here is a rather long answer about the weather, for a stream of several events ({nonces.next()})."
        calls = [
            {"id": f"call_{nonces.next()}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for name, arguments in self.calls
        ]
        return {"content": text} | ({"tool_calls": calls} if calls else {})

    @property
    def ends(self) -> str:
        """Return why the reply ends."""
        return self.finish or ("tool_calls" if self.calls else "stop")


def _tool(name: str, schema: Mapping[str, Any] = _SCHEMA) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": f"Tells {name} of a city.", "parameters": dict(schema)},
    }


_TOOLS: Final = [_tool("get_weather"), _tool("get_time", _FORM)]
_CALLED: Final = (("get_weather", '{"city": "Oslo", "options": {"wind": true}, "days": [9007199254740993]}'),)


def _late_system(nonces: Nonces) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": f"Answer in one sentence ({nonces.next()})."},
        {"role": "user", "content": f"Good morning ({nonces.next()})."},
        {"role": "assistant", "content": f"Good morning, how can I help ({nonces.next()})?"},
        {"role": "system", "content": f"From now on, name the source ({nonces.next()})."},
    ]


def _image(data: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def _shown(nonces: Nonces) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": f"Look ({nonces.next()})."}, _image(_PIXEL)]}]


def _ran(nonces: Nonces, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    calls = [
        {"id": f"call_{nonces.next()}", "type": "function", "function": {"name": "get_weather", "arguments": text}}
        for text in (f'{{"city": "Oslo {nonces.next()}"}}', f'{{"city": "Lima {nonces.next()}"}}')
    ]
    return [
        {"role": "user", "content": f"What is the weather ({nonces.next()})?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": calls[0]["id"], "content": f"21 degrees ({nonces.next()})"},
        {"role": "tool", "tool_call_id": calls[1]["id"], **result},
    ]


def _failed(nonces: Nonces) -> list[dict[str, Any]]:
    return _ran(nonces, {"content": f"There is no such city ({nonces.next()}).", "is_error": True})


def _pictured(nonces: Nonces) -> list[dict[str, Any]]:
    parts = [{"type": "text", "text": f"See the map ({nonces.next()})."}, _image(_OTHER_PIXEL)]
    return _ran(nonces, {"content": parts})


def _refusing(status: int) -> Make:
    def make(asked: Exchange, reply: Given) -> HttpReply:
        words = reply["choices"][0]["message"]["content"]
        return direct.refused(asked, status, f"The value of a parameter is not acceptable: {words}")

    return make


def _failing(asked: Exchange, reply: Given) -> HttpReply:
    return direct.failing(asked, reply, "The model is overloaded, try again later.")


_NAMED: Final = {"type": "function", "function": {"name": "get_time"}}
_EFFORTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "chat": {"reasoning_effort": "high"},
    "messages": {"thinking": {"type": "enabled", "budget_tokens": 2048}},
    "responses": {"reasoning": {"effort": "high"}},
    "gemini": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 8192, "includeThoughts": True}}},
}
_UNKNOWN: Final = {f"{PREFIX}_flag": "conformance-unknown-value"}

CASES: Final = (
    Single("tools", {"tools": _TOOLS}, calls=_CALLED),
    Single("tool-choice-required", {"tools": _TOOLS, "tool_choice": "required"}, calls=_CALLED),
    Single("tool-choice-named", {"tools": _TOOLS, "tool_choice": _NAMED}, calls=(("get_time", '{"answer": "noon"}'),)),
    Single("tool-choice-none", {"tools": _TOOLS, "tool_choice": "none"}),
    Single("parallel-off", {"tools": _TOOLS, "parallel_tool_calls": False}, calls=_CALLED),
    Single("token-limit", {"max_tokens": 777}),
    Single("temperature", {"temperature": 0.25}),
    Single("top-p", {"top_p": 0.75}),
    Single(
        "stop-texts",
        native={
            "chat": {"stop": _STOPS},
            "messages": {"stop_sequences": _STOPS},
            "gemini": {"generationConfig": {"stopSequences": _STOPS}},
        },
    ),
    Single(
        "reply-format",
        native={
            "chat": {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "reply", "strict": True, "schema": _FORM},
                }
            },
            "messages": {"output_config": {"format": {"type": "json_schema", "schema": _FORM}}},
            "responses": {
                "text": {"format": {"type": "json_schema", "name": "reply", "strict": True, "schema": _FORM}}
            },
            "gemini": {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": _FORM}},
        },
    ),
    Single("effort", native=_EFFORTS),
    Single("unknown-parameter", native=dict.fromkeys(("chat", "messages", "responses", "gemini"), _UNKNOWN)),
    Single("late-system-text", history=_late_system),
    Single("image", history=_shown),
    Single("image-in-result", {"tools": _TOOLS}, history=_pictured),
    Single("failed-result", {"tools": _TOOLS}, {wire: {} for wire in FLAGGING}, history=_failed),
    Single("token-limit-reached", finish="length"),
    Single(
        "usage-details",
        usage={
            **direct.USAGE,
            "prompt_tokens_details": {"cached_tokens": 4096},
            "completion_tokens_details": {"reasoning_tokens": 512},
        },
    ),
    Single("several-calls", {"tools": _TOOLS}, calls=(*_CALLED, ("get_time", '{"answer": ""}'), ("get_time", "{}"))),
    Single("refused-400", make=_refusing(400)),
    Single("refused-429", make=_refusing(429), variants=_PLAIN),
    Single("refused-500", make=_refusing(500), variants=_PLAIN),
    Single("error-in-stream", make=_failing, variants=_STREAMED),
    Single("cut-stream", make=direct.cut, variants=_STREAMED),
    Single("cut-stream-in-call", {"tools": _TOOLS}, calls=_CALLED, make=direct.cut, variants=_STREAMED),
    Single("comments", make=direct.commented, variants=_STREAMED, watched="comments"),
    Single("paced-stream", variants=_STREAMED, watched="pace"),
    Single("client-leaves", variants=_STREAMED, watched="leave"),
)
"""All requests that test one thing."""


def by_name(name: str) -> Single:
    """Return the case of that name."""
    return next(each for each in CASES if each.name == name)
