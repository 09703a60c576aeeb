"""Reports: one renderer a file, each a pure function of outcomes.

A report that is published says what it writes in `publish(table)`: texts by their paths in the folder of reports.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Not loaded with it, because a plain check of a file starts without the table.
    from conformance.reporting.matrix.table import Table


def published(table: "Table") -> Mapping[str, str]:
    """Return every file that the published reports consist of, by path; the folder of renderers is the registry."""
    stems = sorted([path.stem for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("_")])
    files: dict[str, str] = {}
    for stem in stems:
        publish = getattr(importlib.import_module(f"{__name__}.{stem}"), "publish", None)
        files |= {} if publish is None else publish(table)
    return files
