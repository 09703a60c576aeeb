"""The keys under which a pytest run keeps what the plugin and the suites share.

The plugin imports this module in every pytest run of an environment, so it imports nothing but pytest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.suite.run import Run

RUN: pytest.StashKey[Run] = pytest.StashKey()

DESELECTED: pytest.StashKey[bool] = pytest.StashKey()
"""Whether some items were deselected."""

FOREIGN: pytest.StashKey[tuple[str, ...]] = pytest.StashKey()
"""The short option names on the command line that belong to another plugin or conftest.py."""
