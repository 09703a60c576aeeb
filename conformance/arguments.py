"""Command-line arguments that several verbs share."""

import argparse
import sys
from collections.abc import Container, Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from conformance.documents import parse_json, read_json
from conformance.transport.limits import MAX_TIME, MAX_TIMEOUTS, REQUEST_TIMEOUT

STDIN = "-"
TODAY = "today"

PROVIDER_HELP = "the provider (see `conformance explain providers`), or the path of a profile"
"""What `--provider` means wherever a profile is needed."""

_OUTPUT = "also write the report in this format to a file; repeatable"
_PARTIAL = (
    "accept results that do not prove a whole run (incomplete, filtered, edited, or of another provider than their "
    "file name says), and say so in the last line"
)
_LISTED = 3


def add_header(parser: argparse.ArgumentParser) -> None:
    """Add the option for further headers of each request, which `suite.options.headers_of` reads."""
    text = "a header of each request, for gateways that need their own; its value is never printed; repeatable"
    parser.add_argument("--header", metavar="NAME:VALUE", action="append", default=[], help=text)


def positive(text: str) -> int:
    """Return the number that an argument holds; argparse reports an error if it is not 1 or more."""
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text!r}")
    return int(text)


def day(text: str) -> str:
    """Return the ISO 8601 day that an argument names, or that `today` means, in UTC."""
    if text == TODAY:
        return datetime.now(UTC).date().isoformat()
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected YYYY-MM-DD or {TODAY}, got {text!r}") from None


def seconds(text: str) -> float:
    """Return the time that an argument holds; argparse reports an error if it is not above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return value


def add_times(parser: argparse.ArgumentParser, whole: str) -> None:
    """Add --request-timeout and --max-time; `whole` says what the latter bounds, such as `the whole recording`."""
    request = f"time for one request, from sending it to the last byte of its reply (default: {REQUEST_TIMEOUT:g})"
    run = f"time for {whole} (default: {MAX_TIME:g}, two hours; inf for no limit); nothing is sent after it"
    timeouts = f", or after {MAX_TIMEOUTS} timeouts in a row"
    parser.add_argument("--request-timeout", metavar="SECONDS", type=seconds, default=REQUEST_TIMEOUT, help=request)
    parser.add_argument("--max-time", metavar="SECONDS", type=seconds, default=MAX_TIME, help=run + timeouts)


def add_outputs(parser: argparse.ArgumentParser, formats: Container[str]) -> None:
    """Add --output, with which one run writes reports in several formats; `formats` are their names."""

    def output(text: str) -> tuple[str, Path]:
        name, separator, file = text.partition("=")
        if not separator or not file or name not in formats:
            known = f"one of {', '.join(formats)}" if isinstance(formats, Iterable) else "a format"
            raise argparse.ArgumentTypeError(f"expected FORMAT=FILE with {known} as FORMAT, got {text!r}")
        return name, Path(file)

    parser.add_argument("--output", action="append", default=[], type=output, metavar="FORMAT=FILE", help=_OUTPUT)


def add_partial(parser: argparse.ArgumentParser) -> None:
    """Add --partial, whose value is where `conformance.results.files.read` notes what it accepts; None without it."""
    parser.add_argument("--partial", action="store_const", const=[], default=None, help=_PARTIAL)


def print_accepted(accepted: Sequence[str] | None) -> None:
    """Print as the last line, on standard error, what --partial accepted; standard output may be a file format."""
    if accepted:
        print(partial_line(accepted), file=sys.stderr)


def partial_line(accepted: Sequence[str]) -> str:
    """Return in one line what --partial accepted, as it may be printed; empty without any."""
    if not accepted:
        return ""
    # Imported here because only --partial needs it.
    from conformance.reporting.text import printable

    more = f"; and {len(accepted) - _LISTED} more files" if len(accepted) > _LISTED else ""
    return printable(f"partial: {'; '.join(accepted[:_LISTED])}{more}")


def add_json_file(parser: argparse.ArgumentParser) -> None:
    """Add the argument FILE, which `read_json_file` reads."""
    parser.add_argument(
        "file", metavar="FILE", nargs="?", default=STDIN, help="a JSON file, or - for standard input (default)"
    )


def read_json_file(file: str) -> tuple[Any, str]:
    """Return the JSON value in FILE and the name that errors give to it."""
    if file == STDIN:
        name = "<stdin>"
        return parse_json(sys.stdin.buffer.read(), name), name
    return read_json(Path(file)), file
