"""The published matrix as one self-contained HTML page: no network, no build step, no framework.

The core facts are HTML, so that they are painted at once and need no script. Everything else is JSON in elements that
browsers do not run, and the script inserts text from the wire only as text. The page's content security policy forbids
every address, and every script and style except its own two, named by their digests.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.reporting.answers.changes import newest_day
from conformance.reporting.answers.wires import in_order, titles
from conformance.reporting.matrix.headline import headline
from conformance.reporting.matrix.table import Table
from conformance.reporting.page.cells import CellDetails, cells_data
from conformance.reporting.page.compare import compare_data
from conformance.reporting.page.facts import EVIDENCE, MEANINGS, fact_tables, summary
from conformance.reporting.page.index import index_data, requests_data
from conformance.reporting.page.models import models_data, names_data, shown_families
from conformance.reporting.templates import render_template

_FOLDER: Final = Path(__file__).parent / "_html"
_SCRIPTS: Final = (
    "elements", "data", "address", "facts", "found", "names", "models", "answers", "filters", "values", "grid",
    "dialog", "claim", "subject", "compare", "changes", "download", "printing", "page",
)  # fmt: skip
"""The files of the page's one script, each after those that it needs."""


def publish(table: Table) -> Mapping[str, str]:
    """Return the file by its path."""
    return {"matrix.html": render(table)}


def render(table: Table) -> str:
    """Return the page: the core facts as HTML, and every cell with its details as data for the page's script."""
    style = "".join([_sent(f"{name}.css") for name in ("style", "facts", "print")])
    script = "".join([_sent(f"{name}.js") for name in _SCRIPTS])
    details, models = CellDetails(table.inputs), shown_families(table)
    cells = {**cells_data(table, details), **models_data(table, models, details), "requests": requests_data(table)}
    wires = [(name, titles()[name]) for name in in_order([subject.wire for subject in table.subjects])]
    return render_template(
        "_html/page.html.j2",
        policy=f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        index=_inert({**index_data(table), **names_data(table, models)}),
        data=_inert({**cells, **compare_data(table), **details.data()}),
        headline=headline(table).lines(),
        summary=summary(table),
        day=newest_day(table.inputs.profiles),
        tables=fact_tables(table),
        meanings=[(meaning.value, *shown) for meaning, shown in MEANINGS.items()],
        evidence=[*EVIDENCE.values()],
        apis=_apis([title for _, title in wires]),
        wires=wires,
    )


def _sent(name: str) -> str:
    """Return a file of the page as it is sent: without the indents, and without the lines that are comments.

    No text in backticks may go over several lines, since its indents would be missing in it.
    """
    lines = [line.strip() for line in (_FOLDER / name).read_text("utf-8").splitlines()]
    return "".join([f"{line}\n" for line in lines if line and not line.startswith("//")])


def _apis(titles: Sequence[str]) -> str:
    """Return what the page is about: one API, or several in a list."""
    *others, last = titles or ("Chat completions",)
    return f"{', '.join(others)} and {last}" if others else f"OpenAI-compatible {last[0].lower()}{last[1:]}"


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _inert(value: Any) -> str:
    """Return JSON that cannot end an element or begin a comment, whatever its texts contain."""
    return orjson.dumps(value).decode().replace("<", "\\u003c")
