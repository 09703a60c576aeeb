"""Error texts that hosts send for many causes: who says them, and which causes are known of each."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from typing import Any, Final, NamedTuple

from conformance.error_texts.causes import ErrorCause, causes, field_texts, generic
from conformance.error_texts.sayings import Saying, sayings
from conformance.error_texts.unwrapping import as_text, said, status_in
from conformance.error_texts.words import MAX_CHARACTERS, is_constant, words

_ABOUT_IT: Final = frozenset(
    {
        "api",
        "code",
        "error",
        "http",
        "invalid_request_error",
        "message",
        "msg",
        "none",
        "null",
        "param",
        "status",
        "type",
    }
)
"""What a line or a body says around an error text."""

_BARE: Final = frozenset(
    re.findall(
        r"\w+",
        "again allowed an api bad body check client code communicate endpoint entity error exception fail failed"
        " failure fetching for forbidden found from gateway got has http id in information internal is later"
        " message method more no not occurred our please provider reason received request requests response"
        " returned sending server service sorry status talking the to try type unavailable unknown unprocessable"
        " upstream url while with without your",
    )
)
"""What a text has that says only the status of an answer."""

_NO_WORDS: Final = re.compile(r"https?://\S+|\b[\w.]{1,200}(?:Exception|Error)\b")
_MESSAGE: Final = re.compile(r"\bmessage[\"']?\s*:\s*[\"']([^\"'{}]{3,200})[\"']")
_SENTENCE: Final = re.compile(r"[:\]]\s|\.\s")
_LONG: Final = 4
_SHORT: Final = 2
"""How many spaces a long sentence has, and the last one, at least."""


class GenericError(NamedTuple):
    """An error text that does not say its cause.

    `text`: what the host said. `sayings`: the hosts that are known to say so, those that fit best first, each with a
    cause for which it was seen. `status`: its HTTP status, if known. `is_bare`: whether it says no more than that.
    """

    text: str
    sayings: tuple[Saying, ...]
    status: int | None
    is_bare: bool = False

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the hosts that are known to say so."""
        return tuple(dict.fromkeys([each.host for each in self.sayings]))

    @property
    def causes(self) -> tuple[ErrorCause, ...]:
        """Return the causes for which one of these hosts was seen to say so."""
        return tuple([causes()[each] for each in dict.fromkeys([each.cause for each in self.sayings])])


def generic_error(error: Any, status: int | None = None, provider: str = "", wire: str = "") -> GenericError | None:
    """Return what is known of an error whose text does not say its cause; None if it says more.

    Arguments as for `explain`. Of a provider that is known to say so, only its own causes are returned.
    """
    text = said(error)
    whole = as_text(error)
    # In a line with several bodies or a traceback, no single message is the innermost.
    messages = dict.fromkeys(_MESSAGE.findall(whole[:MAX_CHARACTERS].replace("\\", "")))
    phrases = _phrases(text, whole, *messages)
    phrase = next((each for each in phrases if each in generic() or each in field_texts()), None)
    status = status or status_in(whole) or status_in(text)
    is_bare = status is not None and any(map(_is_bare, (text, *messages)))
    if phrase is None:
        return GenericError(text, (), status, is_bare=True) if is_bare else None
    known = [each for each in _by_phrase().get(phrase, ()) if status is None or each.status in (status, None)]
    own = [each for each in known if each.host == provider]
    sorted_sayings = sorted(own or known, key=lambda each: bool(wire) and each.wire != wire)
    return GenericError(text, tuple(sorted_sayings), status, is_bare)


def _is_bare(text: str) -> bool:
    """Return whether a text says no more than a status: what SDKs make of an answer without its body."""
    return _BARE.issuperset(_constants(_NO_WORDS.sub(" ", text)))


def is_without_field(text: str) -> bool:
    """Return whether a text is one that means nothing without the field that hosts name with it, and names none."""
    phrase = next((each for each in _phrases(said(text)) if each in field_texts()), None)
    return phrase is not None and not set(_constants(text)) - set(phrase.split()) - _ABOUT_IT


def _phrases(*texts: str) -> Iterator[str]:
    """Yield what texts say in their constant words: all of them, and those after what lines say around an error."""
    for text in texts:
        found = _constants(text)
        before = len(list(takewhile(_ABOUT_IT.__contains__, found)))
        # Some texts begin with such a word themselves.
        yield from [" ".join(found[start:]) for start in range(before + 1)]
        # What gateways put before and after a text is not known, but a long sentence is the same anywhere.
        sentences = [" ".join(_constants(each)) for each in _SENTENCE.split(text[:MAX_CHARACTERS])]
        yield from [each for each in sentences if each.count(" ") >= _LONG]
        yield from [each for each in sentences[-1:] if each.count(" ") >= _SHORT]


def _constants(text: str) -> list[str]:
    return [word for word in words(text).words if is_constant(word)]


@cache
def _by_phrase() -> dict[str, list[Saying]]:
    found: dict[str, list[Saying]] = {}
    for saying in sayings():
        phrase = " ".join(_constants(saying.message))
        if phrase in generic() or phrase in field_texts():
            found.setdefault(phrase, []).append(saying)
    return found
