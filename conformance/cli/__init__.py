"""The `conformance` command: one verb a file in this folder, which is the list of verbs."""

# The code stands in a module of its own, since a verb becomes a name in this one: `list` would hide Python's.
from conformance.cli._command import main

__all__ = ["main"]
