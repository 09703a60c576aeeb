"""What a persona goes by: the claims of one model and the request before it, and texts that come out the same again.

Nothing here is random or reads a clock: the same conversation gives the same ids, whatever a client resends of it.
"""

import hashlib
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import orjson
import rstr

from conformance import profiles

_ANY_NUMBER: Final = re.compile(r"(\\d|\[0-9\])\+\$?$")
"""How a pattern ends whose last part counts."""

_POSITIONAL: Final = ("functions.{name}:{number}", "{name}:{number}", "{name}_{number}")
"""Ids that tell the name and the number of a call, as engines write them."""

DEFAULT_ID: Final = r"call_[A-Za-z0-9]{24}"


@dataclass(frozen=True, slots=True)
class Likeness:
    """A provider as its claims describe it, before one request; `thinks` says whether this request gets reasoning.

    `whole`: replies have the members too that no rule looks at and that the provider's own SDK demands.
    """

    claims: Mapping[str, Any]
    request: Mapping[str, Any]
    thinks: bool
    whole: bool = False

    def one(self, name: str, default: Any) -> Any:
        """Return a claim's value, the first where it lists several, the default where none is known."""
        return next(iter(self.every(name)), default)

    def every(self, name: str) -> tuple[Any, ...]:
        """Return what a claim lists, or its one value; nothing where none is known."""
        value = self.claims.get(name, profiles.UNKNOWN)
        if value == profiles.UNKNOWN:
            return ()
        return tuple(value) if isinstance(value, list) else (value,)

    def claims_that(self, name: str) -> bool:
        """Say whether a claim is known to be true."""
        return self.claims.get(name) is True

    @property
    def streams(self) -> bool:
        """Say whether the reply is streamed: as the request says, else as it is by default."""
        asked = self.request.get("stream")
        return self.claims_that("stream.default") if asked is None else asked is True

    def text(self, pattern: str, salt: str) -> str:
        """Return a text that a pattern matches: the same one for the same users' words, length of history and salt."""
        return _text(pattern, orjson.dumps(_gist(self.request)) + salt.encode())

    def call_id(self, name: str, position: int) -> str:
        """Return the id of a reply's call, in the claimed form; one that ends in a number counts as claimed."""
        pattern = self.one("ids.format", DEFAULT_ID)
        if self.streams:
            pattern = self.one("ids.format-in-stream", pattern)
        number = self._number(position)
        for form in _POSITIONAL:
            positional = form.format(name=name, number=number)
            if _ANY_NUMBER.search(pattern) and re.fullmatch(pattern, positional):
                return positional
        return self.text(_ANY_NUMBER.sub(str(number), pattern), f"call {position}")

    def _number(self, position: int) -> int:
        repeats = self.claims.get("ids.unique-in-conversation") is False
        if self.one("ids.numbering", "turn" if repeats else "conversation") == "turn":
            return position
        return position + sum(
            [len(message["tool_calls"]) for message in _messages(self.request) if _has_calls(message)]
        )


def _gist(request: Mapping[str, Any]) -> list[Any]:
    """Return what tells one conversation from another; what a client may drop of it or change does not count."""
    return [
        message.get("content") if message.get("role") == "user" else message.get("role")
        for message in _messages(request)
    ]


def _messages(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = request.get("messages")
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _has_calls(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("tool_calls"), list)


@cache
def _text(pattern: str, seed: bytes) -> str:
    digest = hashlib.sha256(seed).digest()
    return str(rstr.Rstr(random.Random(digest)).xeger(pattern))  # noqa: S311 — repeatable, not secret
