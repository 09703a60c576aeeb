"""Logs and exports of other tools, as JSON values: one file per tool, each recognized by its keys.

A file has `KIND`, what an input is called; `RULES`, globs of the rules for which the log holds enough, empty for all;
`NOTES`, what the log lacks and what follows from it; `holds`, which says whether a value is its own; and `exchanges`,
which yields the exchanges of a value, each alone or as `Rebuilt`, or a sentence about what was skipped. If a value may
hold only a part of an exchange, it has `parts` instead, which yields an input for each, and `joined`, which joins them.
If requests and replies are in different files, it has `pair`, which returns what identifies a value in both.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from conformance.errors import InvalidDocument
from conformance.formats import rebuilt
from conformance.formats.inputs import Input
from conformance.formats.rebuilt import Rebuilt
from conformance.formats.records import located

_MARKS: Final = (
    ("custom_id", "batch"),
    ("standard_logging_object", "litellm"),
    ("call_type", "litellm"),
    ("resourceLogs", "events"),
    ("resource_logs", "events"),
    ("event_name", "events"),
    ("eventName", "events"),
    ("severity_number", "events"),
    ("resourceSpans", "spans"),
    ("resource_spans", "spans"),
    ("attributes", "spans"),
    ("info", "spans"),
    ("attributes.llm.input_messages", "spans"),
    ("attributes.openinference.span.kind", "spans"),
    ("tags", "spans"),
    ("data", "spans"),
    ("run_type", "langsmith"),
    ("response_status_code", "portkey"),
    ("span_attributes", "braintrust"),
    ("op_name", "weave"),
    ("meta", "datadog"),
    ("traceId", "langfuse"),
    ("trace_id", "langfuse"),
    ("observations", "langfuse"),
    ("data", "langfuse"),
    ("data", "datadog"),
    ("response_status", "helicone"),
    ("level", "program"),
    ("levelname", "program"),
    ("severity", "program"),
    ("log.level", "program"),
    ("record", "program"),
    ("log", "program"),
    ("textPayload", "program"),
    ("jsonPayload", "program"),
    ("@l", "program"),
    ("@mt", "program"),
    ("MESSAGE", "program"),
    ("Level", "program"),
    ("LogLevel", "program"),
    ("short_message", "program"),
    ("@message", "program"),
    ("_raw", "program"),
    ("line", "program"),
    ("errorMessage", "program"),
    ("mappings", "wiremock"),
    ("requests", "wiremock"),
)
"""By key: the file to ask whether a value with that key is its own; a plain body costs one look-up for each."""
_KEYS: Final = frozenset([mark for mark, _ in _MARKS])
_MAX_NOTES: Final = 10


def reader_of(value: Mapping[str, Any]) -> ModuleType | None:
    """Return the file of this folder whose log a value is, or None."""
    for mark, name in () if _KEYS.isdisjoint(value) else _MARKS:
        if mark in value:
            module = import_module(f"{__name__}.{name}")
            if module.holds(value):
                return module
    request = value.get("request")
    # A mapping of WireMock has few keys of its own; a body of a request has no method.
    if isinstance(request, Mapping) and "method" in request:
        wiremock = import_module(f"{__name__}.wiremock")
        return wiremock if wiremock.holds(value) else None
    return None


def read(log: ModuleType, values: Sequence[Mapping[str, Any]], path: str, line: int | None) -> Iterator[Input]:
    """Yield one input of all exchanges of a log, then one for each value that cannot be read.

    The parts of a line stay parts, since the others may be in other lines.
    """
    if hasattr(log, "parts"):
        parts = log.parts(values, path, line)
        yield from parts if line is not None else log.joined(parts)
        return
    calls: list[Rebuilt] = []
    numbers: list[int] = []
    skipped: dict[str, int] = {}
    problems: list[Input] = []
    for number, value in enumerate(values):
        try:
            for found in log.exchanges(value, path):
                if isinstance(found, str):
                    skipped[found] = skipped.get(found, 0) + 1
                else:
                    calls.append(found if isinstance(found, Rebuilt) else Rebuilt(found))
                    numbers.append(number)
        except InvalidDocument as error:
            pointer = f"/{number}" if len(values) > 1 else None
            problem = InvalidDocument(located(error), path, line, pointer)
            problems.append(Input(path, line, log.KIND, problem=problem))
    if calls or skipped:
        pair = log.pair(values[0]) if hasattr(log, "pair") and len(values) == 1 else ""
        given = _input(log, calls, Input(path, line, log.KIND, numbers=tuple(numbers), pair=pair))
        yield given._replace(notes=given.notes + _shown(skipped))
    yield from problems


def _input(log: ModuleType, calls: Sequence[Rebuilt], given: Input) -> Input:
    """Return an input with the calls in it; what is known of only some of them is not used."""
    verbatim = bool(calls) and all(each.verbatim for each in calls)
    failed = any(each.failed for each in calls)
    rules = log.RULES
    if rules:
        rules += (rebuilt.SENT_RULES if verbatim else ()) + (rebuilt.FAILURE_RULES if failed else ())
    elif failed:
        rules = rebuilt.ALL_RULES
    providers = {rebuilt.host_of(each) for each in calls}
    notes = (rebuilt.SENT_NOTES if verbatim else log.NOTES) if calls else ()
    provider = providers.pop() if len(providers) == 1 else ""
    return given._replace(
        conversation=tuple(each.exchange for each in calls), provider=provider, rules=rules, notes=notes
    )


def _shown(skipped: Mapping[str, int]) -> tuple[str, ...]:
    notes = [name + (f" ({count} times)" if count > 1 else "") for name, count in skipped.items()]
    more = len(notes) - _MAX_NOTES
    return tuple(notes[:_MAX_NOTES]) + ((f"also skipped: {more} others",) if more > 0 else ())
