"""Check traffic: judge request and reply bodies, message lists, exchanges, streams, cassettes and recordings.

PATH is a file, a folder (searched for files that can be inputs, by name), or - for standard input. What each holds is
told by its content: a request body, a bare list of messages, a reply body, an exchange (an object with "request" and
"response"), a list of exchanges (a session), JSON Lines of these (neighbours with the same "session" are one
conversation), the raw text of an event stream, a VCR cassette, a HAR or an httprr trace; each also gzipped.

A finding reads "path:line: rule LEVEL at pointer: message". The pointer leads into the conversation: /0 is its first
exchange; below that are request, response, status and headers. `conformance explain RULE` says more of a rule.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from conformance.errors import Unusable
from conformance.files import Counts, Judged, Task, judge, summary
from conformance.reporting import renderers
from conformance.results import Level
from conformance.terminal import Progress, complain, painter

EXAMPLES: Final = """\
  conformance check request.json
  conformance check --provider deepseek traffic.jsonl.gz
  conformance check --provider auto --format json cassettes/ > renderers.json
  conformance check --format sarif fixtures/ > conformance.sarif
  curl -sN … | conformance check --rule 'stream/*' -"""

_PROVIDER: Final = "judge by this provider's claims, too; auto: by those of the one that an input tells by name or host"
_LEVEL: Final = """\
the lowest level that is shown and that makes the exit code 1 (default: all levels are shown, MUST and SHOULD count)"""
_FOLDER: Final = Path(renderers.__path__[0])


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="a file, a folder, or - for standard input")
    add("--provider", default="", metavar="P", help=_PROVIDER)
    add("--rule", action="append", default=[], metavar="GLOB", help="judge by these rules only; may be given again")
    add("--format", choices=_Formats(), default="console", metavar="F", help="one of %(choices)s (default: console)")
    add("--level", type=str.upper, choices=[level.value for level in Level], help=_LEVEL)
    add("--all", action="store_true", help="show what passed and what did not apply, too")
    add("--jobs", type=_number, default=1, metavar="N", help="judge in N processes (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    """Judge the paths and print the report; return 2 where something was not judged that should be, 1 for findings."""
    shown = _format(arguments.format)
    # What a format needs beside findings stands in its file.
    every, lines = arguments.all or getattr(shown, "EVERY", False), getattr(shown, "LINES", False)
    task = Task(arguments.provider, tuple(arguments.rule), Level(arguments.level or Level.MAY), every, lines)
    counts: Counts = Counter()
    inputs = _watched(judge(arguments.paths, task, arguments.jobs), counts)
    for text in shown.render_inputs(inputs, lambda: summary(counts, task), painter()):
        # What comes over a pipe may come slowly, and is told as it comes.
        print(text, end="", flush="-" in arguments.paths)
    if counts["unreadable", ""] or counts["errored", ""]:
        return 2
    if not counts["exchanges", ""]:
        raise Unusable("nothing was judged, since no input holds chat completions")
    least = Level(arguments.level or Level.SHOULD).weight
    return int(any(counts["findings", level.value] for level in Level if level.weight >= least))


class _Formats:
    """The formats, by the files of the report folder; none is loaded but the one that is asked for."""

    def __contains__(self, name: str) -> bool:
        return name.isidentifier() and (_FOLDER / f"{name}.py").is_file() and hasattr(_format(name), "render_inputs")

    def __iter__(self) -> Iterator[str]:
        return iter(sorted([path.stem for path in _FOLDER.glob("[a-z]*.py") if path.stem in self]))


def _format(name: str) -> ModuleType:
    """Return the file of a format; one for other reports has no `render_inputs`."""
    return import_module(f"{renderers.__name__}.{name}")


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text!r}")
    return int(text)


def _watched(judged: Iterable[Judged], counts: Counts) -> Iterator[Mapping[str, Any]]:
    """Count the inputs on their way into the report, and tell what cannot be read as soon as it is met."""
    progress = Progress()
    try:
        for shown, met in judged:
            counts.update(met)
            progress.tell(f"{counts['inputs', '']} inputs judged, now {shown['path']}")
            for message in _complaints(shown):
                progress.clear()
                complain(message)
            yield shown
    finally:
        progress.clear()


def _complaints(shown: Mapping[str, Any]) -> Iterator[str]:
    if "error" in shown:
        yield shown["error"]
    for outcome in shown["outcomes"]:
        if outcome["status"] == "errored":
            yield f"{shown['path']}: rule {outcome['rule']} broke, which is this program's fault: {outcome['reason']}"
