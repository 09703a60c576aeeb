"""Text from the wire, made safe for a terminal or a page of Markdown."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, TypeAlias

from conformance.documents.pointer import parse

Paint: TypeAlias = Callable[[str, str], str]
"""Colours a text, or returns it unchanged: `paint("red", "MUST")`."""

_SPECIAL: Final = str.maketrans({each: f"\\{each}" for each in "\\`*_[]<>#"})


_MIN_ROOM: Final = 20
"""How many characters of a text stand in a line at least."""

_COMMAND: Final = re.compile(r"(?<!\S)(?=::)")
"""Where a command of a GitHub workflow would begin if a line were broken there."""

_ANYWHERE: Final = re.compile(r"##(?=\[|vso\[|teamcity\[)")
"""What GitHub, Azure Pipelines and TeamCity take for a command anywhere in a line.

Source: https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs, TryParse.
"""

_UNSHOWN: Final = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
"""Characters that JSON need not escape, and that control a terminal or hide what stands there."""


def printable(text: str) -> str:
    """Return a text that cannot control the terminal or the workflow that it is printed by.

    Control characters and those that change the direction of writing are escaped, and so is the beginning of a command.
    """
    if not text.isprintable():
        # repr escapes what is not printable; [1:-1] drops its quotes.
        text = "".join([each if each.isprintable() else repr(each)[1:-1] for each in text])
    if "##" in text:
        text = _ANYWHERE.sub(r"#\\#", text)
    return _COMMAND.sub(r"\\", text) if "::" in text else text


def printable_json(text: str) -> str:
    """Return a JSON text with the same values that cannot control the terminal or the workflow it is printed by."""
    if not text.isascii() or "\x7f" in text:
        text = _UNSHOWN.sub(lambda found: json.dumps(found[0])[1:-1], text)
    return _ANYWHERE.sub(r"#\\u0023", text) if "##" in text else text


def printable_lines(text: str) -> str:
    """Return a text of several lines, each printable."""
    return "\n".join([printable(line) for line in text.split("\n")])


def line_of(report: Mapping[str, Any], pointer: str) -> int | None:
    """Return the line of the exchange that a pointer leads into, otherwise that of the whole input, None if unknown."""
    lines, number = report.get("lines", ()), parse(pointer)[:1]
    if number and number[0].isdecimal() and int(number[0]) < len(lines):
        line: int | None = lines[int(number[0])]
        return line
    whole: int | None = report["line"]
    return whole


def code(text: str) -> str:
    """Return any text as a Markdown code span, or the empty string if it is empty."""
    shown = printable(text)
    if not shown:
        return ""
    fence = "`" * (max((len(list(run)) for each, run in groupby(shown) if each == "`"), default=0) + 1)
    # CommonMark strips one space on each side of a code span.
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fenced(text: str, language: str = "") -> str:
    """Return a text of several lines as a Markdown code block, which nothing in it ends."""
    shown = printable_lines(text)
    fence = "`" * max(3, 1 + max((len(list(run)) for each, run in groupby(shown) if each == "`"), default=0))
    return f"{fence}{language}\n{shown}\n{fence}"


def prose(text: str) -> str:
    """Return a text as one line of Markdown prose; its markup is escaped, except code between backticks."""
    fragments = " ".join(text.split()).split("`")
    # A backtick without its partner: then none of them marks code.
    if len(fragments) % 2 == 0:
        return printable(" ".join(text.split())).translate(_SPECIAL)
    return "".join(
        [code(each) if number % 2 else printable(each).translate(_SPECIAL) for number, each in enumerate(fragments)]
    )


def cell(text: str) -> str:
    """Return any text as a code span in a cell of a Markdown table."""
    return code(text).replace("|", "\\|")


def link(url: str, text: str = "") -> str:
    """Return a link to a source, with a text if that is not the address; a source that is not on the web is prose."""
    if not re.fullmatch(r"https?://[^\s<>]+", url):
        return prose(text or url)
    return f"<{url}>" if text in ("", url) else f"[{prose(text)}](<{url}>)"


def labelled(label: str, text: str, width: int, indent: int = 0, column: int = 0) -> list[str]:
    """Return the lines of a text after its label, wrapped to a width, with nothing cut.

    `indent` is that of the label. The text begins after it, at `column` if the label is shorter.
    """
    gap = " " if label.endswith(":") else "  "
    head = f"{' ' * indent}{label:{max(0, column - indent)}}{gap}" if label else " " * indent
    room = width - len(head)
    if room < _MIN_ROOM:
        # On a narrow screen, the text goes under its label.
        return [head.rstrip(), *labelled("", text, max(width, indent + 2 + _MIN_ROOM), indent + 2)]
    # Imported here because most reports wrap nothing.
    import textwrap

    # Ids and options have hyphens, and are copied from the terminal.
    wrapped = textwrap.wrap(" ".join(text.split()), room, break_on_hyphens=False) or [""]
    return [f"{head}{wrapped[0]}".rstrip(), *[f"{' ' * len(head)}{line}" for line in wrapped[1:]]]


def shorten(text: str, width: int) -> str:
    """Return a text cut to a number of characters, with an ellipsis at the end if it was longer."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def plural(number: int, noun: str) -> str:
    """Return a number with its noun, which takes an s unless the number is 1."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; its cells are Markdown on one line each, whose vertical bars are escaped here."""
    # Imported here because the command line loads this module, and only reports have tables.
    from tabulate import tabulate

    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    # Columns are not aligned, because a change of a long cell would change every line.
    table = tabulate(cells, headers=headings, tablefmt="pipe", stralign=None, disable_numparse=True)
    return re.sub(r"(?m)^\|-+\|[-|]*$", "|---" * len(headings) + "|", table, count=1)
