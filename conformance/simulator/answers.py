"""Answers that are known but for the words of the user: to requests that differ from earlier ones in nothing else.

What a user says changes neither whether a request is accepted nor the form of its reply, with exceptions that are
excluded here: an empty text, the JSON mode, whose word may have to be in a message, and claims about messages as such.
So the first requests of a form are judged, and their replies derived; others get their own values in the same reply.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
MAX_TEXT: Final = 64 * 1024
"""The text of a request that has a form is no longer than this."""

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


class RequestForm(NamedTuple):
    """What is the same for requests that differ in the words of the user alone: a digest of all the rest.

    `words`: the texts that are left out, in their order.
    """

    key: bytes
    words: Sequence[str]


def form_of(path: str, body: Mapping[str, Any]) -> RequestForm | None:
    """Return the form of a request; None if others may matter than the words of the user.

    Only requests in which nobody but the user speaks after the instructions have one.
    """
    if any([body.get(name) is not None for name in _OF_SERVER]):
        return None
    words: list[str] = []
    try:
        rest = {key: _without_words(value, words) if key in _LISTS else value for key, value in body.items()}
        text = orjson.dumps(rest)
    except (_Unsuitable, TypeError):
        return None
    return None if len(text) > _MAX_FORM or BROKEN in text else RequestForm(digest((path, text)), words)


def _without_words(listed: Any, words: list[str]) -> Any:
    if type(listed) is str:
        return _placeholder(listed, words)
    if type(listed) is not list or not 0 < len(listed) <= _MAX_MESSAGES:
        raise _Unsuitable
    return [_outlined(message, words) for message in listed]


def _outlined(message: Any, words: list[str]) -> Any:
    if type(message) is not dict or message.get("type", "message") != "message" or not _OF_ITEMS.isdisjoint(message):
        raise _Unsuitable
    role = message.get("role", "user")
    if role not in _SAYING:
        raise _Unsuitable
    if role != "user":
        return message
    return {key: _said(value, words) if key in ("content", "parts") else value for key, value in message.items()}


def _said(content: Any, words: list[str]) -> Any:
    if type(content) is str:
        return _placeholder(content, words)
    if type(content) is not list:
        return content
    return [
        {**part, "text": _placeholder(part["text"], words)}
        if type(part) is dict and type(part.get("text")) is str
        else part
        for part in content
    ]


def _placeholder(text: str, words: list[str]) -> str:
    """Return what stands for a text, which no other text is left as; an empty or a long one stands for itself."""
    if not text.strip() or len(text) > _MAX_WORDS:
        return text
    if _BROKEN_TEXT in text:
        raise _Unsuitable
    words.append(text)
    return _PLACEHOLDER


class _Word(NamedTuple):
    """The place of some words, by their number."""

    number: int


def _emptied(value: Any, numbers: Mapping[int, int]) -> Any:
    """Return a value with places for the texts whose numbers are given by their identity."""
    if type(value) is str:
        return _Word(numbers[id(value)]) if id(value) in numbers else value
    if type(value) is dict:
        return {key: _emptied(each, numbers) for key, each in value.items()}
    return [_emptied(each, numbers) for each in value] if type(value) is list else value


def _places(value: Any) -> Iterator[int]:
    """Yield the numbers of the words that have places in a value."""
    if type(value) is _Word:
        yield value.number
    elif type(value) in (dict, list):
        for each in value.values() if type(value) is dict else value:
            yield from _places(each)


def _said_in(value: Any, words: Sequence[str]) -> Any:
    """Return a value with words in their places."""
    if type(value) is _Word:
        return words[value.number]
    if type(value) is dict:
        return {key: _said_in(each, words) for key, each in value.items()}
    return [_said_in(each, words) for each in value] if type(value) is list else value


class Accepted(NamedTuple):
    """What follows from the form of a request that was accepted.

    `profile` is held, so that no other object gets its identity. `model`: the one that the reply names. `messages`: the
    messages as chat completions, with places for the words of the user; None if the words are not there as they are.
    """

    profile: Profile
    claims: Claims
    model: str
    thinks: bool
    parameters: Parameters
    messages: Any = None

    def with_messages(self, messages: Any, words: Sequence[str]) -> "Accepted":
        """Return this with the messages of a request, in which the words are the same objects as in its own form."""
        numbers = {id(each): number for number, each in enumerate(words)}
        emptied = _emptied(messages, numbers)
        # Words that are there twice, or not at all, or that were changed on the way, are read in each request.
        is_whole = len(numbers) == len(words) and sorted(_places(emptied)) == list(range(len(words)))
        return self._replace(messages=emptied if is_whole else None)

    def said(self, words: Sequence[str]) -> Any:
        """Return the messages of a request of this form with its own words."""
        return _said_in(self.messages, words)

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

    def find(self, form: RequestForm, profile: Profile) -> Accepted | None:
        """Return what follows from a form; None if no request of it was accepted yet."""
        found = self._forms.find(form.key)
        if found is None or found[0].accepted.profile is not profile or not found[0].is_sound:
            return None
        return found[0].accepted

    def reply(self, form: RequestForm, profile: Profile, context: ReplyContext) -> HttpReply | None:
        """Return the reply to a request of a known form; None if it has to be derived."""
        return self._replies.known(form.key, profile, context)

    def learn(
        self,
        form: RequestForm,
        accepted: Accepted,
        context: ReplyContext,
        drawn: Mapping[str, Any],
        derive: Derive,
        is_right: Callable[[HttpReply], bool],
    ) -> None:
        """Remember the reply that an accepted request got; `context`, `drawn` and `derive` are those of its reply.

        `is_right` compares a reply that is derived so with the one that was sent.
        """
        found = self._forms.find(form.key)
        if found is None or found[0].accepted.profile is not accepted.profile:
            # Most forms are seen once, and deriving their replies again would be for nothing.
            messages = context.request.get("messages")
            size = 2 * len(orjson.dumps(messages)) + sum(map(len, accepted.parameters.stops)) + _SIZE
            self._forms.keep(form.key, _KnownForm(accepted.with_messages(messages, form.words)), size)
            return
        known = found[0]
        if known.accepted.messages is not None:
            is_same = known.accepted.said(form.words) == context.request.get("messages")
            known.is_sound = known.is_sound and is_same
        if known.learned >= MAX_LEARNED or not known.is_sound:
            return
        known.learned += 1
        if not is_right(self._replies.learn(form.key, accepted.profile, context, drawn, derive)):
            # Then it depends on more than its values, and nothing is ever made of it.
            known.is_sound = False


def points_into_messages(claims: Claims) -> bool:
    """Return whether a condition of some claims is about a place in the messages, and so may be about words."""
    return _INTO_MESSAGES.search(orjson.dumps(dict(claims), default=str)) is not None
