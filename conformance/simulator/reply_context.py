"""What a simulated reply depends on: the claims about one model, the request, and reproducible ids.

Nothing here is random or reads a clock: the same conversation gets the same ids, whatever a client resends of it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import orjson

from conformance import linear, profiles
from conformance.simulator.parameters import NO_PARAMETERS, Parameters
from conformance.wire.ids import id_of_place, positional_ids, text_matching

_ENDS_IN_NUMBER: Final = re.compile(r"(\\d|\[0-9\])\+\$?$")
"""The end of a pattern whose ids end in a number that counts."""

DEFAULT_ID: Final = r"call_[A-Za-z0-9]{24}"
BYTES_PER_TOKEN: Final = 4


class ReplyValues(Protocol):
    """The values of a reply that depend on the texts of the request."""

    def matching_text(self, pattern: str, salt: str) -> str: ...  # noqa: D102 — below
    def call_id(self, name: str, position: int) -> str: ...  # noqa: D102
    def reply_id(self, pattern: str) -> str: ...  # noqa: D102
    def prompt_tokens(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class ReplyContext:
    """The claims about a provider's model and the request to reply to; `thinks`: the reply includes reasoning.

    `parameters` are those of the request that shape the reply. `values` gives what depends on the texts of the request
    if that is only an outline. `named` returns the id that a reply has on its own wire, in two parts: the first one is
    the same for all replies.
    """

    claims: Mapping[str, Any]
    request: Mapping[str, Any]
    thinks: bool
    parameters: Parameters = NO_PARAMETERS
    values: ReplyValues | None = None
    named: Callable[[str], tuple[str, str]] | None = None
    _found: dict[Any, tuple[Any, bytes]] = field(default_factory=dict, compare=False, repr=False)

    def claim(self, name: str, default: Any) -> Any:
        """Return the value of a claim, the first one of a list, or the default if the claim is unknown."""
        return next(iter(self.claim_values(name)), default)

    def claim_values(self, name: str) -> tuple[Any, ...]:
        """Return the values of a claim, one or those of a list; empty if the claim is unknown."""
        value = self.claims.get(name, profiles.UNKNOWN)
        if value == profiles.UNKNOWN:
            return ()
        return tuple(value) if isinstance(value, list) else (value,)

    def is_true(self, name: str) -> bool:
        """Return True if the claim is known to be true."""
        return self.claims.get(name) is True

    @property
    def streams(self) -> bool:
        """Return True if the reply is streamed: as requested, otherwise by the provider's default."""
        asked = self.request.get("stream")
        return self.is_true("stream.default") if asked is None else asked is True

    def matching_text(self, pattern: str, salt: str) -> str:
        """Return a text that matches a pattern; the same one for the same user messages, history length and salt."""
        if self.values is not None:
            return self.values.matching_text(pattern, salt)
        return text_matching(pattern, self._once(_fingerprint) + salt.encode())

    def reply_id(self, pattern: str) -> str:
        """Return the id of the reply."""
        return "".join(self.reply_id_parts(pattern)) if self.values is None else self.values.reply_id(pattern)

    def reply_id_parts(self, pattern: str) -> tuple[str, str]:
        """Return the id of the reply in two parts, the first one the same for all replies."""
        text = self.matching_text(pattern, "reply")
        return ("", text) if self.named is None else self.named(text)

    def reply_id_rest(self, pattern: str) -> str:
        """Return the part of the id of the reply that differs from those of other replies."""
        return self.reply_id_parts(pattern)[1]

    def call_id(self, name: str, position: int) -> str:
        """Return the id of a tool call in the claimed form; a number at its end counts as claimed.

        Where ids are optional and no form is claimed, it only says where the call stands.
        """
        if self.values is not None:
            return self.values.call_id(name, position)
        if self.is_true("ids.optional") and not self.claim_values("ids.format"):
            return id_of_place(sum([each.get("role") == "assistant" for each in _messages(self.request)]), position)
        pattern = self.claim("ids.format", DEFAULT_ID)
        if self.streams:
            pattern = self.claim("ids.format-in-stream", pattern)
        number = self._number(position)
        if _ENDS_IN_NUMBER.search(pattern):
            for positional in positional_ids(name, number):
                if linear.fits(pattern, positional):
                    return positional
        return self.matching_text(_ENDS_IN_NUMBER.sub(str(number), pattern), f"call {position}")

    def prompt_tokens(self) -> int:
        """Return the number of tokens of the messages."""
        return _tokens(self._once(_shown)) if self.values is None else self.values.prompt_tokens()

    def _once(self, find: Callable[["ReplyContext"], Any]) -> bytes:
        """Return what a function finds in the messages, as JSON, which is asked for several times."""
        request, data = self._found.get(find, (None, b""))
        if request is not self.request:
            data = orjson.dumps(find(self))
            self._found[find] = self.request, data
        return data

    def _number(self, position: int) -> int:
        repeats = self.claims.get("ids.unique-in-conversation") is False
        if self.claim("ids.numbering", "turn" if repeats else "conversation") == "turn":
            return position
        return position + sum(
            [len(message["tool_calls"]) for message in _messages(self.request) if _has_calls(message)]
        )


def tokens(value: Any) -> int:
    """Return the approximate number of tokens of a JSON value."""
    return _tokens(orjson.dumps(value))


def _tokens(data: bytes) -> int:
    return len(data) // BYTES_PER_TOKEN + 1


def _shown(context: ReplyContext) -> Any:
    """Return the messages as they reach the model: without the flag of failed results where a server ignores it."""
    messages = context.request.get("messages")
    if context.claim("results.is-error", "") != "ignored" or not isinstance(messages, list):
        return messages
    return [{key: value for key, value in each.items() if key != "is_error"} for each in messages]


def _fingerprint(context: ReplyContext) -> list[Any]:
    """Return what identifies a conversation, without the parts that a client may drop or change."""
    return [
        # Reasoning, ids and results may be changed or dropped on the way; a user message that is, is another question.
        message.get("content") if message.get("role") == "user" else message.get("role")
        for message in _messages(context.request)
    ]


def _messages(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = request.get("messages")
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _has_calls(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("tool_calls"), list)
