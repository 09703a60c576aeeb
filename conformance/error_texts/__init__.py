"""Error texts of hosts, and what they mean: `explain` looks one up.

The index holds every refusal in a profile's claims, which lead to rules, and the texts of the files in this folder,
one for each host, that no claim holds. Causes (`_causes.yaml`) say what is wrong, who can fix it and how.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from conformance.error_texts.causes import CauseSide, ErrorCause, causes
from conformance.error_texts.fields import cause_by_field, named_cause
from conformance.error_texts.generic_texts import GenericError, generic_error, is_without_field
from conformance.error_texts.index import Match, known_texts
from conformance.error_texts.sayings import Saying
from conformance.error_texts.signs import likely_cause
from conformance.error_texts.unwrapping import as_text, codes_in, said, status_in
from conformance.error_texts.values import cause_by_values, cause_of_listed

__all__ = [
    "CauseSide",
    "ErrorCause",
    "Explanation",
    "GenericError",
    "Saying",
    "causes",
    "explain",
    "generic_error",
    "said",
]

# A terminal, and who copies from one, breaks words at its width.
_BREAK: Final = re.compile(r"(?<=\w)[ \t]{0,20}\n[ \t]{0,200}(?=\w)")
_FIRST_ERROR: Final = 400
_REASON: Final = "{reason}"
"""What a known text has where a host gives a reason in words of its own."""

_OPEN: Final = ("params.range", "params.unknown")

_MOST_CAUSES: Final = 3
"""A cut text that would fit more causes than this explains nothing."""
_KEPT: Final = 256
_MAX_KEPT: Final = 4096
"""How many explanations are kept, of texts of so many characters: hosts answer many requests with the same error."""


class Explanation(NamedTuple):
    """What an error means.

    `text`: what the host said. `causes`: the cause, and others that hosts answer with the same text. `sayings`: the
    known texts that it is, of the first cause first; empty if only its code or status is known. `status`: its HTTP
    status, if known. `is_part`: it is cut, and only a part of these texts. `is_likely`: no known text fits, but its
    words say this cause.
    """

    text: str
    causes: tuple[ErrorCause, ...]
    sayings: tuple[Saying, ...] = ()
    status: int | None = None
    is_part: bool = False
    is_likely: bool = False

    @property
    def cause(self) -> ErrorCause:
        """Return the cause that fits best."""
        return self.causes[0]

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the hosts that are known to say so for this cause."""
        return tuple(dict.fromkeys([each.host for each in self.sayings if each.cause == self.cause.id]))

    @property
    def since(self) -> str:
        """Return since when, or in which release, the first host says so; empty if that is not known."""
        return next((each.since for each in self._own() if each.host == self.hosts[0]), "")

    @property
    def meaning(self) -> str:
        """Return what is wrong, in the words of the known text if it has any."""
        return next((each.why for each in self._own() if each.why), self.cause.meaning)

    @property
    def fix(self) -> str:
        """Return what to change, in the words of the known text if it has any."""
        return next((each.fix for each in self._own() if each.fix), self.cause.fix)

    def _own(self) -> list[Saying]:
        return [each for each in self.sayings if each.cause == self.cause.id]


def explain(error: Any, status: int | None = None, provider: str = "", wire: str = "") -> Explanation | None:
    """Return what an error means; None if no known text, code, words or status say.

    `error`: its body, or any text with it, such as a log line, a traceback or the output of curl. `status`: its HTTP
    status, otherwise taken from the text. Texts of `provider` and `wire` come first where several fit.
    """
    text = as_text(error)
    # A success that holds an error says nothing about it.
    status = status if status and status >= _FIRST_ERROR else status_in(text)
    explained = _explained if len(text) <= _MAX_KEPT else _explained.__wrapped__
    return explained(text, said(error), status, provider, wire)


@lru_cache(maxsize=_KEPT)
def _explained(text: str, shown: str, status: int | None, provider: str, wire: str) -> Explanation | None:
    """Return what a text means; `shown` is the message in it."""
    found = [] if is_without_field(text) else _preferred(_found(text), provider, wire)
    ids = [each.saying.cause for each in found]
    found_causes = _causes([_first(text, found[0].saying), *ids] if ids else ids)
    is_part = any(each.is_part for each in found)
    if found_causes and not (is_part and len(found_causes) > _MOST_CAUSES):
        order = [each.id for each in found_causes]
        sayings = sorted([each.saying for each in found], key=lambda saying: order.index(saying.cause))
        return Explanation(shown, found_causes, tuple(dict.fromkeys(sayings)), status, is_part)
    return _of_unknown(text, shown, status)


def _found(text: str) -> Sequence[Match]:
    """Return the known texts in a text; if there is none, those in it without its ends of lines inside words."""
    found = known_texts().find(text)
    joined = text if found else _BREAK.sub("", text)
    return found if joined == text else known_texts().find(joined)


def _preferred(found: Iterable[Match], provider: str, wire: str) -> list[Match]:
    """Return matches with those of a provider, and then those of a wire, first."""
    return sorted(found, key=lambda each: (each.saying.host != provider, bool(wire) and each.saying.wire != wire))


def _causes(ids: Iterable[str]) -> tuple[ErrorCause, ...]:
    return tuple([causes()[each] for each in dict.fromkeys(ids)])


def _of_unknown(text: str, shown: str, status: int | None) -> Explanation | None:
    """Return what the code, the words or, failing those, the status of an error say on every host."""
    codes = codes_in(text)
    cause = next((each for each in causes().values() if not codes.isdisjoint(each.codes)), None)
    likely = "" if cause is not None or is_without_field(text) else _likely(text, is_error=status is not None)
    if likely:
        return Explanation(shown, (causes()[likely],), (), status, is_likely=True)
    cause = cause or next((each for each in causes().values() if status in each.statuses), None)
    return None if cause is None else Explanation(shown, (cause,), (), status)


def _likely(text: str, *, is_error: bool = True) -> str:
    """Return the id of the cause that the words of an error say, or those joined where a terminal broke them."""
    is_clear = generic_error(text) is None
    texts = dict.fromkeys((text, _BREAK.sub("", text)))
    found = next(filter(None, [likely_cause(each, is_clear=is_clear, is_error=is_error) for each in texts]), "")
    return _specific(text, found) if found else cause_by_values(text) or named_cause(text)


def _first(text: str, saying: Saying) -> str:
    """Return the id of the cause of a known text; of one that leaves the reason open, the one that its reason says."""
    is_open = _REASON in saying.message and saying.cause in _OPEN
    return (_likely(text) if is_open else "") or _specific(text, saying.cause)


def _specific(text: str, cause: str) -> str:
    """Return the id of the cause that the field and the values say which an error names, beside its words."""
    return cause_of_listed(text, cause_by_field(text, cause))
