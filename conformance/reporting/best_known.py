"""The best that is known of a claim, in words: how many recordings or engines showed its value, and when last."""

from collections.abc import Mapping
from typing import Any

from conformance.profiles import Profile
from conformance.reporting.answers.observed import last_seen
from conformance.reporting.text import plural
from conformance.results.calibration import counts


def best_known(calibration: Mapping[str, Any], profile: Profile, name: str, model: str) -> str:
    """Return what was seen of the value of a claim; empty if nobody saw it."""
    counted = counts(calibration, profile, name, model)
    if counted.confirmed:
        last = last_seen(calibration, profile, name, model)
        day = f", last {last.day}" if last.day else ""
        return f"seen in {plural(counted.confirmed, 'recording')}{day}"
    return f"seen in {plural(counted.engine, 'exchange')} with a real engine" if counted.engine else ""
