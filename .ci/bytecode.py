"""A build hook that compiles the package in an editable install, as pip does in any other."""

import compileall
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Bytecode(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the package in its folder."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 — required by the interface
        """Write bytecode for an editable install; pip does it for a wheel."""
        if version == "editable":
            compileall.compile_dir(Path(self.root) / "conformance", quiet=1)
