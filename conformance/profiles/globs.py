"""Globs of names, matched without a pattern where they need none: to compile one takes a hundred times as long."""

from fnmatch import fnmatchcase


def fits(name: str, glob: str) -> bool:
    """Return whether a name matches a glob, as `fnmatch.fnmatchcase` does."""
    start = glob.removesuffix("*")
    if "*" in start or "?" in start or "[" in start:
        return fnmatchcase(name, glob)
    return name == glob if start == glob else name.startswith(start)
