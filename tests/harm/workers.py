"""Workers: an SDK that stays loaded and gets job after job, since loading it takes longer than a conversation."""

import contextlib
import hashlib
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import orjson

from conformance import environments, processes
from conformance.adapters.definition import AdapterDefinition
from conformance.adapters.driver import Surroundings
from conformance.adapters.install import environment_path
from conformance.adapters.loop import DriverAnswer
from conformance.errors import Unusable

HERE: Final = Path(__file__).parent
SHARED_PYTHON: Final = "_python"
SHARED_NODE: Final = "_node"
_ONCE: Final = "export async function drive("
_FIXED: Final = {"PYTHONUTF8": "1", "NO_PROXY": "127.0.0.1,localhost"}
_GRACE: Final = 90.0
"""Seconds more than a job may take, in which the SDK is loaded."""


@dataclass(frozen=True, slots=True)
class Reported:
    """What a client made of a job: its answer, or that it hung, or why there is none."""

    answer: DriverAnswer | None = None
    hung: bool = False
    failure: str = ""


def command_for(definition: AdapterDefinition) -> tuple[str, ...]:
    """Return the command that answers job after job with an installed SDK."""
    driver = definition.folder / definition.driver
    if definition.language == "node":
        return ("node", str(_copied(definition)))
    python = str(environments.python_in(environment_path(definition))) if definition.packages else sys.executable
    return (python, str(HERE / "fork.py"), str(driver), str(definition.folder.parent / SHARED_PYTHON))


def _copied(definition: AdapterDefinition) -> Path:
    """Return the driver in a copy of its folder inside the environment, with a `drive` that takes many jobs."""
    sources = [definition.folder, definition.folder.parent / SHARED_NODE]
    many = (HERE / "many.mjs").read_text("utf-8")
    files = sorted([path for source in sources for path in source.rglob("*") if path.is_file()])
    digest = hashlib.sha256(b"\0".join([path.read_bytes() for path in files]) + many.encode()).hexdigest()[:12]
    target = environment_path(definition) / "drivers" / f"many-{definition.name}-{digest}"
    if not target.is_dir():
        target.parent.mkdir(exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=target.parent))
        for source in sources:
            shutil.copytree(source, scratch / source.name)
        shared = scratch / SHARED_NODE / "driving.mjs"
        once = shared.read_text("utf-8")
        if once.count(_ONCE) != 1:
            raise Unusable(f"{shared}: expected one {_ONCE!r}")
        shared.write_text(once.replace(_ONCE, "async function driveOnce(") + many, "utf-8")
        scratch.rename(target)
    return target / definition.name / definition.driver


class Worker:
    """One SDK that answers one job at a time; it is started again after it ended or hung."""

    def __init__(self, command: tuple[str, ...], environment: Mapping[str, str], surroundings: Surroundings) -> None:
        """Start nothing yet."""
        self._command, self._environment, self._surroundings = command, dict(environment), surroundings
        self._child: processes.Child | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._folder = tempfile.TemporaryDirectory(prefix="harm-", ignore_cleanup_errors=True)

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._folder.cleanup()

    def ask(self, job: Mapping[str, Any], seconds: float) -> Reported:
        """Return what the client made of a job."""
        if self._child is None or self._child.poll() is not None:
            self._stop()
            self._start()
        assert self._child is not None
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(orjson.dumps({**job, "seconds": seconds}) + b"\n")
            self._child.stdin.flush()
            value = self._answer(seconds + _GRACE)
        except queue.Empty:
            # What watches over the time is itself kept from it, as by an endless loop.
            self._stop()
            return Reported(hung=True)
        except OSError as error:
            self._stop()
            return Reported(failure=f"the worker cannot be asked: {error}")
        if value is None:
            self._stop()
            return Reported(failure=f"the worker ended; see {self._errors}: {self._tail()}")
        if value.get("hang"):
            return Reported(hung=True)
        return Reported(failure=value["failure"]) if "failure" in value else Reported(DriverAnswer.from_json(value))

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        """Return the next answer, or None if the worker ended; what else an SDK prints is passed over."""
        while line := self._lines.get(timeout=seconds):
            with contextlib.suppress(orjson.JSONDecodeError):
                value = orjson.loads(line)
                if isinstance(value, dict):
                    return value
        return None

    @property
    def _errors(self) -> Path:
        return Path(self._folder.name) / "errors.txt"

    def _tail(self) -> str:
        lines = self._errors.read_text("utf-8", "replace").splitlines() if self._errors.exists() else []
        return " / ".join([line for line in lines if line.strip()][-3:])[-300:]

    def _start(self) -> None:
        home = Path(self._folder.name)
        homes = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), str(home))
        launch = processes.Launch(
            environment={**processes.inherited(), **homes, **_FIXED, **self._environment},
            folder=home,
            namespaces=self._surroundings.namespaces,
        )
        self._lines = queue.SimpleQueue()
        with self._errors.open("ab") as errors:
            self._child = self._surroundings.children.start(
                self._command, launch, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors.fileno()
            )
        assert self._child.stdout is not None
        threading.Thread(target=_read, args=(self._child.stdout, self._lines), daemon=True).start()

    def _stop(self) -> None:
        if self._child is not None:
            self._child.kill()
            if self._child.stdin is not None:
                # What was written to a worker that ended cannot be flushed.
                with contextlib.suppress(OSError):
                    self._child.stdin.close()
        self._child = None


def _read(pipe: IO[bytes], lines: "queue.SimpleQueue[bytes]") -> None:
    with pipe:
        for line in pipe:
            lines.put(line)
    lines.put(b"")
