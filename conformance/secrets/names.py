"""Names that say that a value is a secret: of members, parameters, variables and headers. The word lists are data.

A name is compared by its words, not by what it contains: `apiKey`, `x-goog-api-key` and `AWS_SECRET_ACCESS_KEY` name
secrets; `max_tokens`, `authors`, `key_points` and `monkey` do not.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from conformance.derived import derived
from conformance.documents import read_yaml

MIN_VALUE: Final = 4
"""The length of the shortest value that is a secret because of its name."""

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PLAIN: Final = re.compile(
    r"[a-z]{0,20}|[A-Z][a-z]{0,20}|[A-Z]{0,20}|[a-z]{3,12}(?:[A-Z][a-z]{2,12})+|[0-9.:\s-]*|[A-Za-z]{1,5}[0-9]{0,2}"
)
_UNSET: Final = re.compile(
    r"""\s*(?:\[redacted(?:-[0-9]+)?\]|redacted0*[0-9]*|[xX]+|\*+|•+|\.+|…|\[\w+\]
    |[A-Z]+(?:_[A-Z]+)+|<[^<>]*>|\$\{[^{}]*\}|\$\w+|\{\{.*\}\}|\{\w*\}|%\(?\w*\)?s|env[:.]\w+|process\.env\.\w+|os\.\w+.*
    |(?i:your[-_ ]?(?:api[-_ ]?)?(?:key|token|secret)(?:[-_ ]?here)?))\s*""",
    re.VERBOSE | re.DOTALL,
)
_VAGUE: Final = (["auth"], ["token"])
"""Names that may have to do with the text of a model, whose values have to look like a secret as well."""

_RANDOM: Final = re.compile(r"(?=\S*[0-9])(?=\S*[A-Za-z])\S{8,}|\S{20,}")
_SCHEMES: Final = re.compile(r"(?:bearer|basic|token|apikey|key|digest|negotiate)\s+(?=\S)", re.IGNORECASE)


@lru_cache(maxsize=1)
def words() -> Mapping[str, frozenset[str]]:
    """Return the lists of words, by name."""
    path = Path(__file__).with_name("words.yaml")
    # The layers of definitions and of schemas stand above this one.
    value = derived("secrets", "words", (path.read_bytes(),), lambda: read_yaml(path).value)
    return {name: frozenset(text.split()) for name, text in value.items()}


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Return whether a member of an object, or a variable, with this name holds a secret."""
    said, known = _words(name), words()
    if not said or said[-1] in known["about"]:
        return False
    if said[-1] in ("key", "keys") and len(said) > 1:
        return said[-2] in known["before_key"] or not known["always"].isdisjoint(said)
    if said[-1] == "token":
        return len(said) == 1 or said[-2] not in known["not_before_token"]
    return not known["always"].isdisjoint(said) or _is_joined(said[-1])


def is_secret_variable(name: str) -> bool:
    """Return whether a variable of the environment with this name holds a secret: any key and token does."""
    return is_secret(name) or name.lower().endswith(("key", "pat", "token"))


@lru_cache(maxsize=4096)
def is_secret_parameter(name: str) -> bool:
    """Return whether a parameter of a query or a form with this name holds a secret."""
    said = _words(name)
    is_alone = len(said) == 1 and said[0] in words()["parameters"]
    return is_secret(name) or is_alone or said[-1:] in (["signature"], ["key"])


@lru_cache(maxsize=4096)
def is_kept_header(name: str) -> bool:
    """Return whether a header of a request is known to hold no secret."""
    lower = name.lower().strip()
    return lower in words()["kept_headers"] or lower.startswith(tuple(words()["kept_prefixes"]))


def is_unset(value: str) -> bool:
    """Return whether a value stands for a secret that is not there, such as `${API_KEY}` or an earlier placeholder."""
    is_word = value.strip(" []").lower() in words()["unset"]
    return len(value) < MIN_VALUE or is_word or _UNSET.fullmatch(value) is not None


def is_plain(value: str) -> bool:
    """Return whether a value is a word or a number, which a text may have for other reasons."""
    return _PLAIN.fullmatch(value.strip("\"'")) is not None


def is_about(name: str) -> bool:
    """Return whether the last word of a name says that it describes something, such as the type of a credential."""
    return not words()["about"].isdisjoint(_words(name)[-1:])


def is_value(name: str, value: str) -> bool:
    """Return whether what stands under the name of a secret is one; a word that texts have for other reasons is not."""
    if is_unset(value):
        return False
    if _words(name) in _VAGUE:
        return _RANDOM.fullmatch(value) is not None
    return not is_plain(value)


def without_scheme(value: str) -> str:
    """Return the value of an authorization header without its scheme."""
    return _SCHEMES.sub("", value, count=1)


def _words(name: str) -> list[str]:
    return [each.lower() for each in _WORDS.findall(name)]


def _is_joined(word: str) -> bool:
    """Return whether a word is two that make a secret, such as `accesskey` and `authtoken`."""
    if word.endswith("key"):
        return word[:-3] in words()["before_key"]
    return word.endswith("token") and word[:-5] in words()["joined_with_token"]
