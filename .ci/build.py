"""A build hook: it compiles the package in an editable install, and packs data folders of a wheel into archives."""

import compileall
import io
import lzma
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CASSETTES = "cassettes"
MODEL = "fixtures/model"
RESULTS = "reports/results"
CALIBRATION = f"{RESULTS}/calibration"

RESULT_FOLDERS = ("", "adapters", "recorded")
"""The folders of results that reports are made from."""

MODEL_FILES = (
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "templates/*",
    "to_folder.py",
    "to_gguf.py",
    "tokenizer.json",
    "tokenizer_config.json",
)
"""What engines load of the scripted model, and what writes it in their formats; not what trains it."""

WEIGHTS = {"id": lzma.FILTER_LZMA2, "preset": 9, "lp": 1, "pb": 1}
"""For the weights of the model, which are numbers of two bytes."""

TEXT = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}
"""For all else: text takes a tenth less with it."""


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Prepares what differs from the files of the repository."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write bytecode for an editable install (pip does it for a wheel), or the archives for a wheel."""
        root = Path(self.root)
        if version == "editable":
            compileall.compile_dir(root / "conformance", quiet=1)
            return
        scratch = Path(mkdtemp())
        for name, files in folders(root):
            archive = scratch / f"{name}.tar.xz"
            archive.parent.mkdir(parents=True, exist_ok=True)
            pack(root / name, files, archive)
            build_data["force_include"][str(archive)] = f"conformance/_data/{name}.tar.xz"


def folders(root: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield the folders of the repository that are archives in a wheel, and the files that each of them holds."""
    for path in sorted((root / CASSETTES).iterdir()):
        if path.is_dir():
            yield f"{CASSETTES}/{path.name}", _files(path.rglob("*.yaml"))
    yield MODEL, _files(path for name in MODEL_FILES for path in (root / MODEL).glob(name))
    yield RESULTS, _files(path for name in RESULT_FOLDERS for path in (root / RESULTS / name).glob("*.json"))
    yield CALIBRATION, _files((root / CALIBRATION).glob("*.json"))


def _files(paths: Iterable[Path]) -> list[Path]:
    return sorted([path for path in paths if path.is_file()])


def pack(folder: Path, files: Sequence[Path], archive: Path) -> None:
    """Write the archive of some files of a folder: the same files, the same bytes."""
    chosen = WEIGHTS if any(path.suffix == ".safetensors" for path in files) else TEXT
    with lzma.open(archive, "w", filters=[chosen]) as file, tarfile.open(fileobj=file, mode="w") as packed:
        for path in files:
            member = tarfile.TarInfo(path.relative_to(folder).as_posix())
            data = path.read_bytes()
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
