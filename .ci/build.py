"""A build hook: it compiles the package in an editable install, and packs data folders of a wheel into archives."""

import compileall
import io
import json
import lzma
import re
import runpy
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CASSETTES = "cassettes"
MODEL = "fixtures/model"
FAULTS = "reports/faults.json"
RESULTS = "reports/results"
CALIBRATION = f"{RESULTS}/calibration"

SDKS = "conformance/adapters/sdks"
"""A folder of the package that few commands read: the definitions and drivers of SDKs."""

SCENARIOS = "conformance/scenarios"
"""A folder of the package whose small files alike take a quarter of the space in an archive."""

RECORDINGS = "conformance/evidence/recordings"
"""The index of recordings, which a wheel has as columns: a sixth smaller than its lines."""

COLUMNS = "conformance/evidence/columns.py"
"""What packs the index and what refers to it."""

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

MANIFEST = "manifest.yaml"
"""The file of a folder of cassettes that names its models."""

NOT_DEFAULT = re.compile(r"^  (\S+):\n(?:   .*\n)*?      default: false\n(?:   .*\n)*", re.MULTILINE)
"""A model of a manifest that is an engine with another template than its first: only a checkout has its cassettes."""

PROVIDERS = 34
"""How many providers share an archive of cassettes: more take less space and more time to read one of them."""

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
        for name, folder, files in folders(root):
            archive = scratch / f"{name}.tar.xz"
            archive.parent.mkdir(parents=True, exist_ok=True)
            pack(folder, files, archive)
            build_data["force_include"][str(archive)] = f"conformance/_data/{name}.tar.xz"
        columns, counted = columns_and_calibrations(root, scratch)
        for name, folder, files in (
            (f"conformance/_data/{CALIBRATION}", counted, _files(counted.glob("*.json"))),
            (SDKS, root / SDKS, _files((root / SDKS).glob("*/*"))),
            (SCENARIOS, root / SCENARIOS, _files((root / SCENARIOS).rglob("*.yaml"))),
            (RECORDINGS, columns.parent, [columns]),
        ):
            archive = scratch / f"{Path(name).name}.tar.xz"
            pack(folder, files, archive)
            build_data["force_include"][str(archive)] = f"{name}.tar.xz"
        for path in [*_files((root / "schemas").rglob("*.json")), root / FAULTS]:
            compact = scratch / path.relative_to(root)
            compact.parent.mkdir(parents=True, exist_ok=True)
            value = json.loads(path.read_text("utf-8"))
            compact.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")), "utf-8")
            build_data["force_include"][str(compact)] = f"conformance/_data/{path.relative_to(root)}"
        index = scratch / CASSETTES / "archives.json"
        index.write_text(json.dumps({each.name: name for name, group in shelves(root) for each in group}))
        build_data["force_include"][str(index)] = f"conformance/_data/{CASSETTES}/archives.json"


def columns_and_calibrations(root: Path, scratch: Path) -> tuple[Path, Path]:
    """Write the index of recordings as columns, and the calibrations with positions in it for digests.

    Returns the file of the columns and the folder of the calibrations.
    """
    columns, lines = runpy.run_path(str(root / COLUMNS)), _index(root)
    target, counted = scratch / "index" / str(columns["NAME"]), scratch / "calibration"
    target.parent.mkdir()
    target.write_bytes(columns["packed"](lines))
    places = columns["positions"](lines)
    counted.mkdir()
    for path in (root / CALIBRATION).glob("*.json"):
        (counted / path.name).write_bytes(columns["numbered"](path.read_bytes(), places))
    return target, counted


def _index(root: Path) -> list[bytes]:
    """Return the lines of the index of recordings."""
    return [line for path in sorted((root / RECORDINGS).glob("*.jsonl")) for line in path.read_bytes().splitlines()]


def folders(root: Path) -> Iterator[tuple[str, Path, list[Path]]]:
    """Yield the name of each archive of a wheel, the folder that its members are named below, and their files."""
    for name, group in shelves(root):
        files = _files(path for each in group for path in _cassettes(each))
        # The same scenario of several providers differs little, so it stands together.
        yield f"{CASSETTES}/{name}", root / CASSETTES, sorted(files, key=lambda path: (path.name, path))
    yield MODEL, root / MODEL, _files(path for name in MODEL_FILES for path in (root / MODEL).glob(name))
    results = _files(path for name in RESULT_FOLDERS for path in (root / RESULTS / name).glob("*.json"))
    yield RESULTS, root / RESULTS, results


def _cassettes(provider: Path) -> Iterator[Path]:
    """Yield the files of a provider's cassettes, without those of the templates that are left out."""
    left_out = [name.replace("/", "--") for name in NOT_DEFAULT.findall((provider / MANIFEST).read_text("utf-8"))]
    for path in provider.rglob("*.yaml"):
        if path.relative_to(provider).parts[0] not in left_out:
            yield path


def shelves(root: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield the name of each archive of cassettes, and its folders: those of some providers on one wire."""
    wires: dict[str, list[Path]] = {}
    for path in sorted((root / CASSETTES).iterdir()):
        if path.is_dir():
            wires.setdefault(path.name.partition(".")[2] or "chat", []).append(path)
    for wire, found in wires.items():
        for first in range(0, len(found), PROVIDERS):
            yield f"{wire}-{first // PROVIDERS}", found[first : first + PROVIDERS]


def _files(paths: Iterable[Path]) -> list[Path]:
    return sorted([path for path in paths if path.is_file()])


def pack(folder: Path, files: Sequence[Path], archive: Path) -> None:
    """Write the archive of some files of a folder: the same files, the same bytes."""
    chosen = WEIGHTS if any(path.suffix == ".safetensors" for path in files) else TEXT
    with lzma.open(archive, "w", filters=[chosen]) as file, tarfile.open(fileobj=file, mode="w") as packed:
        for path in files:
            member = tarfile.TarInfo(path.relative_to(folder).as_posix())
            data = _manifest(path) if path.name == MANIFEST else path.read_bytes()
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))


def _manifest(path: Path) -> bytes:
    return NOT_DEFAULT.sub("", path.read_text("utf-8")).encode()
