"""What in a text is a secret by its shape, by the name before it, or as a part of a URL, though no run knows it."""

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from conformance.secrets import encodings, names, shapes


class Found(NamedTuple):
    """A secret: where it is in a text, of what kind it is, and what identifies it, wherever it is found again.

    `kept`: what of it stays, such as nothing of the query of a signed URL; None for a placeholder.
    """

    start: int
    end: int
    kind: str
    secret: str
    kept: str | None = None


USER: Final = "user and password of a URL"
SIGNED: Final = "query of a signed URL"

_URL: Final = re.compile(r"(?i)\b[a-z][a-z0-9+.-]{1,20}:(?:\\?/){2}[^\s\"'<>`|{}\\^]+(?:\\/[^\s\"'<>`|{}\\^]*)*")
_USER: Final = re.compile(r"[a-z0-9+.-]+:(?:\\?/){2}([^/?#@\\]*(?::[^/?#]*)?)@(?=[^/?#@]*)", re.IGNORECASE)
_QUERY: Final = re.compile(r"[?#]|%3[Ff]")
_PARAMETER: Final = re.compile(r"(?:(?<=[?#])|(?<=%3[Ff])|&amp;|&|;|\\u0026)([\w.\[\]%-]{1,64})=([^&;#\\]*)")
_VALUE: Final = r"""
    (?: (?P<open>\\*["'])(?P<quoted>.{0,4096}?)(?:(?<!\\)(?P=open)|\Z)
    | (?P<bare>(?:(?:bearer|basic|token|apikey|digest|negotiate|aws4-hmac-sha256)[ ]+)?[^\s"'<>(){}\[\],;&`\\|]+) )
"""
_NAMED: Final = re.compile(
    r"""(?<![\w$-])(?P<name>[A-Za-z][\w-]{1,63})(?:\\*["'])?[ \t]*(?P<sep>=>|:=|[:=])[ \t]*""" + _VALUE,
    re.VERBOSE | re.IGNORECASE,
)
_OPTION: Final = re.compile(r"(?<![\w-])--?(?P<name>[A-Za-z][\w-]{1,63})[ \t]+" + _VALUE, re.VERBOSE | re.IGNORECASE)
_HINTS: Final = re.compile(r"key|token|secret|passw|passphrase|passcode|pwd|auth|cookie|cred|bearer|jwt", re.IGNORECASE)
_COOKIES: Final = re.compile(r"(?im)^[ \t]*[<>*]?[ \t]*(?:set-)?cookie:[ \t]*([^\r\n]+)|[\"']cookie: ([^\"'\r\n]+)")
_CURL_HEADER: Final = re.compile(r"(?m)^> ([A-Za-z][\w-]+):[ \t]*([^\r\n]+)")
_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,400}={0,2}(?![A-Za-z0-9+/_-])")
_QUOTED: Final = re.compile(r"\S{6,}")
_MIN_SHAPE: Final = 19
"""The length of the shortest text that looks like a key."""

_NAME: Final = re.compile(r"(?<![\w$-])([A-Za-z][\w-]{1,63})(?:\\*[\"'])?[ \t]*[:=]")
# A hyphen that no word precedes; what a pattern begins with is quicker to find than what must not precede it.
_OPTION_NAME: Final = re.compile(r"-(?<![\w-]-)-?([A-Za-z][\w-]{1,63})[ \t\"']")
_NAME_END: Final = re.compile(r"[\w-]{0,63}(?:\\*[\"'])?[ \t]*[:=]")
"""What follows a part of a name if it is that of a value."""
_FOLDED: Final = "\u0130\u0131\u017f\u212a"
"""Letters beyond ASCII that patterns take for i, s and k where case does not matter."""
_PARAMETER_NAME: Final = re.compile(r"[?&]([\w-]{1,64})=")
_VALUE_NAME: Final = re.compile(r"value(?:\\*[\"'])?[ \t]*[:=]")
_QUOTED_NAME: Final = re.compile(r"\"(?=([\w.-]+)\\*\")")
_NAMING: Final = ("key", "token", "auth", "secret", "passw", "cookie", "cred", "header")
_NAME_AS_VALUE: Final = re.compile(f"(?i){'|'.join(_NAMING)}")
_HOLDERS: Final = frozenset({"params", "parameters", "base64_string", "b64", "base64"})
_URL_WITH_MORE: Final = re.compile(r":(?:\\*/){2}[^\s\"'<>]*[@?#]")
_RANDOM: Final = re.compile(r"(?=\S*[0-9])(?=\S*[A-Za-z])\S{6,}|\S{20,}")


_FURTHER: Final = (
    (
        "password of an option",
        re.compile(r"(?<![\w-])(?:-u|--user|--proxy-user)[ =]+[\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"'\\]{6,})"),
    ),
    ("signature", re.compile(r"AWS4-HMAC-SHA256[^\r\n]{0,400}?Signature=(?P<value>[0-9a-f]{32,})")),
    ("key in a protocol", re.compile(r"insecure-api-key\.(?P<value>[^\s,;\"'\\]{6,})")),
    ("password in netrc", re.compile(r"\blogin\s+\S{1,64}\s+password\s+(?P<value>\S{6,})")),
    (
        "",
        re.compile(
            r"form-data; name=\\?\"(?P<name>[\w.-]{1,64})\\?\"[^\r\n\\]{0,99}(?:(?:\\r)?\\n|\r?\n){2}"
            r"(?P<value>[^\r\n\"\\]{6,4096})"
        ),
    ),
    (
        "",
        re.compile(
            r"(?:[?&]|%(?:25)*(?:3[Ff]|26))(?P<name>[A-Za-z][\w-]{1,63})%(?:25)*3[Dd](?P<value>[^%&;\s\"'<>\\]{6,})"
        ),
    ),
)
"""Secrets in forms of their own: the kind, and the pattern; one with a name counts if that says so."""
_FURTHER_HINT: Final = re.compile(
    r"(?<![\w-])(?:-u|--user|--proxy-user)[ =]|AWS4-HMAC|insecure-api-key|\blogin\s|form-data; name|%(?:25)*3[Dd]"
)
_FURTHER_PARTS: Final = (
    "-u ",
    "-u=",
    "-user ",
    "-user=",
    "AWS4-HMAC",
    "insecure-api-key",
    "login",
    "form-data; name",
    "%",
)
"""Texts of which any has one that the hint finds."""


class Hints(NamedTuple):
    """What a text may have, so that its parts need not be searched for everything: see `hints`."""

    shaped: bool
    urls: bool
    named: bool
    secrets: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there may be anything at all."""
        return self.shaped or self.urls or self.named or bool(self.secrets)


def hints(text: str, secrets: tuple[str, ...]) -> Hints:
    """Return which kinds of secrets a text, and what is quoted in it, may have; quick, and right if it says none."""
    escaped = encodings.has_escapes(text)
    plain = encodings.unescaped(text) if escaped else text
    shaped = shapes.may_hold(text) or (escaped and shapes.may_hold(plain)) or any(_encoded(text))
    urls = _URL_WITH_MORE.search(plain) is not None
    named = _has_names(text) or (escaped and _has_names(plain)) or ("> " in text and bool(_CURL_HEADER.search(text)))
    named = named or _has_further(plain)
    return Hints(shaped, urls, named, encodings.candidates(secrets, text) if secrets else ())


def _has_names(text: str) -> bool:
    """Return whether a text has a name that says that a secret follows."""
    if ("?" in text or "&" in text) and any(map(names.is_secret_parameter, {*_PARAMETER_NAME.findall(text)})):
        return True
    if not _may_have_names(text):
        return any(map(_says_secret, {*_OPTION_NAME.findall(text)}))
    said = {*_NAME.findall(text), *_OPTION_NAME.findall(text)}
    # The name of a header or an attribute may be a value itself, beside what it names.
    return any(map(_says_secret, said)) or ("value" in said and _has_name_as_value(text))


def _may_have_names(text: str) -> bool:
    """Return whether a text may have such a name beside a value; quick, and right if it says no."""
    if not text.isascii() and any([each in text for each in _FOLDED]):
        return True
    lower = text.lower()
    present = [each for each in _parts_of_names() if each in lower]
    if not present:
        return False
    if _VALUE_NAME.search(text) and _has_name_as_value(text):
        return True
    for part in present:
        at = lower.find(part)
        while at >= 0:
            at += len(part)
            if _NAME_END.match(lower, at):
                return True
            at = lower.find(part, at)
    return False


def _has_name_as_value(text: str) -> bool:
    """Return whether a text has a quoted word that may name a secret."""
    return any(map(_NAME_AS_VALUE.search, {*_QUOTED_NAME.findall(text)}))


@lru_cache(maxsize=1)
def _parts_of_names() -> tuple[str, ...]:
    """Return texts of which each name that says that a secret follows has one, in lower case."""
    every = {*_NAMING, "query", *_HOLDERS, *names.words()["always"]}
    return tuple(sorted([each for each in every if not any(other in each for other in every - {each})]))


def _has_further(text: str) -> bool:
    """Return whether a text may have a secret in a form of its own."""
    return any([each in text for each in _FURTHER_PARTS]) and _FURTHER_HINT.search(text) is not None


@lru_cache(maxsize=4096)
def _says_secret(name: str) -> bool:
    """Return whether a name says that a secret follows, or things that have names of their own."""
    lower = name.lower()
    return lower.endswith("headers") or lower in _HOLDERS or lower.startswith("query") or names.is_secret(name)


def find(text: str, given: Hints | None = None) -> Iterator[Found]:
    """Yield what in a text is a secret by its shape, by the name before it, or as a part of a URL.

    `given`: the hints of a text that holds this one.
    """
    if (given is None or given.shaped) and len(text) >= _MIN_SHAPE:
        yield from _shaped(text)
    if (given is None or given.urls) and ("://" in text or ":\\/" in text):
        yield from _of_urls(text)
    if (given is None or given.named) and _HINTS.search(text):
        yield from _named(text)
    if given is None or given.named:
        yield from _further(text)


def shaped(text: str) -> Iterator[Found]:
    """Yield what in a text looks like a key as it stands."""
    for each in shapes.spans(text):
        yield Found(each.start, each.end, each.kind, text[each.start : each.end])


def _further(text: str) -> Iterator[Found]:
    """Yield secrets in forms of their own: in options, signatures, form data, and URLs encoded more than once."""
    for kind, pattern in _FURTHER if _has_further(text) else ():
        for match in pattern.finditer(text):
            name, value = match.groupdict().get("name"), match["value"]
            if (name is None or names.is_secret_parameter(name)) and not names.is_unset(value):
                yield Found(*match.span("value"), kind if name is None else f"value of {name}", value)


def _shaped(text: str) -> Iterator[Found]:
    yield from shaped(text)
    if encodings.has_escapes(text):
        pieces = list(encodings.unescaped_spans(text))
        for each in shapes.spans("".join([piece[2] for piece in pieces])):
            secret = "".join([piece[2] for piece in pieces[each.start : each.end]])
            yield Found(pieces[each.start][0], pieces[each.end - 1][1], each.kind, secret)
    yield from _encoded(text)


def _encoded(text: str) -> Iterator[Found]:
    for match in _ENCODED.finditer(text):
        if not (decoded := _decoded(match[0])):
            continue
        if held := next(shapes.spans(decoded), None):
            yield Found(*match.span(), f"{held.kind}, in base64", decoded[held.start : held.end])
        elif decoded.startswith("{") and (named := next(_named(decoded), None)):
            yield Found(*match.span(), f"{named.kind}, in base64", named.secret)


def _decoded(text: str) -> str:
    """Return what a text in base64 says, if it is ASCII; empty if not."""
    return found if (found := decoded_text(text)).isascii() else ""


def decoded_text(text: str) -> str:
    """Return what a text in base64 says; empty if it says none."""
    data = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return b64decode(data + "=" * (-len(data) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


def _of_urls(text: str) -> Iterator[Found]:
    for match in _URL.finditer(text):
        url, at = match[0], match.start()
        user = _USER.match(url)
        if user and user[1] and not names.is_unset(user[1]) and (":" in user[1] or not names.is_plain(user[1])):
            yield Found(at + user.start(1), at + user.end(1), USER, user[1])
        query = _QUERY.search(url)
        if query:
            yield from _of_query(url, query.start(), at)


def _of_query(url: str, start: int, at: int) -> Iterator[Found]:
    """Yield the secrets in the query of a URL that is `at` this place of a text; a signed one goes as a whole."""
    given = list(_PARAMETER.finditer(url, start + 1))
    lower = {each[1].lower() for each in given}
    known = names.words()
    if lower & known["signatures"] or (lower & known["weak_signatures"] and lower & known["with_signatures"]):
        end = len(url.rstrip(".,;:!?)]"))
        yield Found(at + start, at + end, SIGNED, url[start:end], kept="")
        return
    for each in given:
        if names.is_secret_parameter(each[1]) and not names.is_unset(each[2]) and not names.is_plain(each[2]):
            yield Found(at + each.start(2), at + each.end(2), f"value of {each[1]}", each[2])


def _named(text: str) -> Iterator[Found]:
    """Yield values whose names say that they are secrets, as JSON, Python, shells and HTTP write names and values."""
    for pattern in (_NAMED, _OPTION):
        for match in pattern.finditer(text):
            name = match["name"]
            if names.is_secret(name) or (names.is_secret_parameter(name) and _is_in_query(text, match.start())):
                yield from _value(match, name)
    for match in _COOKIES.finditer(text):
        group = 1 if match[1] else 2
        if not names.is_unset(match[group]):
            yield Found(*match.span(group), "value of cookie", match[group])
    for match in _CURL_HEADER.finditer(text):
        value = match[2]
        if not names.is_kept_header(match[1]) and not names.is_plain(value) and not names.is_unset(value):
            yield Found(*match.span(2), f"value of {match[1]}", value)


def _value(match: "re.Match[str]", name: str) -> Iterator[Found]:
    """Yield the value after a name, without a scheme before it and punctuation after it, if it is a secret."""
    quoted = match["quoted"] is not None
    group = "quoted" if quoted else "bare"
    value = names.without_scheme(match[group])
    start = match.end(group) - len(value)
    value = value if quoted else value.rstrip(".:!?*")
    if _is_secret(value, quoted=quoted):
        yield Found(start, start + len(value), f"value of {name}", value)


def _is_in_query(text: str, at: int) -> bool:
    return at > 0 and text[at - 1] in "?&"


def _is_secret(value: str, *, quoted: bool) -> bool:
    """Return whether a value in a text is a secret: prose explains tokens, and examples show passwords."""
    if names.is_unset(value) or names.is_plain(value):
        return False
    return _QUOTED.fullmatch(value) is not None if quoted else _RANDOM.fullmatch(value) is not None
