"""The page of the public Python API, which mkdocstrings fills from the docstrings."""

import conformance

_INTRODUCTION = """\
# Python API

These names are the public API; [The Python API](../python.md) says how to use them. Import them from `conformance`.
"""


def page() -> str:
    """Return the page: a directive of mkdocstrings for each public name."""
    listed = [name for name in conformance.__all__ if not name.startswith("__")]
    return _INTRODUCTION + "".join([_entry(name) for name in sorted(listed, key=str.lower)])


def _entry(name: str) -> str:
    return f"\n::: conformance.{name}\n"
