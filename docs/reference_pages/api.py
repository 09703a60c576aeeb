"""The page of the public Python API, which mkdocstrings fills from the docstrings."""

import conformance
from conformance import arrow

_INTRODUCTION = """\
# Python API

These names are the public API; [The Python API](../python.md) says how to use them. Import them from `conformance`, and
those at the end, which [check Arrow batches](../cluster.md), from `conformance.arrow`.
"""


def page() -> str:
    """Return the page: a directive of mkdocstrings for each public name."""
    listed = [name for name in conformance.__all__ if not name.startswith("__")]
    listed += [f"arrow.{name}" for name in arrow.__all__]
    return _INTRODUCTION + "".join([_entry(name) for name in sorted(listed, key=_place)])


def _place(name: str) -> tuple[bool, str]:
    return "." in name, name.lower()


def _entry(name: str) -> str:
    return f"\n::: conformance.{name}\n"
