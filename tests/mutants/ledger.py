"""The ledger: what became of changes in earlier runs, so that a long run can be continued."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.mutants.changes import Change
from tests.mutants.running import Fate, Verdict


class Ledger:
    """A file of JSON lines, one for each change that was tried. Without a path, nothing is kept."""

    def __init__(self, path: Path | None, root: Path) -> None:
        self._path = path
        self._root = root
        self._digests: dict[str, str] = {}
        lines = path.read_text("utf-8").splitlines() if path and path.is_file() else []
        self._known = {_identity(entry): entry for entry in map(json.loads, lines)}

    def noticed(self, change: Change) -> Verdict | None:
        """Return the verdict of an earlier run if a test noticed the same change of the same file.

        What no test noticed is tried again: a test may have been added.
        """
        entry = self._known.get(_identity(self._entry(change)))
        return Verdict(Fate.KILLED, entry["by"]) if entry and entry["fate"] == Fate.KILLED else None

    def missed(self, change: Change) -> bool:
        """Return whether no test noticed the same change of the same file in an earlier run."""
        return _identity(self._entry(change)) in self._known and self.noticed(change) is None

    def add(self, change: Change, verdict: Verdict) -> None:
        """Keep a verdict at once, because a long run may be stopped."""
        entry = {**self._entry(change), "fate": verdict.fate, "by": verdict.by}
        self._known[_identity(entry)] = entry
        if self._path:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def _entry(self, change: Change) -> dict[str, Any]:
        if change.file not in self._digests:
            self._digests[change.file] = sha256((self._root / change.file).read_bytes()).hexdigest()
        return {"digest": self._digests[change.file], "change": change.key}


def _identity(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return (entry["digest"], *entry["change"])
