"""The table of all gateways as one self-contained HTML page, with the four bodies of each cell.

The tables are HTML and need no script. The bodies are JSON in an element that browsers do not run, and the script
inserts them only as text. The page's content security policy forbids every address, and every script and style except
its own two, named by their digests.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import orjson

from conformance.gateways.loss import known, title
from conformance.reporting.gateway_cells import BODIES, LOST, NOTHING, SAID, WORDS, GatewayCell, by_gateway, cells
from conformance.reporting.templates import render_template
from conformance.reporting.text import printable, printable_lines
from conformance.results.runs import Results

_FOLDER: Final = Path(__file__).parent / "_gateways"
_SEP: Final = "; after it: "
_MAX_BODY: Final = 4000
"""Characters of a body that the page shows; the results have the rest."""

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})
_MARKS: Final[Mapping[str, str]] = {LOST: "lost", SAID: "said", NOTHING: "nothing"}


def render(
    many: Sequence[Results],
    unable: Sequence[tuple[str, str]] = (),
    issues: Mapping[str, Mapping[str, str]] = _NONE,
    notes: Mapping[str, str] = _NONE,
) -> str:
    """Return the page; `unable` are gateways that cannot run here, each with the reason, `notes` those of others."""
    style = (_FOLDER / "style.css").read_text("utf-8")
    script = (_FOLDER / "page.js").read_text("utf-8")
    bodies: dict[str, int] = {}
    details: dict[str, Any] = {}
    tables = [
        _table(number, name, own, issues.get(name, {}), notes.get(name, ""), bodies, details)
        for number, (name, own) in enumerate(by_gateway(many).items())
    ]
    return render_template(
        "_gateways/page.html.j2",
        policy=f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        tables=tables,
        words=[(word, meaning, _MARKS.get(word, "kept")) for word, meaning in WORDS.items()],
        unable=[(printable(name), printable(reason)) for name, reason in unable],
        data=_inert({"bodies": [*bodies], "cells": details}),
    )


def _table(
    number: int,
    name: str,
    own: Sequence[Results],
    issues: Mapping[str, str],
    note: str,
    bodies: dict[str, int],
    details: dict[str, Any],
) -> dict[str, Any]:
    """Return the table of a gateway; what its cells show is added to `bodies` and `details`."""
    found = [cells(each) for each in own]
    rows = []
    for fact in [each for each in known() if any([one[each].word != NOTHING for one in found])]:
        shown = []
        for at, one in enumerate(found):
            cell, key = one[fact], f"{number}/{at}/{fact}"
            has_details = cell.loss is not None or bool(cell.bodies)
            if has_details:
                details[key] = _details(cell, bodies, issues.get(fact, ""))
            shown.append((cell.word, _MARKS.get(cell.word, "kept"), key if has_details else ""))
        rows.append((fact, fact.partition("/")[2], title(fact), shown))
    return {
        "name": printable(name),
        "anchor": f"gateway-{number}",
        "day": max([each.run.date for each in own], default=""),
        "note": printable(note),
        "ends": [(each.run.protocol, printable(each.provider)) for each in own],
        "rows": rows,
    }


def _details(cell: GatewayCell, bodies: dict[str, int], issue: str) -> dict[str, Any]:
    made: dict[str, Any] = {"case": cell.case}
    if cell.loss is not None:
        text, _, became = cell.loss.finding.message.rpartition(_SEP)
        made |= {"says": printable(text), "before": printable(cell.loss.finding.at), "after": printable(became)}
        made |= {"cases": [*cell.loss.cases]} | ({"issue": issue} if issue else {})
    texts = [_text(body) for name in BODIES if (body := (cell.bodies or {}).get(name)) is not None]
    names = [name for name in BODIES if (cell.bodies or {}).get(name) is not None]
    return made | {"bodies": [[name, bodies.setdefault(t, len(bodies))] for name, t in zip(names, texts, strict=True)]}


def _text(body: Any) -> str:
    text = body if isinstance(body, str) else orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
    more = len(text) - _MAX_BODY
    return printable_lines(text[:_MAX_BODY]) + (f"\n… {more} characters more in the results" if more > 0 else "")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _inert(value: Any) -> str:
    """Return JSON that cannot end an element or begin a comment, whatever its texts contain."""
    return orjson.dumps(value).decode().replace("<", "\\u003c")
