"""Reports of checked inputs as they may be printed: findings quote what was sent, which may hold secrets."""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.secrets import Scrubber, of_surroundings, scrubber

MAX_LEARNED_BYTES: Final = 1024 * 1024
"""Of a larger file, only what is a secret by itself is removed from its findings: it is not read a second time."""

_FILES: Final = 16
"""The secrets of so many files are kept, because each part of a file is reported alone."""

_HINTS: Final = re.compile(rb"(?i)(?:key|secret|passw\w*|auth\w*|cookie|token|headers)[\\\"']{0,4}\s?[:=]")


class ReportCleaner:
    """Removes secrets from the reports of a run, in whose environment is looked once."""

    def __init__(self) -> None:
        """Look for the secrets of the environment."""
        self._surroundings = of_surroundings()

    def clean(self, reports: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the JSON objects of reports without secrets, those that their files show among them."""
        found = list(reports)
        quoting = [each["path"] for each in found if _quoting(each)]
        shown = [secret for path in dict.fromkeys(quoting) for secret in _shown_by(Path(path))]
        secrets = scrubber(shown, surroundings=self._surroundings)
        return [_without_secrets(each, secrets) for each in found]


def _shown_by(path: Path) -> tuple[str, ...]:
    """Return the secrets that a file shows, such as the values of headers of requests."""
    try:
        found = path.stat()
        return _secrets_of(path, found.st_mtime_ns) if path.is_file() and found.st_size <= MAX_LEARNED_BYTES else ()
    except OSError:
        return ()


@lru_cache(maxsize=_FILES)
def _secrets_of(path: Path, _changed: int) -> tuple[str, ...]:
    """Return the secrets that a file shows as it was last changed; raises OSError if it cannot be read."""
    data = path.read_bytes()
    # A packed file shows no hints.
    if not _HINTS.search(data) and not data.startswith(b"\x1f\x8b"):
        return ()
    # Imported here because few files have any.
    from conformance.files.scrubbing import secrets_in

    return tuple(secrets_in(data, str(path)))


def _quoting(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the outcomes that quote anything."""
    return [each for each in report["outcomes"] if each["findings"] or each.get("known") or "reason" in each]


def _without_secrets(report: dict[str, Any], secrets: Scrubber) -> dict[str, Any]:
    quoting = _quoting(report)
    if not quoting and "error" not in report and "notes" not in report:
        return report
    text = orjson.dumps({**report, "outcomes": quoting}).decode()
    clean = secrets.text(text)
    if clean == text:
        return report
    found = orjson.loads(clean)
    shown = iter(found["outcomes"])
    quoted = set(map(id, quoting))
    return {**found, "outcomes": [next(shown) if id(each) in quoted else each for each in report["outcomes"]]}
