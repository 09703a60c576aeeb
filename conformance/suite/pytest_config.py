"""What the plugin and the suites share: the keys of pytest's configuration, the width of its output, and warnings.

The plugin imports this module in every pytest run of an environment, so it imports nothing but pytest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from conformance.scenarios import Scenario
    from conformance.suite.run import Run

RUN: pytest.StashKey[Run] = pytest.StashKey()

LEFT: pytest.StashKey[dict[str, int]] = pytest.StashKey()
"""How many requests each case of a live run will send that has not begun yet."""

COLLECTED: pytest.StashKey[int] = pytest.StashKey()
"""How many items there were before some were deselected."""

STARTED: pytest.StashKey[int] = pytest.StashKey()
"""How many items have begun."""

DESELECTED: pytest.StashKey[bool] = pytest.StashKey()
"""Whether some items were deselected."""

SAFE: pytest.StashKey[Callable[[str], str]] = pytest.StashKey()
"""What makes a text safe to print: without secrets, and without what controls a terminal."""

IS_DONE: pytest.StashKey[bool] = pytest.StashKey()
"""Whether the run went through all items."""

FOREIGN: pytest.StashKey[tuple[str, ...]] = pytest.StashKey()
"""The short option names on the command line that belong to another plugin or conftest.py."""

MATRIX: Final = "conformance_matrix"
RESULTS: Final = "conformance_results"
VARIANT: Final = "conformance_variant"
ONLY_UNKNOWN: Final = "conformance_only_unknown"
"""The options that more than one module reads, as pytest keeps them."""

_NARROWEST: Final = 40


def case_of(item: pytest.Item) -> tuple[Scenario, str] | None:
    """Return the scenario and the variant that an item of the suites is about; None for any other item."""
    spec = getattr(item, "callspec", None)
    case = spec.params.get("case") if spec is not None else None
    return case if isinstance(case, tuple) and hasattr(case[0], "variants") else None


def width_of(config: pytest.Config) -> int:
    """Return the width to fit text to: that of the terminal, which COLUMNS overrides."""
    return max(_NARROWEST, config.get_terminal_writer().fullwidth)


class ConformanceWarning(UserWarning):
    """The provider does not meet a recommendation."""


def warn(item: pytest.Item, message: str) -> None:
    """Show a message among pytest's warnings.

    The hook is called directly, so that a repository that makes warnings errors does not turn a SHOULD into a MUST.
    """
    category = ConformanceWarning
    shown = item.config.stash.get(SAFE, str)(message)
    warning = warnings.WarningMessage(ConformanceWarning(shown), category, str(item.path), 0)
    arguments = {"warning_message": warning, "when": "runtest", "nodeid": item.nodeid, "location": None}
    item.config.hook.pytest_warning_recorded.call_historic(kwargs=arguments)
