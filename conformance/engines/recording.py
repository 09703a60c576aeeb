"""Cassettes of an engine, and how its behaviour differs from committed ones."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from conformance.engines.serving import ServedEngine
from conformance.formats import read_path
from conformance.observations import words
from conformance.observations.comparing import Texts, contrasts
from conformance.results import Status
from conformance.results.runs import Case, Results
from conformance.suite.cassettes import record
from conformance.suite.options import Options
from conformance.suite.run import Run
from conformance.transport.limits import MAX_TIME, REQUEST_TIMEOUT
from conformance.transport.shelf import CassetteFolder
from conformance.wire.exchange import Conversation, Exchange

_VOLATILE: Final = re.compile(r'"(?:id|tool_call_id|request_id|system_fingerprint|created)":\s*"?([\w.:-]{6,})')
"""Values that differ from run to run though the behaviour is the same."""


class RecordingOptions(NamedTuple):
    """How to record: on which wire, by default chat completions, and whether to go on with an interrupted recording.

    `request_timeout`: how many seconds one request may take. `max_time`: how many seconds all of them may take.
    """

    protocol: str = ""
    resume: bool = False
    request_timeout: float = REQUEST_TIMEOUT
    max_time: float = MAX_TIME


USUAL: Final = RecordingOptions()


def record_cassettes(
    served: ServedEngine,
    cassettes: Path,
    today: str,
    on_case: Callable[[Case], None] = lambda _: None,
    warn: Callable[[str], None] = lambda _: None,
    options: RecordingOptions = USUAL,
) -> Results:
    """Play every case against an engine, write the cassettes, and return the results.

    They replace simulated cassettes of the same profile. If the time is over, no cassette changes. Raises Unusable
    if the server is this project's simulator, or its profile has no claims about the wire.
    """
    results = record(
        Options(
            served.provider,
            cassettes,
            today,
            model=served.model,
            live=True,
            base_url=served.url,
            engine=served.about,
            hidden=served.hidden,
            **options._asdict(),
        ),
        on_case,
        warn,
    )
    cassette_folder = CassetteFolder(cassettes, results.subject)
    entries = cassette_folder.manifest()
    for model, entry in entries.items() if served.model in entries else ():
        if not entry.is_real:
            cassette_folder.remove(model)
    return results


def drift(before: Texts, after: Texts) -> Iterator[str]:
    """Yield a line for each difference between two snapshots, in outcomes or on the wire."""
    for name, texts in sorted(contrasts({"was": before, "is": after}, "absent")):
        yield f"{name}: was {texts['was']}, is {texts['is']}"


def snapshot(provider: str, model: str, cassettes: Path, protocol: str = "") -> Texts:
    """Return the behaviour that the cassettes of a model show when replayed; raises Unusable if there are none.

    It is in words, such as `one-tool-call.plain: probe results-null` → `refused with 400: …`.
    Ids, fingerprints, dates and durations are left out, since they differ from run to run.
    """
    run = Run(Options(provider, cassettes, "", model=model, protocol=protocol))
    cassette_folder = CassetteFolder(cassettes, run.profile.name)
    found: dict[str, str] = {}
    try:
        for scenario, variant in run.cases():
            case = run.case(scenario, variant)
            path = cassette_folder.path(model, case.name)
            conversation: Conversation = ()
            if case.outcomes and path.exists():
                conversation = tuple([exchange for part in read_path(path) for exchange in part.conversation])
            found |= _of_case(case, conversation)
    finally:
        run.close()
    return found


def _of_case(case: Case, conversation: Conversation) -> Texts:
    volatile = {word for exchange in conversation for word in _VOLATILE.findall(_text(exchange))}

    def normalized(text: str) -> str:
        for word in sorted(volatile, key=len, reverse=True):
            text = text.replace(word, "…")
        return text

    found = {f"{case.name}: note": normalized(case.note)} if case.note else {}
    for outcome in case.outcomes:
        if outcome.status is not Status.NOT_APPLICABLE:
            messages = "; ".join([finding.message for finding in outcome.findings])
            found[f"{case.name}: {outcome.rule}"] = normalized(f"{outcome.status.value} {messages}".strip())
    for probe in case.probes:
        found[f"{case.name}: probe {probe.name}"] = normalized(f"{probe.status.value}, {probe.observed}")
    members = {member for exchange in conversation for member in words.members(exchange)}
    return found | {f"{case.name}: wire {member}": "present" for member in members}


def _text(exchange: Exchange) -> str:
    response = exchange.response
    return response if isinstance(response, str) else orjson.dumps(response).decode()
