"""The wheel is small, holds the data that the package reads, and works outside a checkout.

python -m tests.checks.wheel
"""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = (
    "schemas",
    "cassettes",
    "fixtures/model",
    "fixtures/wire",
    "reports/expected-failures.yaml",
    "reports/results/calibration",
)
ARCHIVE = "conformance/_data/reports/results.tar.xz"
MAX_BYTES = 8_500_000
"""2.8 MB of them are the weights of the scripted model, 2.5 MB the cassettes of 60 providers and 32 further wires."""

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
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(scratch), str(ROOT))
    (wheel,) = scratch.glob("*.whl")
    size = wheel.stat().st_size
    print(f"wheel: {size:,} bytes")
    if size > MAX_BYTES:
        yield f"expected at most {MAX_BYTES:,} bytes"
    yield from _contents(wheel)
    run(sys.executable, "-m", "venv", str(scratch / "venv"))
    run(str(scratch / "venv" / "bin" / "pip"), "install", "-q", str(wheel))
    yield from _outside_a_checkout(scratch)


def _contents(wheel: Path) -> Iterator[str]:
    """Yield the data files that the wheel lacks, changes or should not hold."""
    expected = {f"conformance/_data/{path.relative_to(ROOT)}": path for name in DATA for path in _files(ROOT / name)}
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if name.startswith("conformance/_data/")}
        if ARCHIVE not in shipped:
            yield f"{ARCHIVE} is missing"
        shipped.discard(ARCHIVE)
        yield from (f"{name} is missing" for name in sorted(expected.keys() - shipped))
        yield from (f"{name} is not part of the wheel" for name in sorted(shipped - expected.keys()))
        yield from (
            f"{name} differs"
            for name in sorted(shipped & expected.keys())
            if archive.read(name) != expected[name].read_bytes()
        )


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
        ended = run(str(binaries / command[0]), *command[1:], cwd=folder, check=False)
        if ended.returncode != 0:
            yield f"{' '.join(command)}: exit code {ended.returncode}: {ended.stdout}{ended.stderr}"
    for command, error in REFUSED.items():
        ended = run(str(binaries / command[0]), *command[1:], cwd=folder, check=False)
        usage_error = 4 if command[0] == "pytest" else 2
        if ended.returncode != usage_error or error not in ended.stderr:
            yield f"{' '.join(command)}: exit code {ended.returncode}, expected {error!r}: {ended.stdout}{ended.stderr}"
    yield from _own_endpoint(binaries, folder)
    if _state(package) != before:
        yield f"a command has written to {package}"


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
            ended = run(str(binaries / command[0]), *command[1:], cwd=folder, check=False)
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
