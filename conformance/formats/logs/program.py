"""Logs of programs as JSON, one record a line, as loggers and the services that collect their lines write them.

Among them structlog, python-json-logger, loguru, pino, winston, slog, Serilog, Docker, journald, GELF and Google Cloud.
A record has a level, a message and perhaps an exception, under names that differ. What an SDK or its HTTP client wrote
into them is read as in a text log; the marks of all lines make calls together.

Source: docs/api.md of github.com/pinojs/pino, docs/standard-library.rst of github.com/hynek/structlog,
loguru/_handler.py of github.com/Delgan/loguru, https://docs.docker.com/engine/logging/drivers/json-file and
https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.formats import failures, printed
from conformance.formats.inputs import Input
from conformance.formats.printed_calls import KIND, Mark, PrintedLines
from conformance.formats.records import as_object

__all__ = ["KIND", "NOTES", "RULES", "holds", "joined", "parts"]

NOTES: Final = ()
RULES: Final = ()
_LEVELS: Final = ("level", "levelname", "severity", "log.level", "lvl", "@l", "PRIORITY", "Level", "LogLevel")
_TEXTS: Final = (
    *("message", "msg", "event", "text", "log", "textPayload"),
    *("@m", "@mt", "MESSAGE", "Message", "RenderedMessage", "MessageTemplate", "short_message", "full_message"),
    *("@message", "_raw", "line", "errorMessage"),
)
_RAISED: Final = (
    "exception",
    "exc_info",
    "exc_text",
    "error",
    "err",
    "stack",
    "stack_trace",
    "traceback",
    "stacktrace",
    "@x",
    "Exception",
    "thrown",
    "error.message",
    "error.stack_trace",
)
_HOLDERS: Final = ("jsonPayload", "record", "message")
_BODIES: Final = ("request", "response", "messages", "choices", "log.entries")
_SIDES: Final = ("req", "res")
"""What pino's log of HTTP has beside a level, with bodies or without."""
_WHOLE: Final = ("line", "@message", "_raw", "short_message", "errorMessage", "MESSAGE")
"""Texts of records that need no level."""
_ERROR: Final = 400


def holds(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a record of a program's log, and not one with bodies of its own."""
    records = [value, *[value[key] for key in _HOLDERS if isinstance(value.get(key), Mapping)]]
    if any(isinstance(record.get(key), (Mapping, list)) for record in records for key in _BODIES):
        return False
    if any(isinstance(value.get(key), Mapping) and "body" in value[key] for key in _SIDES):
        return False
    if len(records) > 1:
        return True
    has_text = any(isinstance(value.get(key), str) for key in _TEXTS)
    has_level = any(isinstance(value.get(key), (str, int)) for key in _LEVELS)
    return has_text and (
        has_level or any(_is_line(value.get(key)) for key in _WHOLE) or isinstance(value.get("log"), str)
    )


def _is_line(value: Any) -> bool:
    """Return whether a value is a line of a log, and not JSON as text, whose bodies are read as such."""
    return isinstance(value, str) and not value.lstrip().startswith("{")


def parts(values: Sequence[Mapping[str, Any]], path: str, line: int | None) -> Iterator[Input]:
    """Yield an input with the marks of each record; it has no conversation yet."""
    for value in values:
        yield Input(path, line, KIND, marks=tuple(_marks(value)))


def joined(found: Iterable[Input]) -> Iterator[Input]:
    """Yield one input with the calls of all records."""
    lines: PrintedLines | None = None
    for each in found:
        lines = lines or PrintedLines(each.path)
        yield from lines.add(each, 0)
    yield from lines.close() if lines else ()


def _marks(value: Mapping[str, Any]) -> Iterator[Mark]:
    records = [value, *[value[key] for key in _HOLDERS if isinstance(value.get(key), Mapping)]]
    texts = [record[key] for record in records for key in (*_TEXTS, *_RAISED) if isinstance(record.get(key), str)]
    yield from printed.marks("\n".join(dict.fromkeys(texts)))
    for record in records:
        if isinstance(record.get("errorType"), str) and isinstance(record.get("errorMessage"), str):
            thrown = failures.of_text(f"{record['errorType']}: {record['errorMessage']}")
            if thrown.status is not None:
                yield Mark("failure", 0, thrown.body, thrown.url, thrown.status, is_body=thrown.is_body)
    for raised in [record.get(key) for record in records for key in _RAISED]:
        failure = failures.of_value(raised) if isinstance(raised, Mapping) else None
        is_sdk = failure is not None and failure.status is not None and failure.status >= _ERROR
        if failure is not None and (is_sdk or as_object(raised).get("name") == "AI_APICallError"):
            yield Mark("failure", 0, failure.body, failure.url, failure.status, is_body=failure.is_body)
