"""The words of an error text, without what differs from one occurrence to the next.

Numbers, ids and names of models become holes. JSON, Python reprs, escapes and JSON inside JSON need no parser here:
what surrounds words is dropped, so that a cut or twice-escaped body has the same words as the message in it.
"""

import re
from typing import Final, NamedTuple

HOLE: Final = "\x00"
"""Stands for a number, an id or the name of a model."""

GAP: Final = "\x01"
"""Stands for an ellipsis: the text was cut there."""

MAX_CHARACTERS: Final = 16_384
"""How much of a text is read at each end. Real error bodies are below 4 kB; tracebacks end with the error."""

_ESCAPES: Final = re.compile(r"\\+")
_UNICODE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_WHITE: Final = re.compile(r"\\[nrt]")
_URL: Final = re.compile(r"https?://[^\s\"'<>)}\]]+")
_PLACEHOLDER: Final = re.compile(r"<(?:n|id|ids|index|name|number|model)>", re.IGNORECASE)
_TOKEN: Final = re.compile(r"…|\.\.\.+|\x00|\w[\w-]*")
_MODEL: Final = re.compile(
    r"(?:claude|codex|command|deepseek|devstral|ernie|gemini|gemma|glm|gpt|grok|hunyuan|kimi|llama|magistral|ministral"
    r"|minimax|mistral|mixtral|nemotron|nova|phi|pixtral|qwen|qwq|sonar|step)-[\w-]+",
    re.IGNORECASE,
)
_BOUNDARY: Final = re.compile(r"[\"{}\[\]\n=()]|'\s*[:,]|[:,]\s*'|[:;.!?]\s|[:.]$|\s[-–—|]\s|[。！？；：]")
_SHORT: Final = 2


class Words(NamedTuple):
    """The words of a text in lower case, with `HOLE` and `GAP`.

    `boundaries`: the positions at which a message may begin, and where one may end; the last is the number of words.
    """

    words: tuple[str, ...]
    boundaries: frozenset[int]


def words(text: str) -> Words:
    """Return the words of a text; of one beyond twice `MAX_CHARACTERS`, those of its beginning and its end."""
    if len(text) > 2 * MAX_CHARACTERS:
        text = f"{text[:MAX_CHARACTERS]} … {text[-MAX_CHARACTERS:]}"
    text = _plain(text)
    found: list[str] = []
    boundaries = {0}
    end = 0
    for match in _TOKEN.finditer(text):
        word = _word(match[0])
        if _BOUNDARY.search(text, end, match.start()) or word == GAP or found[-1:] == [GAP]:
            boundaries.add(len(found))
        end = match.end()
        # Holes in a row are one: an id that has dots is as variable as one that has none. So are ellipses.
        if is_constant(word) or found[-1:] != [word]:
            found.append(word)
    return Words(tuple(found), frozenset({*boundaries, len(found)}))


def _plain(text: str) -> str:
    """Return a text without escapes, however often it was escaped, and without URLs and written placeholders."""
    # First runs of backslashes become one, because to look for what follows a run takes quadratic time.
    text = _ESCAPES.sub(r"\\", text)
    text = _UNICODE.sub(lambda code: chr(int(code[1], 16)), text)
    text = _WHITE.sub("\n", text).replace("\\", "")
    return _PLACEHOLDER.sub(HOLE, _URL.sub(HOLE, text))


def _word(token: str) -> str:
    """Return a token in lower case, or what it stands for."""
    if token == HOLE:
        return HOLE
    if token[0] in "….":
        return GAP
    token = token.rstrip("-")
    is_variable = token in ("N", "X") or token.endswith("_") or any(map(str.isdigit, token))
    return HOLE if is_variable or _MODEL.fullmatch(token) else token.lower()


def is_constant(word: str) -> bool:
    """Return whether a word is one that must be there."""
    return word not in (HOLE, GAP)
