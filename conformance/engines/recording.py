"""Cassettes of an engine, and what has changed since they were committed."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.documents import parse_json
from conformance.engines.serving import Served
from conformance.errors import InvalidDocument, Unusable
from conformance.formats import read_path
from conformance.results import Case, Evidence, Results, Status
from conformance.suite.record import record
from conformance.suite.run import Options, Run
from conformance.transport.cassette import Shelf
from conformance.wire import sse
from conformance.wire.exchange import Conversation, Exchange

_VOLATILE: Final = re.compile(r'"(?:id|tool_call_id|request_id|system_fingerprint|created)":\s*"?([\w.:-]{6,})')
"""What differs from run to run though nothing has changed."""

Facts = Mapping[str, str]
"""What was observed, by name: `one-tool-call.plain: probe results-null` → `refused with 400: …`."""


def recorded(served: Served, cassettes: Path, today: str, told: Callable[[Case], None] = lambda _: None) -> Results:
    """Play every case against an engine, keep the cassettes, and return what came of them.

    They stand in the place of those that were simulated for the same profile, which are removed. Raises Unusable where
    the simulator answered.
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
        ),
        told,
    )
    shelf = Shelf(cassettes, served.provider)
    entries = shelf.manifest()
    for model, entry in entries.items():
        if entry.evidence is Evidence.SIMULATED:
            shelf.drop(model)
    if entries[served.model].evidence is not Evidence.ENGINE:
        message = f"{served.url} answers as this project's simulator does, which is no engine; nothing was kept"
        raise Unusable(message)
    return results


def drift(before: Facts, after: Facts) -> Iterator[str]:
    """Yield in words what is not as it was, in outcomes and on the wire."""
    for name in sorted({*before, *after}):
        was, now = before.get(name, "absent"), after.get(name, "absent")
        if was != now:
            yield f"{name}: was {was}, is {now}"


def facts(provider: str, model: str, cassettes: Path) -> Facts:
    """Return what the cassettes of a model show when they are replayed; raises Unusable where there are none.

    Ids, fingerprints, dates and durations differ from run to run, and are no facts.
    """
    run = Run(Options(provider, cassettes, "", model=model))
    shelf = Shelf(cassettes, provider)
    found: dict[str, str] = {}
    try:
        for scenario, variant in run.cases():
            case = run.case(scenario, variant)
            path = shelf.path(model, case.name)
            conversation: Conversation = ()
            if case.outcomes and path.exists():
                conversation = tuple([each for given in read_path(path) for each in given.conversation])
            found |= _of_case(case, conversation)
    finally:
        run.close()
    return found


def _of_case(case: Case, conversation: Conversation) -> Facts:
    volatile = {word for exchange in conversation for word in _VOLATILE.findall(_text(exchange))}

    def steady(text: str) -> str:
        for word in sorted(volatile, key=len, reverse=True):
            text = text.replace(word, "…")
        return text

    found = {f"{case.name}: note": steady(case.note)} if case.note else {}
    for outcome in case.outcomes:
        if outcome.status is not Status.NOT_APPLICABLE:
            said = "; ".join([finding.message for finding in outcome.findings])
            found[f"{case.name}: {outcome.rule}"] = steady(f"{outcome.status.value} {said}".strip())
    for probe in case.probes:
        found[f"{case.name}: probe {probe.name}"] = steady(f"{probe.status.value}, {probe.observed}")
    members = {member for exchange in conversation for member in _members(exchange)}
    return found | {f"{case.name}: wire {member}": "present" for member in members}


def _text(exchange: Exchange) -> str:
    response = exchange.response
    return response if isinstance(response, str) else orjson.dumps(response).decode()


def _members(exchange: Exchange) -> Iterator[str]:
    """Yield each member of a reply or of its chunks with the type of its value, the places in lists aside."""
    bodies = [exchange.response]
    if exchange.streamed and isinstance(exchange.response, str):
        bodies = []
        for event in sse.read(exchange.response).events:
            try:
                bodies.append(parse_json(event.data))
            except InvalidDocument:
                continue
    for body in bodies:
        if isinstance(body, dict):
            yield from _walk("", body)


def _walk(at: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _walk(f"{at}/{key}", each)
    elif isinstance(value, list):
        for each in value:
            yield from _walk(f"{at}/*", each)
    else:
        yield f"{at} {'null' if value is None else type(value).__name__}"
