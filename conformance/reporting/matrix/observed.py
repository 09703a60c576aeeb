"""What the published matrix is made of: committed results, calibration and baseline."""

from pathlib import Path
from typing import Any

from conformance import baseline, profiles
from conformance.documents import read_json
from conformance.reporting.matrix.table import Observed
from conformance.resources import folder
from conformance.results.files import CALIBRATION, read_all


def observed(reports: Path | None = None) -> Observed:
    """Return everything in a folder of reports, by default the project's own: results, calibration and baseline."""
    root = folder("reports") if reports is None else reports
    kept = root / "results"
    calibration: dict[str, Any] = {path.stem: read_json(path) for path in sorted((kept / CALIBRATION).glob("*.json"))}
    results = read_all([kept])
    named = sorted({each.profile for each in results} | calibration.keys())
    return Observed(
        results,
        {name: profiles.load(name) for name in named},
        calibration,
        baseline.load(root / "expected-failures.yaml"),
    )
