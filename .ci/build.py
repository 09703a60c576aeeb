"""A build hook: it compiles the package in an editable install, and packs the results of this project into a wheel."""

import compileall
import io
import tarfile
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

RESULTS = "reports/results"
ARCHIVE = "conformance/_data/reports/results.tar.xz"
FOLDERS = ("", "adapters", "recorded")
"""The folders of results that reports are made from; the wheel holds the calibration beside them, unpacked."""


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Prepares what differs from the files of the repository."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write bytecode for an editable install (pip does it for a wheel), or the archive for a wheel."""
        if version == "editable":
            compileall.compile_dir(Path(self.root) / "conformance", quiet=1)
            return
        archive = Path(mkdtemp()) / "results.tar.xz"
        pack(Path(self.root) / RESULTS, archive)
        build_data["force_include"][str(archive)] = ARCHIVE


def pack(results: Path, archive: Path) -> None:
    """Write the archive: as plain files the results would be five times as large. The same results, the same bytes."""
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for path in sorted([path for name in FOLDERS for path in (results / name).glob("*.json")]):
            member = tarfile.TarInfo(path.relative_to(results).as_posix())
            data = path.read_bytes()
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
