"""Check files that hold chat completions: bodies, exchanges, streams, cassettes, recordings.

PATH is a file, a folder, or - for standard input. In a folder, files are chosen by their suffixes: .json, .jsonl,
.ndjson, .har, .yaml, .yml, .sse, .log, .httprr, .parquet, .flow and .db, each also with .gz, .zst or .br.

The content of a file decides what it is: a request body, a bare list of messages, a reply body, an exchange (an object
with "request" and "response"), a list of exchanges (a session), JSON Lines of these (consecutive lines with the same
"session" are one conversation), a Parquet file of exchanges, the raw text of an event stream, a VCR cassette, a HAR
file or an httprr trace. It also reads the output of curl -i and -v, flows of mitmproxy, OpenAI Batch files, and what
LiteLLM, OpenTelemetry (spans and log records), OpenInference, Langfuse, LangSmith, Helicone, MLflow, the AI SDK,
WireMock and nock write, and text logs: debug logs of the SDKs of OpenAI and Anthropic and of httpx, and exceptions in
logs of any program. A note says what such a log lacks. --map reads JSON Lines of any other form. It reads the sessions
that Claude Code, Codex, opencode, Gemini CLI, Qwen Code, Cline, Roo Code, Kilo Code, Goose, pi and Zed leave on disk;
`conformance doctor` finds them.

A finding reads "path:line: rule LEVEL (side) at pointer: message"; the side is client or provider. The JSON Pointer
starts at the conversation: /0 is its first exchange, which has request, response, status and headers. `conformance
explain RULE` explains a rule and how to fix what it reports. What stops an agent's loop comes first, then what loses
content, then form; equal findings are one line with their number. With a provider, departures that its claims describe
are only counted.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from conformance.arguments import add_outputs, day, positive
from conformance.errors import Unusable
from conformance.files import AUTO, NONE, CheckedInput, Counts, Task, check_paths, summary, time_spent
from conformance.reporting import renderers
from conformance.reporting.text import Paint
from conformance.results import Level, Status
from conformance.terminal import ProgressLine, painter, print_error

if TYPE_CHECKING:
    from conformance.files.shown import ReportCleaner

EXAMPLES: Final = """\
  conformance check request.json                                   # the provider is recognised
  conformance check --provider deepseek traffic.jsonl.gz           # does this work with DeepSeek?
  conformance check --provider none request.json                   # is it portable?
  conformance check --everywhere request.json                      # where does it break?
  conformance check --provider openai --as-of today recordings/    # would these requests still work?
  conformance check --format json cassettes/ > report.json
  conformance check --format sarif fixtures/ > conformance.sarif   # for code scanning
  conformance check --format github --output sarif=check.sarif --output junit=check.xml fixtures/   # one run
  conformance check --map request=payload,response=result,session=trace_id calls.jsonl
  conformance check --fix --provider deepseek session.jsonl -o fixed.jsonl   # correct the requests
  conformance check --timings --jobs auto traffic.jsonl > report.txt   # where does the time go?
  curl -sN … | conformance check --rule 'stream/*' -"""

_PROVIDER: Final = """\
check against this provider's claims, too: a name, an alias, a title, or a model at a host (default: auto, which \
recognises the provider; none: check the canonical wire alone)"""
_EVERYWHERE: Final = "say what every known provider does with the requests, the worst first"
_AS_OF: Final = """\
check by the claims of this day, YYYY-MM-DD or today (default: the day of each exchange; without one, the last day on \
which the provider's sources were read)"""
_LEVEL: Final = """\
the lowest level to show and to return exit code 1 for (default: show all levels, return 1 for MUST and SHOULD)"""
_MAP: Final = """\
read lines of any form by the places of their parts, such as request=payload,response=result.body,session=trace_id; \
parts: request, response, session, messages, tools, model, status, error, url, provider, headers, date"""
_FIX: Final = """\
print how to change the requests so that their findings disappear, as a diff; nothing that they say gets lost, and \
no input is changed"""
_FIXED: Final = "with --fix, write the inputs with corrected requests to this file, as JSON Lines"
_TIMINGS: Final = """\
say on standard error where the time went: MB/s, the share of each stage, and the ten rules that take the longest; as \
JSON with --format json or jsonl"""
_LEAST_SECONDS: Final = 0.001
_JSON_FORMATS: Final = ("json", "jsonl")
_FOLDER: Final = Path(renderers.__path__[0])


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="a file, a folder, or - for standard input")
    add("--provider", default=AUTO, metavar="PROVIDER", help=_PROVIDER)
    add("--everywhere", action="store_true", help=_EVERYWHERE)
    add("--as-of", type=day, metavar="DATE", help=_AS_OF)
    add("--rule", action="append", default=[], metavar="RULE", help="check only rules that match this glob; repeatable")
    add("--format", choices=_Formats(), default="console", metavar="F", help="one of %(choices)s (default: console)")
    add_outputs(parser, _Formats())
    add("--fix", action="store_true", help=_FIX)
    add("-o", "--fixed", type=Path, metavar="FILE", help=_FIXED)
    add("--level", type=str.upper, choices=[level.value for level in Level], help=_LEVEL)
    add("--known", action="store_true", help="also show departures that the provider's claims describe")
    add("--all", action="store_true", help="also show rules that passed or did not apply")
    add("--map", default="", metavar="PART=PLACE,…", help=_MAP)
    add("--timings", action="store_true", help=_TIMINGS)
    add("--jobs", type=_jobs, default=1, metavar="N", help="number of processes; auto: one per CPU (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    """Check the paths and print the report; return 2 if an input or a rule could not be used, 1 for findings."""
    names = [arguments.format, *[name for name, _ in arguments.output]]
    # A format declares in its own file whether it needs more than the findings.
    every, lines, fixes = (
        any(getattr(_format(name), needed, False) for name in names) for needed in ("EVERY", "LINES", "FIXES")
    )
    if arguments.fixed and not arguments.fix:
        raise Unusable("--fixed needs --fix: it is where the corrected requests go")
    provider = "" if arguments.provider == NONE else arguments.provider
    if arguments.everywhere:
        # Imported here because it loads every profile.
        from conformance.cli import _everywhere

        return _everywhere.run(arguments, provider.replace(AUTO, ""))
    if arguments.as_of and not provider:
        raise Unusable("--as-of needs a provider: only the claims of a provider have dates")
    level = Level(arguments.level or Level.MAY)
    task = Task(
        provider, tuple(arguments.rule), level, arguments.all or every, lines, arguments.as_of or "",
        arguments.known, arguments.map, fixes, arguments.fix, arguments.timings,
    )  # fmt: skip
    counts: Counts = Counter()
    judged: set[str] = set()
    paint = painter()
    render = partial(_rendered, names, paint, arguments.all, task, _Cleaning())
    with ExitStack() as stack:
        spools = [stack.enter_context(_spool()) for _ in arguments.output]
        fixed = stack.enter_context(_spool()) if arguments.fixed else None
        parts = _counted(check_paths(arguments.paths, task, render, arguments.jobs), counts, judged, spools, fixed)
        for text in _format(arguments.format).render_inputs(parts, lambda: summary(counts, judged, task), paint):
            # Input from a pipe may arrive slowly, and is reported as it arrives.
            print(text, end="", flush="-" in arguments.paths)
        for (name, path), spool in zip(arguments.output, spools, strict=True):
            spool.seek(0)
            texts = _format(name).render_inputs(_loaded(spool), lambda: summary(counts, judged, task), _plain)
            _write(path, texts)
        if fixed is not None:
            fixed.seek(0)
            _write_lines(arguments.fixed, fixed)
    if arguments.timings:
        # Imported here because most runs measure nothing.
        from conformance.cli import _timings

        _timings.show(time_spent(counts, task), as_json=arguments.format in _JSON_FORMATS)
    if counts["unreadable", ""] or counts["errored", ""]:
        return 2
    if not counts["exchanges", ""]:
        raise Unusable("nothing was checked: no input holds chat completions")
    least = Level(arguments.level or Level.SHOULD).severity
    return int(any(counts["findings", level.value] for level in Level if level.severity >= least))


def _jobs(text: str) -> int:
    """Return a number of processes; `auto` is the number of CPUs that this process may use."""
    if text != "auto":
        return positive(text)
    # A container may allow fewer CPUs than the machine has; macOS and Windows cannot say.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Formats:
    """The names of the formats; only the renderer of the requested one is imported."""

    def __contains__(self, name: object) -> bool:
        # isidentifier first: a name is a part of a path here, and must not leave the folder.
        return (
            isinstance(name, str)
            and name.isidentifier()
            and (_FOLDER / f"{name}.py").is_file()
            and hasattr(_format(name), "render_inputs")
        )

    def __iter__(self) -> Iterator[str]:
        return iter(sorted([path.stem for path in _FOLDER.glob("[a-z]*.py") if path.stem in self]))


def _format(name: str) -> ModuleType:
    """Return the renderer of a format; renderers of other reports have no `render_inputs`."""
    return import_module(f"{renderers.__name__}.{name}")


class _Rendered(NamedTuple):
    """Some checked inputs: what their report consists of, their counts, errors and rules, and the path of the last one.

    `parts`: those of each format. `judged`: the ids of the rules that found something to judge. `corrected`: the inputs
    with corrected requests, as lines of JSON.
    """

    parts: list[list[Any]]
    counts: Counts
    judged: set[str]
    errors: list[str]
    path: str
    corrected: list[bytes]


def _plain(_colour: str, text: str) -> str:
    """Return a text without colour, for files."""
    return text


def _spool() -> IO[bytes]:
    """Return a file for the parts of a report that wait, since a second report may be larger than the memory."""
    # Imported here, as below, because only a run with --output needs them.
    from tempfile import TemporaryFile

    return TemporaryFile()


def _write(path: Path, texts: Iterable[str]) -> None:
    from conformance import artifacts

    artifacts.write(path, (text.encode() for text in texts))


def _write_lines(path: Path, lines: IO[bytes]) -> None:
    from conformance import artifacts

    artifacts.write(path, lines)


def _loaded(spool: IO[bytes]) -> Iterator[Any]:
    """Yield the parts of a report that wait in a file."""
    import pickle

    while True:
        try:
            yield pickle.load(spool)  # noqa: S301 — this process wrote the file
        except EOFError:
            return


def _shown(report: Mapping[str, Any], name: str, *, show_all: bool) -> Mapping[str, Any]:
    """Return a report as one format shows it: only another one may need the rules that found nothing."""
    if show_all or getattr(_format(name), "EVERY", False):
        return report
    kept = [
        each for each in report["outcomes"] if each["findings"] or each["status"] == Status.ERRORED or each.get("known")
    ]
    return {**report, "outcomes": kept}


class _Cleaning:
    """Returns reports as they may be printed; those without findings, errors and notes quote nothing."""

    def __init__(self) -> None:
        self._cleaner: ReportCleaner | None = None

    def __reduce__(self) -> tuple[type["_Cleaning"], tuple[()]]:
        # Another process looks for secrets itself.
        return _Cleaning, ()

    def __call__(self, reports: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
        if not any([each["outcomes"] or "error" in each or "notes" in each for each in reports]):
            return reports
        if self._cleaner is None:
            # Imported here because most inputs have no findings.
            from conformance.files.shown import ReportCleaner

            self._cleaner = ReportCleaner()
        return self._cleaner.clean(reports)


def _rendered(
    names: Sequence[str],
    paint: Paint,
    show_all: bool,  # noqa: FBT001 — partial() fills it
    task: Task,
    cleaning: _Cleaning,
    checked: Sequence[CheckedInput],
) -> _Rendered:
    """Render checked inputs in the process that checked them, so that another one only has to write."""
    began = time.thread_time_ns() if task.timings else 0
    # Only the report on the terminal is painted.
    ways = [(name, _plain if number else paint) for number, name in enumerate(names)]
    counts = Counts()
    for each in checked:
        counts.update(each.counts)
    judged = set(chain.from_iterable([each.judged for each in checked]))
    reports = cleaning([each.report for each in checked])
    errors = [message for each in reports for message in _errors(each)]
    path = reports[-1]["path"] if checked else ""
    parts = [
        [_format(name).part(_shown(each, name, show_all=show_all), colours) for each in reports]
        for name, colours in ways
    ]
    corrected = list(chain.from_iterable([each.corrected for each in checked]))
    if task.timings:
        counts["nanoseconds", "report"] += time.thread_time_ns() - began
    return _Rendered(parts, counts, judged, errors, path, corrected)


def _keep(parts: Sequence[Any], spool: IO[bytes]) -> None:
    import pickle

    for part in parts:
        pickle.dump(part, spool)


def _counted(
    rendered: Iterable[_Rendered],
    counts: Counts,
    judged: set[str],
    spools: Sequence[IO[bytes]],
    fixed: IO[bytes] | None,
) -> Iterator[Any]:
    """Yield the parts of the first report, and put those of the others into files.

    Add up the counts and the rules, and print errors as soon as they occur.
    """
    progress = ProgressLine()
    began = time.monotonic()
    try:
        for each in rendered:
            counts.update(each.counts)
            judged |= each.judged
            inputs = counts["inputs", ""]
            # The first input may come within one tick of the clock.
            rate = inputs / max(time.monotonic() - began, _LEAST_SECONDS)
            progress.show(f"{inputs} inputs checked, {rate:.0f} per second, now {each.path}")
            for message in each.errors:
                progress.clear()
                print_error(message)
            first, *others = each.parts
            for parts, spool in zip(others, spools, strict=True):
                _keep(parts, spool)
            if fixed is not None:
                fixed.writelines(line + b"\n" for line in each.corrected)
            yield from first
    finally:
        progress.clear()


def _errors(report: Mapping[str, Any]) -> Iterator[str]:
    if "error" in report:
        yield report["error"]
    for outcome in report["outcomes"]:
        if outcome["status"] == "errored":
            yield f"{report['path']}: rule {outcome['rule']} raised {outcome['reason']}; this is a bug in conformance"
