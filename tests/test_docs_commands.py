"""The pages do what they say: their files are written, their commands run, and the output that they show is real.

Each page is followed from top to bottom in a folder of its own. A block with a file name as its title is written to
that file. The title of a block that is not run says why, so that readers see it, too.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests import planted
from tests.checking import BASES, GOOD, ROOT, jsonl, write
from tests.loops import every

BASH: Final = shutil.which("bash") or ""
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted(DOCS.glob("*.md"))
FENCE: Final = re.compile(r'^```(\w+)(?: title="([^"]*)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)

NOT_RUN: Final = ("Needs a", "Needs the network", "Needs recordings", "Takes minutes", "In a checkout")
"""What the title of a block begins with that is not run here; CI runs by itself what `In a checkout` checks."""

ENDLESS: Final = "Runs until you stop it"


class Block(NamedTuple):
    """A fenced block; `title` is a file name, the reason why it is not run, or empty."""

    language: str
    title: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    for language, title, text in FENCE.findall(page.read_text("utf-8")):
        yield Block(language, title, text)


def followed() -> Iterator[Any]:
    """Yield the pages; five in six, and those that replay a whole provider as the README does, only for the night."""
    for place, page in enumerate(PAGES):
        replays = any(
            each.language == "sh" and "pytest --provider" in each.text and not each.title for each in blocks(page)
        )
        yield pytest.param(page, id=page.stem, marks=[pytest.mark.exhaustive] if replays or place % 6 != 3 else [])


@pytest.fixture
def sandbox(tmp_path: Path) -> Path:
    """A folder with the files that the how-to pages take for granted: traffic, recordings, results of two runs."""
    write(tmp_path / "request.json", GOOD["request"])
    write(tmp_path / "traffic.jsonl.gz", jsonl(GOOD, GOOD))
    planted.claude_code(tmp_path, "call_3")
    write(tmp_path / "messages.json", {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]})
    (tmp_path / "cassettes").mkdir()
    write(tmp_path / "cassettes" / "session.json", BASES["tool-result"])
    for name in ("results", "main/results"):
        (tmp_path / name).mkdir(parents=True)
        shutil.copy(ROOT / "reports" / "results" / "groq.json", tmp_path / name)
    (tmp_path / "fixtures").mkdir()
    write(tmp_path / "fixtures" / "session.json", BASES["tool-result"])
    (tmp_path / "docs").symlink_to(DOCS)
    return tmp_path


def environment(home: str) -> Mapping[str, str]:
    """Return an environment with the commands of this Python and a home folder, and without keys of providers."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    plain = {
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "PYTEST_ADDOPTS": "-p no:cacheprovider -p no:xdist -p no:cov -p no:base_url -p no:anyio -p no:hypothesispytest",
    }
    return {**kept, **plain, "HOME": home, "PATH": path, "PYTHONPATH": str(ROOT)}


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run lines of shell; standard error follows standard output."""
    return subprocess.run(
        [BASH, "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment(str(folder)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
        timeout=120,
    )


def run_until_it_prints(command: str, folder: Path) -> tuple[str, int]:
    """Return the first line that a command prints, and how it ends on Ctrl-C."""
    words = shlex.split(command, comments=True)
    started = subprocess.Popen(words, cwd=folder, env=environment(str(folder)), stdout=subprocess.PIPE, text=True)
    with started:
        assert started.stdout
        line = started.stdout.readline()
        started.send_signal(signal.SIGINT)
        started.stdout.read()
        return line, started.wait(30)


def shown(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the output below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def pattern(output: str) -> str:
    """Return what matches the shown output; a line with only an ellipsis stands for any lines, another for any text."""
    lines = ["(?:.*\n)*?" if line.strip() == "…" else f"{_inline(line)}\n" for line in output.splitlines()]
    return "".join(lines)


def _inline(line: str) -> str:
    return ".*".join([re.escape(part) for part in line.rstrip().split("…")]) + r"[ ]*"


def follow(block: Block, sandbox: Path) -> None:
    if block.language in ("sh", "console") and block.title.startswith(NOT_RUN):
        return
    if block.title and " " not in block.title and "." in block.title:
        path = sandbox / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")
    elif block.language == "sh" and block.title == ENDLESS:
        line, code = run_until_it_prints(block.text, sandbox)
        assert "http://127.0.0.1:" in line
        assert code in (0, 5, 130)
    elif block.language == "sh":
        assert block.title == "", f"no test knows what {block.title!r} means"
        ended = run(block.text, sandbox)
        assert 0 == ended.returncode, f"{block.text}\n{ended.stdout}"
    elif block.language == "console":
        for command, output in shown(block.text):
            ended = run(command, sandbox)
            assert ended.returncode in (0, 1), f"{command}\n{ended.stdout}"
            assert re.match(pattern(output), ended.stdout), f"{command}\n{ended.stdout}"


@pytest.mark.slow
@pytest.mark.parametrize("page", list(followed()))
def test_a_page_can_be_followed(page: Path, sandbox: Path) -> None:
    for block in blocks(page):
        follow(block, sandbox)


@every("page", PAGES, ids=lambda page: page.stem)
def test_a_json_block_is_json(page: Path) -> None:
    for block in blocks(page):
        if block.language == "json":
            json.loads(block.text)


def test_the_output_that_a_page_shows_is_compared() -> None:
    assert re.match(pattern("a … c\n…\nlast\n"), "a b c\n1\n2\nlast\n")
    assert not re.match(pattern("a … c\n"), "a b\n")
    assert not re.match(pattern("first\n…\nlast\n"), "first\n1\n")
