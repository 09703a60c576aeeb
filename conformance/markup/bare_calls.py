"""Calls that leaked without any marker: only the name of a declared tool shows that a text is one."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Final

from conformance.markup.families import Family, load
from conformance.markup.signs import closes_a_call
from conformance.wire.arguments import read_json

_JSON: Final = re.compile(
    r"^[ \t]*(?:\[\s*)?\{\s*(?:\"(?:id|type|tool_call_id)\"\s*:\s*\"[^\"\n]*\"\s*,\s*)?"
    r"\"(?:name|tool_name|function|tool)\"\s*:\s*\"(?P<name>[^\"\n]{1,128})\"\s*,\s*"
    r"\"(?:arguments|parameters|input|args)\"\s*:\s*[{\"]",
    re.M,
)
_KEYED: Final = re.compile(r"^[ \t]*\[\s*\{\s*\"(?P<name>[\w.-]{1,128})\"\s*:\s*\{", re.M)
_PYTHON: Final = re.compile(
    r"^[ \t]*(?P<open>\[?)(?P<name>[A-Za-z_][\w.]*)\((?:\s*\)|\s*[A-Za-z_]\w*\s*=)[^\n]*\)(?P<close>\]?)[ \t]*"
    r"(?:</?\w+>)?$",
    re.M,
)
_GLUED: Final = re.compile(r"(?<![\w.\"'-])(?P<name>[A-Za-z_][\w.-]*)(?:\{|[ \t]*\n\{)\s*(?:\"|\})")
_ELEMENTS: Final = re.compile(
    r"^[ \t]*(?:<\w{1,40}>\s{0,9})?<(?P<tag>name|tool_name|tool|function)>\s{0,9}(?P<name>[\w.-]{1,128})\s{0,9}"
    r"</(?P=tag)>\s{0,9}<(?:arguments|parameters|args|input)>\s{0,9}\{",
    re.M,
)
"""As prompts ask models without tools to call them: a name and its arguments, each in an element."""

_SHOWN: Final = 40
_CALLED: Final = re.compile(r"([A-Za-z_][\w.]*)\(")
_PROSE: Final = re.compile(r"[}\]][ \t]*\n*[ \t]*(?:[A-Za-z]+[,.:]?\s+){3}")
"""A sentence after the end of a JSON value."""

_FAMILIES: Final = {"json": ("xlam", "llama_json", "hermes", "mistral"), "python": ("llama_pythonic", "olmo3", "lfm2")}

Found = tuple[Sequence[Family], str, int]
"""The families that write a call so, the call's beginning as it stands in the text, and where."""


def may_call(text: str, names: Collection[str]) -> bool:
    """Return whether a text may end with a call without markers: it names a tool, and closes what it opened."""
    return closes_a_call(text) and bool(names) and (text.startswith("[") or any([name in text for name in names]))


def bare_calls(text: str, plain: str, names: Collection[str]) -> Iterator[Found]:
    """Yield calls of declared tools that a text has without markers; `plain` is the text with what it quotes masked."""
    if not may_call(text, names):
        return
    for pattern, key, ends in _SHAPES:
        for found in pattern.finditer(plain):
            if _names_declared(found, names) and ends(plain, found):
                yield _families(key), found[0].strip(" \t\n;:."), found.start("name")
                return
    if _is_list_of_calls(text):
        yield _families("json"), text.strip()[:_SHOWN], 0
    yield from _fenced(text, names)


def _names_declared(found: re.Match[str], names: Collection[str]) -> bool:
    """Return whether a call is that of a declared tool; of several on a line, one is enough."""
    called = [found["name"], *_CALLED.findall(found[0])] if found.re is _PYTHON else [found["name"]]
    return any([each in names for each in called])


def _is_list_of_calls(text: str) -> bool:
    """Return whether a text is a JSON list of calls and nothing else, so that no name needs to be known."""
    if not text.lstrip().startswith("["):
        return False
    try:
        value = read_json(text)
    except (ValueError, RecursionError):
        return False
    return bool(value) and all(
        [
            type(each) is dict
            and {"name", "arguments"} <= each.keys() <= {"name", "arguments", "id", "type"}
            and type(each["arguments"]) is dict
            for each in value
        ]
    )


def _fenced(text: str, names: Collection[str]) -> Iterator[Found]:
    """Yield the call that is all of a fence at the end of a text: as its whole, or marked as code of a tool."""
    stripped = text.rstrip()
    start = stripped.rfind("```", 0, -3)
    if not stripped.endswith("```") or start < 0:
        return
    tag, _, code = stripped[start + 3 : -3].partition("\n")
    if tag not in ("tool_code", "json", "") or (tag != "tool_code" and stripped[:start].strip()):
        return
    for key, pattern in (("json", _JSON), ("python", _PYTHON)):
        call = pattern.match(code.strip())
        if call is not None and call["name"] in names:
            families = [each for each in load() if each.name == "gemma3"] if tag == "tool_code" else _families(key)
            yield families, stripped[start : start + _SHOWN], start
            return


def _ends_as_json(plain: str, found: re.Match[str]) -> bool:
    """Return whether nothing but JSON and closing signs comes after the beginning of a call."""
    return _PROSE.search(plain[found.end() :]) is None


def _ends_as_calls(plain: str, found: re.Match[str]) -> bool:
    """Return whether a call in Python is no part of code: its brackets match, and nothing but calls follows it."""
    rest = plain[found.end() :].strip()
    is_listed = bool(found["open"]) is bool(found["close"])
    is_last = not rest or _PYTHON.match(rest) is not None
    return is_listed and is_last and "def " not in plain and "import " not in plain


_SHAPES: Final = (
    (_JSON, "json", _ends_as_json),
    (_KEYED, "json", _ends_as_json),
    (_PYTHON, "python", _ends_as_calls),
    (_GLUED, "json", _ends_as_json),
    (_ELEMENTS, "json", _ends_as_json),
)


@cache
def _families(key: str) -> tuple[Family, ...]:
    return tuple([each for name in _FAMILIES[key] for each in load() if each.name == name])
