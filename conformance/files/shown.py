"""Reports of checked inputs as they may be printed: findings quote what was sent, which may hold secrets."""

from typing import Any

import orjson

from conformance.secrets import Scrubber


def without_secrets(report: dict[str, Any], scrubber: Scrubber) -> dict[str, Any]:
    """Return the JSON object of a report without secrets; outcomes without findings quote nothing."""
    quoting = [each for each in report["outcomes"] if each["findings"] or each.get("known") or "reason" in each]
    if not quoting and "error" not in report and "notes" not in report:
        return report
    text = orjson.dumps({**report, "outcomes": quoting}).decode()
    clean = scrubber.text(text)
    if clean == text:
        return report
    found = orjson.loads(clean)
    shown = iter(found["outcomes"])
    quoted = set(map(id, quoting))
    return {**found, "outcomes": [next(shown) if id(each) in quoted else each for each in report["outcomes"]]}
