"""The page of the options that the pytest plugin adds."""

from collections.abc import Mapping
from typing import Any

from conformance.reporting.text import markdown_table
from conformance.suite.plugin_options import OPTIONS

_INTRODUCTION = """\
# pytest options

`pip install wire-conformance` adds these options to pytest. Each also has a long name, such as
`--conformance-provider`, which always works; use it where another plugin has taken the short one.
[Check a provider](../providers.md) explains them.

"""


def page() -> str:
    """Return the page: a table of the options."""
    rows = [(_names(name, given), str(given.get("help", ""))) for name, given in OPTIONS.items()]
    return _INTRODUCTION + markdown_table(("option", "meaning"), rows) + "\n"


def _names(name: str, given: Mapping[str, Any]) -> str:
    value = given.get("metavar") or " or ".join(given.get("choices", ()))
    prefix = "--conformance-" if name == "strict" else "--"
    return f"`{prefix}{name} {value}`" if value else f"`{prefix}{name}`"
