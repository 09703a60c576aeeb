"""The simulated cassettes are up to date: the simulator answers their requests as they say, and none is missing.

    python -m tests.checks.cassettes [--again] [--fix]

The check of results replays them, which shows that the suite still sends these requests. With --again, they are
recorded again over HTTP and compared, which takes four times as long; with --fix, stale ones are replaced, too.
"""

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from conformance.resources import folder
from conformance.results import Evidence
from conformance.simulator import Simulator, remembering
from conformance.simulator.responder import Responder
from conformance.suite.cassettes import record, subjects
from conformance.suite.options import Options
from conformance.suite.run import Run
from conformance.transport.cassette import interactions
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.shelf import CassetteFolder, ManifestEntry
from tests.checks import differing_files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="record the cassettes again")
    parser.add_argument("--fix", action="store_true", help="record the cassettes again, and replace stale ones")
    options = parser.parse_args()
    stale = 0
    for provider, model, entry in _simulated():
        again = options.again or options.fix
        names = _recorded_again(provider, model, entry, fix=options.fix) if again else [*_answered(provider, model)]
        stale += len(names)
        if names:
            done = "replaced" if options.fix else f"run `{entry.again}`"
            print(f"{provider}/{model}: stale: {', '.join(names)}; {done}")
    print(f"cassettes: {stale} stale" if stale else "cassettes: up to date")
    return int(bool(stale) and not options.fix)


def _simulated() -> Iterator[tuple[str, str, ManifestEntry]]:
    for provider in subjects():
        for model, entry in CassetteFolder(folder("cassettes"), provider).manifest().items():
            if entry.evidence is Evidence.SIMULATED:
                yield provider, model, entry


def _answered(provider: str, model: str) -> Iterator[str]:
    """Yield the names of the cassettes that are missing, have no case, or hold another reply than the simulator's."""
    run = Run(Options(provider, folder("cassettes"), "", model=model))
    run.close()
    cases = [f"{scenario.name}.{variant}" for scenario, variant in run.cases() if run.unmet(scenario) is None]
    held = CassetteFolder(folder("cassettes"), provider)
    yield from sorted({*cases} ^ {*held.cases(model)})
    # The replies of Responses are stored, and a later request may refer to them: one simulator for all cases.
    answer = remembering(Simulator(run.profile))
    # A simulator checks what it is about to send. Here the check of results judges it, as the cassettes hold it.
    with patch.object(Responder, "_checked", lambda _self, _sent, reply: reply):
        for case in cases:
            path = held.path(model, case)
            if path.exists() and any(_differs(answer(_request(each["request"])), each) for each in interactions(path)):
                yield case


def _request(recorded: Mapping[str, Any]) -> HttpRequest:
    headers = {name.lower(): values[0] for name, values in recorded["headers"].items()}
    body = recorded["body"] or ""
    sent = body.encode() if isinstance(body, str) else body
    path = urlsplit(recorded["uri"]).path
    # Cassettes have no queries, by which Gemini chooses the form of a stream.
    query = "?alt=sse" if path.endswith(":streamGenerateContent") else ""
    return HttpRequest(recorded["method"], f"{path}{query}", headers, sent)


def _differs(reply: HttpReply, recorded: Mapping[str, Any]) -> bool:
    response = recorded["response"]
    string = response["body"]["string"]
    content = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
    held = string.encode() if isinstance(string, str) else string
    kinds = [value for name, values in response["headers"].items() if name == "content-type" for value in values]
    return (reply.status, content, [reply.headers["content-type"]]) != (response["status"]["code"], held, kinds)


def _recorded_again(provider: str, model: str, entry: ManifestEntry, *, fix: bool) -> list[str]:
    """Return the names of the cassettes that a new recording changes; they are replaced if they are to be fixed."""
    with tempfile.TemporaryDirectory() as scratch:
        record(Options(provider, Path(scratch), entry.date, model=model))
        fresh = CassetteFolder(Path(scratch), provider).path(model, "x").parent
        committed = CassetteFolder(folder("cassettes"), provider).path(model, "x").parent
        names = differing_files(committed, fresh, "*.yaml")
        if names and fix:
            shutil.rmtree(committed)
            shutil.copytree(fresh, committed)
    return names


if __name__ == "__main__":
    raise SystemExit(main())
