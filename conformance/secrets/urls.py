"""URLs as they are printed: without user, password and query, and without what looks like a token in the path."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, unquote_plus, urlsplit

from conformance.secrets import REDACTED, names, shapes

PARAMETER: Final = re.compile(r"[&;]?([^=&;]+)=([^&;]*)")
"""A parameter of a query or a fragment: its name and its value."""

_MIN_TOKEN: Final = 12
"""Characters of the shortest part of a path that is taken for a token; words with a number are shorter."""

_ID: Final = re.compile(r"(?:asst|batch|chatcmpl|conv|file|msg|run|resp|step|thread|vs)[_-]", re.IGNORECASE)
_PARTS: Final = re.compile(r"[^A-Za-z0-9]+")


def shown_url(url: str) -> str:
    """Return a URL to print; what is not a URL becomes its text up to the query."""
    try:
        parts = urlsplit(url)
        host, path = parts.netloc.rpartition("@")[2], parts.path
    except ValueError:
        return re.sub(r"//[^/]*@", "//", url.partition("?")[0])
    start = f"{parts.scheme}://{host}" if host else f"{parts.scheme}:" if parts.scheme else ""
    return start + "/".join([REDACTED if _is_token(each) else each for each in path.split("/")])


def secrets_of(url: str) -> Iterator[str]:
    """Yield what in a URL is a secret, as written and decoded: user, password, parameters, tokens in the path."""
    try:
        parts = urlsplit(url)
        given = [parts.username or "", parts.password or ""]
    except ValueError:
        return
    for query in (parts.query, parts.fragment):
        given += [value for name, value in PARAMETER.findall(query) if names.is_secret_parameter(name)]
    for each in filter(None, [*given, *token_parts(parts.path)]):
        yield from dict.fromkeys([each, unquote(each), unquote_plus(each)])


def token_parts(path: str) -> list[str]:
    """Return the segments of a path that look like tokens, and not like ids that this API gave."""
    return [each for each in path.split("/") if _is_token(each) and not _ID.match(each)]


def _is_token(segment: str) -> bool:
    text = unquote(segment)
    if ("@" in text and ":" in text) or any(shapes.spans(text)):
        return True
    return any(
        len(part) >= _MIN_TOKEN and re.search("[A-Za-z]", part) and re.search("[0-9]", part)
        for part in _PARTS.split(text)
    )
