"""The report formats, one per module; each is a pure function of outcomes.

A published report has `publish(table)`, which returns texts by their paths in the folder of reports.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Not imported at run time, because checking a file needs no table.
    from conformance.reporting.matrix.table import Table


def published(table: "Table") -> Mapping[str, str]:
    """Return all files of the published reports by their paths; the folder of renderers is the registry."""
    stems = sorted([path.stem for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("_")])
    files: dict[str, str] = {}
    for stem in stems:
        publish = getattr(importlib.import_module(f"{__name__}.{stem}"), "publish", None)
        files |= {} if publish is None else publish(table)
    return files
