"""Calls that leaked without any marker: only the name of a declared tool shows that a text is one."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Final

from conformance.markup.families import Family, load

_JSON: Final = re.compile(
    r"(?P<head>\A\s*|^[ \t]*|[;:.]\s+)\[?\s*\{\s*(?:\"(?:id|type|tool_call_id)\"\s*:\s*\"[^\"\n]*\"\s*,\s*)?"
    r"\"(?:name|tool_name|function|tool)\"\s*:\s*\"(?P<name>[^\"\n]{1,128})\"\s*,\s*"
    r"\"(?:arguments|parameters|input|args)\"\s*:\s*[{\"]",
    re.M,
)
_KEYED: Final = re.compile(r"^[ \t]*\[\s*\{\s*\"(?P<name>[\w.-]{1,128})\"\s*:\s*\{", re.M)
_PYTHON: Final = re.compile(
    r"^[ \t]*(?P<open>\[?)(?P<name>[A-Za-z_][\w.]*)\((?:\s*\)|\s*[A-Za-z_]\w*\s*=)[^\n]*\)(?P<close>\]?)[ \t]*(?:</?\w+>)?$", re.M
)
_GLUED: Final = re.compile(r"(?<![\w.\"'])(?P<name>[A-Za-z_][\w.-]*)(?:\{|[ \t]*\n\{)\s*(?:\"|\})")
_FENCED: Final = re.compile(r"(?:\A|\n)\s*```(?P<tag>\w*)\s*\n(?P<code>[^`]*?)\s*(?:```|\Z)\s*\Z")
_FAMILIES: Final = {"json": ("xlam", "llama_json", "hermes", "mistral"), "python": ("llama_pythonic", "olmo3", "lfm2")}

Found = tuple[Sequence[Family], str, int]
"""The families that write a call so, the call's beginning as it stands in the text, and where."""


def bare_calls(text: str, plain: str, names: Collection[str]) -> Iterator[Found]:
    """Yield calls of declared tools that a text has without markers; `plain` is the text with what it quotes masked."""
    if not names or text.rstrip()[-1:] not in ("}", "]", ")", "`", ";", ">"):
        return
    for key, pattern in (("json", _JSON), ("json", _KEYED), ("python", _PYTHON), ("json", _GLUED)):
        for found in pattern.finditer(plain):
            if found["name"] in names and _stands_alone(plain, key, found):
                yield _families(key), found[0].strip(" \t\n;:."), found.start("name")
                return
    yield from _fenced(text, names)


def _fenced(text: str, names: Collection[str]) -> Iterator[Found]:
    """Yield the call that is all of a fence at the end of a text: as its whole, or marked as code of a tool."""
    found = _FENCED.search(text)
    if found is None:
        return
    is_whole, tag = not text[: found.start()].strip(), found["tag"]
    for key, pattern in (("json", _JSON), ("python", _PYTHON)):
        call = pattern.match(found["code"])
        if call is not None and call["name"] in names and (tag == "tool_code" or (is_whole and tag in ("", "json"))):
            families = [each for each in load() if each.name == "gemma3"] if tag == "tool_code" else _families(key)
            yield families, found[0].strip()[:40], found.start()
            return


def _stands_alone(plain: str, key: str, found: re.Match[str]) -> bool:
    """Return whether a call is no part of code: its brackets match, and nothing but calls follows it."""
    if key == "json":
        return True
    rest = plain[found.end() :].strip()
    is_listed = bool(found["open"]) is bool(found["close"])
    return is_listed and (not rest or _PYTHON.match(rest) is not None) and "def " not in plain and "import " not in plain


@cache
def _families(key: str) -> tuple[Family, ...]:
    return tuple([each for name in _FAMILIES[key] for each in load() if each.name == name])
