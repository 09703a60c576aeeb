"""A plugin of pytest that collects the tests once and runs some of them for each change, in a process of its own.

A process is forked after everything is imported, so what changes are the functions that live in it: each whose code was
compiled from the changed file gets the code of the changed source. What runs only at import cannot be tried this way.
"""

import gc
import json
import os
import resource
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any, Final

import pytest

PIPES: Final = "MUTANTS_PIPES"
"""The environment variable with the numbers of two pipes: from the first come changes, to the second go verdicts."""
READY: Final = "ready"
"""What is answered once all is imported, before which no source may change."""
UNSURE: Final = "?"
"""The answer if a change cannot be tried here."""
SECONDS: Final = 200
"""How long one test may take: a change that makes it hang is noticed. It is far more than any test takes."""
BYTES: Final = 4 << 30
"""How much memory the tests of a change may take; one that makes them fill it is noticed."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run tests for each change that comes, until there are no more."""
    given, answered = [int(number) for number in os.environ[PIPES].split(",")]
    items = {item.nodeid: item for item in session.items}
    gc.unfreeze()
    functions = [each for each in gc.get_objects() if isinstance(each, FunctionType)]
    gc.freeze()  # Else each forked process would visit, and so copy, all that is shared.
    with os.fdopen(given) as jobs, os.fdopen(answered, "w") as answers:
        answers.write(f"{READY}\n")
        answers.flush()
        for line in jobs:
            job = json.loads(line)
            chosen = [items[test] for test in job["tests"] if test in items]
            answers.write(json.dumps(_tried(job, chosen, functions)) + "\n")
            answers.flush()
    return True


def _tried(job: dict[str, Any], chosen: Sequence[pytest.Item], functions: Sequence[FunctionType]) -> str:
    """Return the first test that fails with a change, or that one did not end; empty if all pass."""
    receiver, sender = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        os.close(receiver)
        _run(job, chosen, functions, sender)
    os.close(sender)
    answer = os.read(receiver, 1 << 16).decode()
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(receiver)
    return answer.strip() if answer else "a test did not end"


def _run(job: dict[str, Any], chosen: Sequence[pytest.Item], functions: Sequence[FunctionType], sender: int) -> None:
    """Make the change in this process, run the tests and end it."""
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    status = "\n"
    try:
        graft(functions, job["path"], job["before"], job["after"])
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            signal.alarm(SECONDS)
            failed = _Failed()
            item.config.pluginmanager.register(failed)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            item.config.pluginmanager.unregister(failed)
            if failed.any:
                status = item.nodeid
                break
    except Exception:  # noqa: BLE001 — no verdict: these tests have to run in a process of their own
        status = UNSURE
    os.write(sender, status.encode())
    os._exit(0)


class _Failed:
    """Notes whether a test fails."""

    def __init__(self) -> None:
        self.any = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.any |= report.failed


def graft(functions: Sequence[FunctionType], path: str, before: str, after: str) -> None:
    """Give living functions of a file the code of its changed source; raises ValueError if one cannot take it."""
    old, new = _codes(path, before), _codes(path, after)
    codes = {
        code: changed
        for name, found in old.items()
        if len(found) == len(new.get(name, []))
        for code, changed in zip(found, new[name], strict=True)
    }
    for function in functions:
        if function.__code__ in codes and function.__code__.co_filename == path:
            function.__code__ = codes[function.__code__]


def _codes(path: str, source: str) -> dict[str, list[CodeType]]:
    """Return the codes of the functions of a source by their qualified names."""
    found: dict[str, list[CodeType]] = {}
    for code in _within(compile(source, path, "exec", dont_inherit=True)):
        found.setdefault(code.co_qualname, []).append(code)
    return found


def _within(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _within(each)
