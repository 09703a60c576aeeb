"""A build hook: an editable install of the checkout compiles the package, as pip compiles what it copies."""

import compileall
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Bytecode(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the package where an editable install will look for it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 — the interface's own
        """Write bytecode beside the sources; a wheel gets its own from pip."""
        if version == "editable":
            compileall.compile_dir(Path(self.root) / "conformance", quiet=1)
