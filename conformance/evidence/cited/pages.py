"""Pages as text, and a folder that keeps them, so that an interrupted check resumes and a test needs no network."""

import hashlib
import html
import re
import unicodedata
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import orjson

from conformance import artifacts
from conformance.documents import read_json
from conformance.errors import InvalidDocument

MAX_TEXT: Final = 1024 * 1024
"""Characters of a page that are kept."""

_GONE: Final = (404, 410)
_TAG: Final = re.compile(r"<[^<>]*>")
_ESCAPED: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\[nrt]")
_ELLIPSIS: Final = re.compile(r"\[?(?:…|\.\.\.)\]?")
_NOT_LETTERS: Final = re.compile(r"[\W_]+")
_TEXT: Final = re.compile(r"text/|json|xml|javascript|yaml")
_HEAD: Final = 20
_DIGITS: Final = 32
_CHARSETS: Final = frozenset({"gb18030", "gb2312", "gbk", "big5", "euc-jp", "shift_jis", "iso-8859-1", "windows-1252"})
"""The encodings of text that pages have beside UTF-8; Python knows others, some of which are slow."""


@dataclass(frozen=True, slots=True)
class Page:
    """What an address answered.

    `status` is the last HTTP status, `address` where it came from after redirects, `text` the page without its markup,
    `fetched` the ISO 8601 time. `failure` says in words why nothing is known of the page; the rest is then empty.
    """

    url: str
    status: int = 0
    address: str = ""
    text: str = ""
    fetched: str = ""
    failure: str = ""

    @property
    def is_gone(self) -> bool:
        """Return True if the server says that there is no such page."""
        return self.status in _GONE

    def holds(self, quote: str) -> bool:
        """Return True if the page holds the words of a quote; an ellipsis stands for any words."""
        text, at = _page_letters(self.text), 0
        for fragment in map(letters, fragments(quote)):
            found = text.find(fragment, at)
            if found < 0:
                return False
            at = found + len(fragment)
        return True


class Pages:
    """A folder of pages; the name of a file is the digest of its address."""

    def __init__(self, folder: Path) -> None:
        """Take a folder, which need not exist."""
        self._folder = folder

    def get(self, url: str, since: str = "") -> Page | None:
        """Return the page of an address, if it was fetched at that ISO 8601 time or later; None if there is none."""
        try:
            saved: Any = read_json(self._path(url))
            page = Page(**saved)
        except (InvalidDocument, TypeError):
            return None
        typed = isinstance(page.status, int) and all(isinstance(each, str) for each in (page.text, page.fetched))
        return page if typed and page.url == url and page.fetched >= since else None

    def put(self, page: Page) -> None:
        """Keep a page."""
        artifacts.write(self._path(page.url), orjson.dumps(asdict(page)))

    def _path(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:_DIGITS]}.json"


def readable(content: bytes, content_type: str) -> str:
    """Return the text of a body: without markup, with the texts that scripts hold; nothing of it is interpreted.

    It is empty for a body that is not text, such as a PDF.
    """
    kind = content_type.lower()
    if kind and not _TEXT.search(kind):
        return ""
    named = kind.partition("charset=")[2].partition(";")[0].strip(" \"'")
    text = content.decode(named if named in _CHARSETS else "utf-8", "replace")[:MAX_TEXT]
    if "html" in kind or text.lstrip()[:_HEAD].lower().startswith(("<!doctype html", "<html")):
        # Scripts hold pages as JSON, whose markup is escaped.
        text = html.unescape(_TAG.sub(" ", _unescaped(text)))
        return " ".join(text.split())
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda escape: _character(escape[1]), text)


def _character(digits: str | None) -> str:
    """Return the character of an escape in JSON; half a surrogate pair is not a character."""
    character = chr(int(digits, 16)) if digits else " "
    return " " if "\ud800" <= character <= "\udfff" else character


def fragments(quote: str) -> list[str]:
    """Return the parts of a quote between its ellipses."""
    return _ELLIPSIS.split(quote)


@lru_cache(maxsize=16)
def _page_letters(text: str) -> str:
    return letters(text)


def letters(text: str) -> str:
    """Return only the letters and digits, because pages differ in markup, quotes and spaces."""
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", _unescaped(text)).casefold())
