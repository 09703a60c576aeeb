"""The keys under which a pytest run keeps what the plugin and the suites share.

The plugin imports this module in every pytest run of an environment, so it imports nothing but pytest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from conformance.suite.run import Run

RUN: pytest.StashKey[Run] = pytest.StashKey()

LEFT: pytest.StashKey[dict[str, int]] = pytest.StashKey()
"""How many requests each case of a live run will send that has not begun yet."""

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
"""The options that decide what the end of a run shows, as pytest keeps them."""

_NARROWEST: Final = 40


def width_of(config: pytest.Config) -> int:
    """Return the width to fit text to: that of the terminal, which COLUMNS overrides."""
    return max(_NARROWEST, config.get_terminal_writer().fullwidth)
