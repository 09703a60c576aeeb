"""How a provider replies, by its claims: the message of a scripted turn, as a body or as the chunks of a stream.

Nothing here is random or reads a clock: the same request gives the same bytes.
"""

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import rstr

from conformance.results import Refusal
from conformance.scenarios import Turn

CREATED = 1_767_225_600
"""The `created` time of every simulated reply: the first second of 2026."""

DEFAULT_ID = r"call_[A-Za-z0-9]{24}"
DEFAULT_REPLY_ID = r"chatcmpl-[A-Za-z0-9]{29}"
PIECE = 12
"""Characters of a fragment in a stream."""


@dataclass(frozen=True, slots=True)
class Persona:
    """A provider as its claims describe it, before one request; `thinks` says whether this request gets reasoning."""

    claims: Mapping[str, Any]
    request: Mapping[str, Any]
    thinks: bool

    def _one(self, name: str, default: Any) -> Any:
        """Return a claim's value, the first where it lists several, the default where none is known."""
        value = self.claims.get(name, "unknown")
        if isinstance(value, list):
            value = value[0] if value else "unknown"
        return default if value == "unknown" else value

    def _text_of(self, pattern: str, salt: str) -> str:
        """Return a text that a pattern matches, the same for the same request and salt."""
        digest = hashlib.sha256(orjson.dumps(self.request.get("messages")) + salt.encode()).digest()
        return str(rstr.Rstr(random.Random(digest)).xeger(pattern))  # noqa: S311 — repeatable, not secret

    def message(self, turn: Turn) -> dict[str, Any]:
        """Return the assistant message of a turn."""
        message: dict[str, Any] = {"role": "assistant", "content": turn.says}
        if turn.calls:
            form = self._one("content.in-tool-reply", "empty")
            message["content"] = turn.says or {"null": None, "text": "One moment."}.get(form, "")
            if form == "absent" and not turn.says:
                del message["content"]
        if self.thinks and turn.thinks:
            message = self._with_reasoning(message, turn.thinks)
        if turn.calls:
            message["tool_calls"] = [self._call(name, dict(given), n) for n, (name, given) in enumerate(turn.calls)]
        return message

    def _with_reasoning(self, message: dict[str, Any], thought: str) -> dict[str, Any]:
        claimed = self.claims.get("reasoning.response-field", "reasoning_content")
        for field in claimed if isinstance(claimed, list) else [claimed]:
            if field in ("reasoning_content", "reasoning"):
                message |= {field: thought}
            elif field == "reasoning_details":
                message |= {field: [{"type": "reasoning.text", "text": thought, "format": "unknown", "index": 0}]}
            elif field == "thinking-parts":
                thinking = {"type": "thinking", "thinking": [{"type": "text", "text": thought}]}
                words = [{"type": "text", "text": message["content"]}] if message.get("content") else []
                message |= {"content": [thinking, *words]}
            elif field == "think-tags":
                message |= {"content": f"<think>\n{thought}\n</think>\n\n{message.get('content') or ''}"}
        return message

    def _call(self, name: str, arguments: Mapping[str, Any], position: int) -> dict[str, Any]:
        identity = self._text_of(self._one("ids.format", DEFAULT_ID), f"call {position}")
        text = orjson.dumps(arguments).decode()
        return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}

    def _finish_reason(self, message: Mapping[str, Any]) -> str:
        return str(self._one("finish.with-calls", "tool_calls")) if message.get("tool_calls") else "stop"

    def _usage(self, message: Mapping[str, Any]) -> dict[str, Any]:
        asked, said = (len(orjson.dumps(value)) // 4 + 1 for value in (self.request.get("messages"), message))
        usage: dict[str, Any] = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
        if self.thinks and self._one("usage.reasoning-tokens", "inside") == "inside":
            usage["completion_tokens_details"] = {"reasoning_tokens": said // 2}
        return usage

    def _frame(self, kind: str) -> dict[str, Any]:
        return {
            "id": self._text_of(self._one("reply.id-format", DEFAULT_REPLY_ID), "reply"),
            "object": kind,
            "created": CREATED,
            "model": self.request.get("model"),
        }

    def body(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the whole reply of a request that does not stream."""
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason(message)}
        return self._frame("chat.completion") | {"choices": [choice], "usage": self._usage(message)}

    def events(self, message: Mapping[str, Any]) -> list[Any]:
        """Return the items of a stream: chunks, and the closing `[DONE]` where the provider sends one."""
        frame = self._frame("chat.completion.chunk")
        deltas = [*_deltas(message, whole=self._one("stream.call-shape", "fragments") == "whole")]
        chunks = [frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        finish = frame | {"choices": [{"index": 0, "delta": {}, "finish_reason": self._finish_reason(message)}]}
        options = self.request.get("stream_options")
        asked = isinstance(options, Mapping) and options.get("include_usage") is True
        usage: list[Any] = []
        if asked or self._one("stream.usage-needs-option", True) is False:  # noqa: FBT003 — a claim's default
            if self._one("stream.usage", "own-chunk") == "own-chunk":
                usage = [frame | {"choices": [], "usage": self._usage(message)}]
            else:
                finish |= {"usage": self._usage(message)}
        done = [] if self.claims.get("stream.done") is False else ["data: [DONE]\n\n"]
        return [*chunks, finish, *usage, *done]

    def error(self, refusal: Refusal) -> Any:
        """Return the body of an error in the provider's shape."""
        text, kind = refusal.message or "Invalid request.", refusal.type or "invalid_request_error"
        code, param = refusal.code, refusal.param
        full = {"message": text, "type": kind, "param": param, "code": code}
        bodies: dict[str, Any] = {
            "openai": {"error": full},
            "openai-no-param": {"error": {"message": text, "type": kind} | ({} if code is None else {"code": code})},
            "flat": {"object": "error", **full},
            "string": {"error": text},
            "detail": {"detail": text},
            "message": {"message": text},
            "array": [{"error": {"code": refusal.status, "message": text, "status": "INVALID_ARGUMENT"}}],
        }
        return bodies.get(self._one("error.shape", "openai"), bodies["openai"])


def _deltas(message: Mapping[str, Any], *, whole: bool) -> Iterator[dict[str, Any]]:
    """Yield the deltas that put a message together, in the order in which providers stream: thought, words, calls."""
    content = message.get("content")
    yield {"role": "assistant", "content": content if content is None else ""}
    for field in ("reasoning_content", "reasoning"):
        for piece in _pieces(message.get(field) or ""):
            yield {field: piece}
    for detail in message.get("reasoning_details", ()):
        for piece in _pieces(detail["text"]):
            yield {"reasoning_details": [detail | {"text": piece}]}
    if isinstance(content, str):
        for piece in _pieces(content):
            yield {"content": piece}
    for part in content if isinstance(content, list) else ():
        yield {"content": [part]} if part["type"] == "thinking" else {"content": part["text"]}
    for index, call in enumerate(message.get("tool_calls", ())):
        yield from _call_deltas(index, call, whole=whole)


def _call_deltas(index: int, call: Mapping[str, Any], *, whole: bool) -> Iterator[dict[str, Any]]:
    if whole:
        yield {"tool_calls": [{"index": index, **call}]}
        return
    function = call["function"]
    yield {"tool_calls": [{"index": index, **call, "function": function | {"arguments": ""}}]}
    for piece in _pieces(function["arguments"]):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Sequence[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
