"""Unified diffs of corrected requests, as JSON with an indent of two.

A session repeats its history in every request, so a change of a message is shown in the first request that has it.
"""

import difflib
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from conformance.fixes.excerpt import source_of, units
from conformance.formats import Input
from conformance.wire.exchange import Conversation

_CONTEXT: Final = 3
_INDENT: Final = 2
_HEADER: Final = re.compile(r"@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@")


def diff(given: Input, fixed: Conversation) -> Iterator[str]:
    """Yield the lines of a diff for each request that is corrected in more than the history that it repeats."""
    # For each request, how many lines its units have, as they were received and as they are corrected.
    lines: list[tuple[list[int], list[int]]] = []
    repeated = 0
    for number, (exchange, other) in enumerate(zip(given.conversation, fixed, strict=True)):
        source, same = source_of(given.conversation, number)
        key, (before, after) = units((exchange, other)) if units((exchange, other))[0] else ("", ([], []))
        # Only what is carried over stands at the same positions in both, and is changed as it was before.
        held = units((fixed[source],))[1][0] if source >= 0 and same else []
        if not key or after[:same] != held[:same] or len(held) < same:
            source, same = -1, 0
        known = lines[source] if source >= 0 else ([], [])
        lines.append((known[0][:same] + _counts(before[same:]), known[1][:same] + _counts(after[same:])))
        if exchange.request == other.request:
            continue
        line = given.lines[number] if number < len(given.lines) else given.line
        name = given.path.removeprefix("/") + (f":{line}" if line else "")
        name += "" if len(fixed) == 1 else f" /{number}/request"
        # One unit of the history stays as context.
        cut = max(0, same - 1)
        one, two = exchange.request, other.request
        if cut:
            one, two = {**one, key: before[cut:]}, {**two, key: [before[cut], *after[same:]]}
        is_list = given.kind == "messages"
        old, new = (_pretty(each["messages"] if is_list else each) for each in (one, two))
        start = next((at for at, text in enumerate(old) if text.startswith(f'  "{key}": [')), 0)
        offsets = sum(lines[number][0][:cut]), sum(lines[number][1][:cut])
        found = list(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="", n=_CONTEXT))
        repeated += not found
        yield from (_shifted(each, start, offsets) + "\n" for each in found)
    if repeated:
        more = "request repeats these messages and is" if repeated == 1 else "requests repeat these messages and are"
        yield f"# {repeated} later {more} corrected in the same way\n"


def _counts(listed: list[Any]) -> list[int]:
    return [len(_pretty(each)) for each in listed]


def _shifted(text: str, start: int, offsets: tuple[int, int]) -> str:
    """Return a line of a diff; the header of a hunk behind some line counts the lines that were left out there."""
    found = _HEADER.match(text)
    if found is None or int(found[1]) <= start:
        return text
    return f"@@ -{int(found[1]) + offsets[0]}{found[2]} +{int(found[3]) + offsets[1]}{found[4]} @@"


def _pretty(value: Any) -> list[str]:
    return json.dumps(value, indent=_INDENT, ensure_ascii=False).splitlines()
