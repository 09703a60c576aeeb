"""Checks of committed files; each is a command that lists what is stale, says how to fix it and returns 0 or 1."""

import filecmp
from pathlib import Path


def differing_files(committed: Path, fresh: Path, pattern: str) -> list[str]:
    """Return the names of the files in two folders that differ, or that only one of them has."""
    names = {path.name for folder in (committed, fresh) for path in folder.glob(pattern)}
    _, different, missing = filecmp.cmpfiles(committed, fresh, names, shallow=False)
    return sorted([*different, *missing])
