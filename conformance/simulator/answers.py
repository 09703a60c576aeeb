"""Answers that are known but for the words of the user: to requests that differ from earlier ones in nothing else.

What a user says changes neither whether a request is accepted nor the form of its reply, with exceptions that are
excluded here: an empty text, the JSON mode, whose word may have to be in a message, and claims about messages as such.
So the first requests of a form are judged, and their replies derived; others get their own values in the same reply.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from conformance.caches import ByteCache, digest
from conformance.profiles import Claims, Profile
from conformance.simulator.outlines import BROKEN, Derive, ReplyMemory
from conformance.simulator.parameters import Parameters
from conformance.simulator.reply_context import ReplyContext
from conformance.transport.http import HttpReply

MAX_BYTES: Final = 2 * 1024 * 1024
"""Bytes of the forms that are remembered, beside their replies."""

MAX_LEARNED: Final = 48
"""So many replies of one form are derived again: if their values have more forms than that, remembering costs more."""

_SIZE: Final = 1024
_MAX_FORM: Final = 16 * 1024
_MAX_WORDS: Final = 4096
"""A longer text stays part of the form."""

_MAX_MESSAGES: Final = 16
_PLACEHOLDER: Final = "."
_BROKEN_TEXT: Final = BROKEN.decode()
_LISTS: Final = ("messages", "input", "contents")
_SAYING: Final = frozenset({"user", "system", "developer"})
_OF_SERVER: Final = ("previous_response_id", "conversation")
"""What a request refers to that the server keeps."""

_OF_ITEMS: Final = frozenset({"id", "encrypted_content", "call_id"})
_INTO_MESSAGES: Final = re.compile(rb'"/(?:messages|input|contents|prompt)\b')


class _Unsuitable(Exception):
    """A request is not one of those whose form counts."""


def form_of(path: str, body: Mapping[str, Any]) -> bytes | None:
    """Return what is the same for requests that differ in the words of the user alone; None if others may matter.

    That is a digest of all the rest. Only requests in which nobody but the user speaks after the instructions have one.
    """
    if any([body.get(name) is not None for name in _OF_SERVER]):
        return None
    try:
        rest = {key: _without_words(value) if key in _LISTS else value for key, value in body.items()}
        text = orjson.dumps(rest)
    except (_Unsuitable, TypeError):
        return None
    return None if len(text) > _MAX_FORM or BROKEN in text else digest((path, text))


def _without_words(listed: Any) -> Any:
    if type(listed) is str:
        return _words(listed)
    if type(listed) is not list or not 0 < len(listed) <= _MAX_MESSAGES:
        raise _Unsuitable
    return list(map(_outlined, listed))


def _outlined(message: Any) -> Any:
    if type(message) is not dict or message.get("type", "message") != "message" or not _OF_ITEMS.isdisjoint(message):
        raise _Unsuitable
    role = message.get("role", "user")
    if role not in _SAYING:
        raise _Unsuitable
    if role != "user":
        return message
    return {key: _said(value) if key in ("content", "parts") else value for key, value in message.items()}


def _said(content: Any) -> Any:
    if type(content) is str:
        return _words(content)
    if type(content) is not list:
        return content
    return [
        {**part, "text": _words(part["text"])} if type(part) is dict and type(part.get("text")) is str else part
        for part in content
    ]


def _words(text: str) -> str:
    """Return what stands for a text, which no other text is left as; an empty or a long one stands for itself."""
    if not text.strip() or len(text) > _MAX_WORDS:
        return text
    if _BROKEN_TEXT in text:
        raise _Unsuitable
    return _PLACEHOLDER


class Accepted(NamedTuple):
    """What follows from the form of a request that was accepted.

    `profile` is held, so that no other object gets its identity. `model`: the one that the reply names.
    """

    profile: Profile
    claims: Claims
    model: str
    thinks: bool
    parameters: Parameters

    def context(self, body: Mapping[str, Any], named: Callable[[str], tuple[str, str]] | None = None) -> ReplyContext:
        """Return what the reply to a request of this form depends on; `named` is that of the context."""
        request = {**body, "model": self.model}
        return ReplyContext(self.claims, request, self.thinks, self.parameters, named=named)


@dataclass(slots=True)
class _KnownForm:
    """A form of requests, how many of their replies had to be derived, and whether all were as expected."""

    accepted: Accepted
    learned: int = 0
    is_sound: bool = True


class AnswerMemory:
    """The last forms of requests that were accepted, up to some bytes, with what replies to them have in common."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._forms: ByteCache[_KnownForm] = ByteCache(MAX_BYTES)
        self._replies = ReplyMemory()

    def find(self, form: bytes, profile: Profile) -> Accepted | None:
        """Return what follows from a form; None if no request of it was accepted yet."""
        found = self._forms.find(form)
        if found is None or found[0].accepted.profile is not profile or not found[0].is_sound:
            return None
        return found[0].accepted

    def reply(self, form: bytes, profile: Profile, context: ReplyContext) -> HttpReply | None:
        """Return the reply to a request of a known form; None if it has to be derived."""
        return self._replies.known(form, profile, context)

    def learn(
        self,
        form: bytes,
        accepted: Accepted,
        context: ReplyContext,
        drawn: Mapping[str, Any],
        derive: Derive,
        is_right: Callable[[HttpReply], bool],
    ) -> None:
        """Remember the reply that an accepted request got; `context`, `drawn` and `derive` are those of its reply.

        `is_right` compares a reply that is derived so with the one that was sent.
        """
        found = self._forms.find(form)
        size = sum(map(len, accepted.parameters.stops)) + _SIZE
        if found is None or found[0].accepted.profile is not accepted.profile:
            # Most forms are seen once, and deriving their replies again would be for nothing.
            self._forms.keep(form, _KnownForm(accepted), size)
            return
        known = found[0]
        if known.learned >= MAX_LEARNED or not known.is_sound:
            return
        known.learned += 1
        if not is_right(self._replies.learn(form, accepted.profile, context, drawn, derive)):
            # Then it depends on more than its values, and nothing is ever made of it.
            known.is_sound = False


def points_into_messages(claims: Claims) -> bool:
    """Return whether a condition of some claims is about a place in the messages, and so may be about words."""
    return _INTO_MESSAGES.search(orjson.dumps(dict(claims), default=str)) is not None
