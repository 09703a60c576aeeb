"""Markup in a call that a parser did read: at the end of its name, or at an end of a value of its arguments."""

import re
from collections.abc import Collection
from typing import Final

from conformance.markup.detection import Leak
from conformance.markup.families import Family
from conformance.markup.patterns import patterns
from conformance.markup.signs import REMAINS, TOKEN

_SIGNS: Final = re.compile(r"[<>|｜\[\]]|^functions\.|^(?:to=|call:)")
_PREFIX: Final = re.compile(r"^(?:to=)?functions\.|^(?:to=|call:)")
_CLOSERS: Final = (
    "parameter", "function", "tool_call", "invoke", "arg_value", "arg_key", "param", "function_calls", "tool_calls",
)  # fmt: skip
_SPECIAL: Final = r"<[|｜]/?\w[\w▁.:-]{0,40}[|｜]>|\]<\]minimax\[>\["
_AT_END: Final = re.compile(
    rf"(?P<before>[^\"\\{{\[:,\s])(?:\\n|\s)*(?P<m></(?:{'|'.join(_CLOSERS)})>|<\|\\\"\|>|{_SPECIAL})(?:\\n|\s)*\"\s*[,}}\]]"
)
_AFTER: Final = re.compile(rf"\}}\s*(?P<m></(?:{'|'.join(_CLOSERS)})>|{_SPECIAL}|<tool_call\|>)[^\"]{{0,200}}\Z")


def may_be_markup(name: str) -> bool:
    """Return whether a name has a character that no name of a function has."""
    return _SIGNS.search(name) is not None


def part_of_name(name: str, names: Collection[str]) -> Leak | None:
    """Return the markup in the name of a function that is not declared; None if there is none.

    `names`: those of the declared tools. A name that begins as recipients do in a model's markup has that prefix.
    """
    if not may_be_markup(name):
        return None
    prefix = _PREFIX.match(name)
    if prefix is not None:
        if names and name[prefix.end() :].partition(":")[0] not in names:
            return None
        return _leak(prefix[0], 0)
    found = patterns().any_marker.search(name)
    if found is not None:
        return _leak(found[0], found.start())
    return None


def end_of_value(arguments: str) -> Leak | None:
    """Return the markup at the end of a value in the text of arguments, or behind it; None if there is none.

    An end tag whose start tag stands in the text belongs to what the value says, and so does a token among others.
    """
    for pattern in (_AT_END, _AFTER):
        found = pattern.search(arguments)
        if found is not None and not _is_meant(arguments, found["m"]):
            return _leak(found["m"].replace("\\", ""), found.start("m"))
    return None


def _is_meant(arguments: str, marker: str) -> bool:
    if marker.startswith("</"):
        return re.search(rf"<{re.escape(marker[2:-1])}[\s>=]", arguments) is not None
    return '"' not in marker and len(re.findall(_SPECIAL, arguments)) > 1


def _leak(marker: str, start: int) -> Leak:
    known = patterns().markers.get(marker)
    families: tuple[Family, ...] = () if known is None else known.families
    if known is None:
        written = [form for form in patterns().forms if re.escape(marker) in form.pattern.pattern]
        families = tuple(dict.fromkeys([form.family for form in written]))
    return Leak(REMAINS if families else TOKEN, families, marker, start)
