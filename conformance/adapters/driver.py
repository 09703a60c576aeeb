"""A driver at work: the job goes in, the answer comes out, and every other end is a fault of the driver."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from conformance import processes
from conformance.adapters import process
from conformance.adapters.loop import Answer
from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.schemas import validator

SECONDS: Final = 60.0
"""The time-out of one case, where nobody says otherwise; some SDKs take half of it to be imported."""

_INHERITED: Final = ("USERPROFILE", "SYSTEMROOT", "TEMP", "TMP", "TZ", "NODE_PATH")
_SHOWN: Final = 300
_TAIL_LINES: Final = 8


@dataclass(frozen=True, slots=True)
class Driver:
    """How an adapter's driver is started; `environment` holds what it needs beside what every program does."""

    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: float = SECONDS


@dataclass(frozen=True, slots=True)
class Driven:
    """What became of a job: an answer, or None and the driver's fault in words."""

    answer: Answer | None
    fault: str = ""


def drive(driver: Driver, job: Mapping[str, Any]) -> Driven:
    """Give a driver its job and return what became of it; nothing that it does raises."""
    fixed = {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", "NO_PROXY": "127.0.0.1,localhost"}
    variables = {**processes.inherited(*_INHERITED), **fixed, **driver.environment}
    ended = process.run(driver.command, orjson.dumps(job), driver.folder, variables, driver.seconds)
    if ended.problem:
        return Driven(None, _fault(ended.problem, ended.errors))
    if ended.code != 0:
        return Driven(None, _fault(f"ended with exit code {ended.code}", ended.errors))
    lines = [line for line in ended.output.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines:
        return Driven(None, _fault("printed no answer", ended.errors))
    try:
        value: Any = parse_json(lines[-1].encode(), "the last line of its standard output")
    except InvalidDocument as error:
        return Driven(None, _fault(f"printed no answer: {error}: {lines[-1][:_SHOWN]!r}", ended.errors))
    errors = validator("files/adapter-answer").errors(value)
    if errors:
        at = "/".join(map(str, errors[0].place)) or "(root)"
        return Driven(None, _fault(f"printed an invalid answer: at {at}: {errors[0].message}", ended.errors))
    return Driven(Answer.from_json(value))


def _fault(what: str, errors: str) -> str:
    """Return a fault in words, with the last lines of standard error."""
    lines = [line.rstrip() for line in errors.splitlines() if line.strip()][-_TAIL_LINES:]
    return f"the driver {what}" + (f"; standard error ends:\n{chr(10).join(lines)}" if lines else "")
