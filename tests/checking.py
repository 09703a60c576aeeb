"""What tests of `conformance check` share: good and faulty inputs, and a run in this process."""

import contextlib
import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

from conformance.cli import main
from conformance.documents.pointer import edit
from conformance.resources import folder

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
BASES = {path.stem: json.loads(path.read_text("utf-8")) for path in (folder("fixtures") / "wire").glob("*.json")}
GOOD = BASES["tool-result"][0]
FAULTY = edit(GOOD, {"/request/messages/2/tool_call_id": "call_9"})
STREAM = "".join(
    each if isinstance(each, str) else f"data: {json.dumps(each)}\n\n" for each in BASES["stream-plain"][0]["response"]
)


class Ended(tuple[int, str, str]):
    """The exit code, standard output and standard error of a run."""

    @property
    def inputs(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self[1].splitlines()]


def check(*arguments: object) -> Ended:
    """Run `conformance check` in this process, because starting one takes longer."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main(["check", *map(str, arguments)])
    return Ended((code, out.getvalue(), error.getvalue()))


def write(path: Path, value: object) -> Path:
    """Write bytes, text or a JSON value to a file, compressed if its name ends in .gz."""
    data = (
        value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else json.dumps(value).encode()
    )
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def jsonl(*values: object) -> str:
    """Return a line for each value; text is not encoded."""
    return "".join(f"{value if isinstance(value, str) else json.dumps(value)}\n" for value in values)
