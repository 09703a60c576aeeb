"""The wheel is small, holds the data that the package reads, and works outside a checkout.

python -m tests.checks.wheel
"""

import io
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from conformance.evidence import columns

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "conformance" / "evidence" / "recordings"
SHIPPED = "conformance/_data/"
DATA = (
    "schemas",
    "fixtures/gateways",
    "fixtures/wire",
    "reports/expected-failures.yaml",
    "reports/faults.json",
    "docs/known-bugs.md",
)
ARCHIVES: dict[str, tuple[str, ...]] = {
    "cassettes": ("*/**/*.yaml",),
    "fixtures/model": ("*config.json", "tokenizer.json", "model.safetensors", "templates/*", "to_*.py"),
    "reports/results": ("*.json", "adapters/*.json", "recorded/*.json"),
    "reports/results/calibration": ("*.json",),
}
"""The folders that are archives in the wheel, and which files of them it holds."""

MAX_BYTES = 6_000_000
"""1.8 MB of them are the weights of the scripted model, 0.9 MB the cassettes of 68 providers and 36 further wires."""

MAX_FILES = 1_700
"""Nine of ten are modules and definition files of the package. Each pytest run of an environment reads their list."""

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}

WORKING: tuple[tuple[str, ...], ...] = (
    ("pytest", "-q", "--provider=deepseek"),
    ("conformance", "check", "request.json"),
    ("conformance", "--print-completion", "bash"),
    ("conformance", "provider", "replay", "--provider", "baidu", "--results", "results"),
    ("conformance", "gate", "results"),
    ("conformance", "evidence", "list", "--claim", "ids.format", "--provider", "deepseek"),
    ("conformance", "provider", "record", "--provider", "baidu", "--cassettes", "cassettes"),
    ("conformance", "explain", "absent-current-own"),
    ("conformance", "explain", "The `reasoning_content` in the thinking mode must be passed back to the API."),
    ("conformance", "adapter", "list"),
    ("conformance", "adapter", "issue", "agent-framework", "--rule", "reasoning/present-on-tool-turns"),
    ("conformance", "report", "statement", "make", "results"),
    ("conformance", "report", "--results", "results", "--only", "mine"),
)
"""Commands that need nothing but the wheel."""

REFUSED: dict[tuple[str, ...], str] = {
    ("conformance", "provider", "record", "--provider", "baidu"): "--cassettes DIR is required",
    ("conformance", "engine", "record", "llamacpp"): "--cassettes DIR is required",
    ("conformance", "provider", "replay", "--all"): "--results DIR is required",
    ("conformance", "report"): "--results DIR is required",
    ("conformance", "report", "--check"): "--results DIR is required",
    ("conformance", "adapter", "matrix"): "--results DIR is required",
    ("conformance", "evidence", "add", f"a/b@{'0' * 40}", "c", "--licence", "MIT"): "--index DIR is required",
    ("conformance", "gate"): "name the RESULTS to check",
    ("pytest", "-q", "--provider=baidu", "--record"): "--cassettes DIR is required",
}
"""Commands that would write into the installed package, or read what only a checkout has, and their errors."""


def problems(scratch: Path) -> Iterator[str]:
    # With the locked hatchling, where it is installed: else pip fetches one for each build.
    isolated = ["--no-build-isolation"] if find_spec("hatchling") else []
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *isolated, "-w", str(scratch), str(ROOT))
    (wheel,) = scratch.glob("*.whl")
    size = wheel.stat().st_size
    print(f"wheel: {size:,} bytes")
    if size > MAX_BYTES:
        yield f"expected at most {MAX_BYTES:,} bytes"
    with zipfile.ZipFile(wheel) as archive:
        files = len(archive.namelist())
        print(f"wheel: {files:,} files")
        if files > MAX_FILES:
            yield f"expected at most {MAX_FILES:,} files"
        yield from _contents(archive)
    _install(wheel, scratch / "venv")
    yield from _outside_a_checkout(scratch)


def _install(wheel: Path, venv: Path) -> None:
    """Install the wheel alone; what it needs is that of this environment, whose links have no effect."""
    run(sys.executable, "-m", "venv", "--without-pip", str(venv))
    python = venv / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", str(wheel))
    (packages,) = (venv / "lib").glob("python*/site-packages")
    # Links in a folder that such a file names are not followed, so the checkout is not importable.
    (packages / "needs.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")


def _contents(wheel: zipfile.ZipFile) -> Iterator[str]:
    """Yield the data files that the wheel lacks, changes or should not hold."""
    expected = {str(path.relative_to(ROOT)): path for name in DATA for path in _files(ROOT / name)}
    for folder, patterns in ARCHIVES.items():
        packed = [path for pattern in patterns for path in (ROOT / folder).glob(pattern) if path.is_file()]
        # Named below the folder, because two archives can hold files of one folder.
        expected |= {f"{folder}: {path.relative_to(ROOT / folder).as_posix()}": path for path in packed}
    for manifest in (ROOT / "cassettes").glob("*/manifest.yaml"):
        for left_out in manifest_models(manifest.read_bytes(), default=False):
            where = f"cassettes: {manifest.parent.name}/{left_out.replace('/', '--')}/"
            expected = {name: path for name, path in expected.items() if not name.startswith(where)}
    shipped = dict(_shipped(wheel))
    yield from (f"{name} is missing" for name in sorted(expected.keys() - shipped.keys()))
    yield from (f"{name} is not part of the wheel" for name in sorted(shipped.keys() - expected.keys()))
    yield from (
        f"{name} differs"
        for name in sorted(shipped.keys() & expected.keys())
        if not _is_same(shipped[name], expected[name])
    )


@cache
def _positions() -> dict[str, int]:
    """Return the positions in the index of recordings, which calibrations of a wheel have for digests."""
    lines = (line for path in sorted(RECORDINGS.glob("*.jsonl")) for line in path.read_bytes().splitlines())
    return columns.positions(lines)


def _is_same(shipped: bytes, path: Path) -> bool:
    if path.parent.name == "calibration":
        return shipped == columns.numbered(path.read_bytes(), _positions())
    if path.suffix == ".json" and path.parts[len(ROOT.parts)] in ("schemas", "reports"):
        # Without their white space.
        return bool(json.loads(shipped) == json.loads(path.read_bytes()))
    if path.name == "manifest.yaml":
        return manifest_models(shipped) == manifest_models(path.read_bytes(), default=True)
    return shipped == path.read_bytes()


def manifest_models(data: bytes, *, default: bool | None = None) -> dict[str, Any]:
    """Return the models of a manifest of cassettes; those of an engine's first template, or of its others, if asked."""
    models = yaml.safe_load(data)["models"]
    firsts = {name: entry.get("engine", {}).get("default", True) for name, entry in models.items()}
    return {name: models[name] for name, is_first in firsts.items() if default is None or is_first is default}


def _shipped(wheel: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the data files in the wheel; files in an archive are named below its folder."""
    for name in wheel.namelist():
        if not name.startswith(SHIPPED):
            continue
        if name == f"{SHIPPED}cassettes/archives.json":
            continue
        if not name.endswith(".tar.xz"):
            yield name.removeprefix(SHIPPED), wheel.read(name)
            continue
        folder = name.removeprefix(SHIPPED).removesuffix(".tar.xz")
        # Several archives hold the cassettes, which are named below one folder.
        folder = "cassettes" if folder.startswith("cassettes/") else folder
        with tarfile.open(fileobj=io.BytesIO(wheel.read(name))) as packed:
            for member in packed:
                content = packed.extractfile(member)
                assert content is not None
                yield f"{folder}: {member.name}", content.read()


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]


def _outside_a_checkout(scratch: Path) -> Iterator[str]:
    """Yield what does not work with only the wheel installed, in an empty folder."""
    folder = scratch / "empty"
    folder.mkdir()
    (folder / "request.json").write_text(json.dumps(REQUEST))
    binaries = scratch / "venv" / "bin"
    (package,) = (scratch / "venv" / "lib").glob("python*/site-packages/conformance")
    before = _state(package)
    for command in WORKING:
        ended = run(*_started(binaries, command), cwd=folder, check=False)
        if ended.returncode != 0:
            yield f"{' '.join(command)}: exit code {ended.returncode}: {ended.stdout}{ended.stderr}"
    for command, error in REFUSED.items():
        ended = run(*_started(binaries, command), cwd=folder, check=False)
        usage_error = 4 if command[0] == "pytest" else 2
        if ended.returncode != usage_error or error not in ended.stderr:
            yield f"{' '.join(command)}: exit code {ended.returncode}, expected {error!r}: {ended.stdout}{ended.stderr}"
    yield from _own_endpoint(binaries, folder)
    if _state(package) != before:
        yield f"a command has written to {package}"


def _started(binaries: Path, command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command of the environment; pytest is not installed in it, and so has no command of its own there."""
    name, *words = command
    start = [str(binaries / "python"), "-m", "pytest"] if name == "pytest" else [str(binaries / name)]
    return (*start, *words)


def _own_endpoint(binaries: Path, folder: Path) -> Iterator[str]:
    """Yield what is wrong with the page of a user's own endpoint and adapter beside the providers of the project."""
    server = subprocess.Popen(
        [str(binaries / "conformance"), "serve", "--provider", "deepseek", "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = f"{server.stdout.readline().strip()}/v1"
        asked = ("--provider=deepseek", "--base-url", url, "--results", "own", "-q")
        commands = [
            ("pytest", *asked),
            ("conformance", "report", "--results", "own"),
            ("conformance", "report", "badge", "own", "--link", "report/mine.md"),
        ]
        for command in commands:
            ended = run(*_started(binaries, command), cwd=folder, check=False)
            if ended.returncode != 0:
                yield f"{' '.join(command)}: exit code {ended.returncode}: {ended.stdout}{ended.stderr}"
    finally:
        server.terminate()
        server.wait()
    made, committed = folder / "own" / "report", ROOT / "reports"
    for name in ("matrix.md", "matrix.json"):
        # The headline: the facts and counts of the project are those of its own reports.
        if _headline(made / name) != _headline(committed / name):
            yield f"own/report/{name}: the headline differs from that of reports/{name}"
    if "## DeepSeek (mine)" not in (made / "mine.md").read_text("utf-8"):
        yield "own/report/mine.md does not show the endpoint"
    subjects = json.loads((made / "matrix.json").read_bytes())["subjects"]
    if ["deepseek (mine)"] != [each["name"] for each in subjects if each.get("mine")] or len(subjects) < 100:
        yield "own/report/matrix.json does not have the endpoint beside the providers and adapters of the project"


def _headline(path: Path) -> str:
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        return str(json.loads(text)["headline"])
    return "\n".join([line for line in text.splitlines() if line.startswith("**")])


def _state(package: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in _files(package) if path.suffix != ".pyc"}


def run(*command: str, cwd: Path | None = None, check: bool = True) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CI")}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=check)


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        found = list(problems(Path(scratch)))
    print("\n".join(f"wheel: {problem}" for problem in found) or "wheel: works outside a checkout")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
