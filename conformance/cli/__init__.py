"""The `conformance` command: each verb is one file in this folder."""

# The code is in a module of its own because the verb `list` would hide the built-in function here.
from conformance.cli._command import main

__all__ = ["main"]
