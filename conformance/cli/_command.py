"""What the command does before and after a verb: finds it, reads its arguments, and makes an end into an exit code.

A verb's module says what it does in the first line of its docstring and what it takes in `configure(parser)`, and does
it in `run(arguments)`, which returns the exit code. Only the module of the verb that was asked for is loaded.
"""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from conformance.errors import ConformanceError, UnknownName
from conformance.terminal import complain

UNUSABLE: Final = 2
"""The exit code where the call or the input was unusable; a verb returns 0 where all is clean and 1 for findings."""

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C: 128 and the number of the signal, as shells have it."""

UNREAD: Final = 141
"""The exit code where nobody read the output to its end, as of a program that the signal for it has killed."""

_GARBAGE: Final = 100_000
"""How many new objects make the garbage collector look at them; most here are modules and rules, which stay."""

_WIDEST: Final = 120

_ABOUT: Final = """\
Judge OpenAI-compatible chat completions: requests, replies, tool calls, reasoning and streams, on either end."""

_CODES: Final = """\
exit codes:
  0    clean
  1    findings
  2    the call or the input was unusable; the message on standard error says why"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (by default the process's own) and return its exit code.

    Nothing that a user did ends in a traceback: what is wrong is told in one line on standard error.
    """
    before = gc.get_threshold()
    gc.set_threshold(_GARBAGE)
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        # There is no standard output where the caller has closed it.
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _let_go()
        return UNREAD
    except OSError as error:
        _let_go()
        return _unusable(f"{error.filename or 'the output'}: {error.strerror or error}")
    finally:
        gc.set_threshold(*before)
        if argv is None:
            # The process ends here; to search what is left for cycles would take a tenth of a short run.
            gc.freeze()
    return code


def _run(arguments: list[str]) -> int:
    try:
        if arguments and not arguments[0].startswith("-"):
            return _run_verb(arguments[0], arguments[1:])
        parser = _top()
        parser.parse_args(arguments)
        parser.print_help(sys.stderr)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except ConformanceError as error:
        return _unusable(str(error))
    return UNUSABLE


def _run_verb(name: str, arguments: list[str]) -> int:
    verb = _load(name)
    parser = _Parser(f"conformance {name}", (verb.__doc__ or "").rstrip(), getattr(verb, "EXAMPLES", ""))
    verb.configure(parser)
    chosen = parser.parse_args(arguments)
    _escape_what_the_terminal_cannot_show()
    code: int = verb.run(chosen)
    return code


def _load(name: str) -> ModuleType:
    module = name.replace("-", "_")
    if name not in _verbs():
        raise UnknownName("verb", name, _verbs())
    return import_module(f"{__package__}.{module}")


def _verbs() -> list[str]:
    files = [path.name for path in Path(__file__).parent.iterdir()]
    return sorted([name[:-3].replace("_", "-") for name in files if name.endswith(".py") and not name.startswith("_")])


class _Parser(argparse.ArgumentParser):
    """A parser whose help ends with examples and exit codes."""

    def __init__(self, name: str, about: str, examples: str) -> None:
        epilog = f"examples:\n{examples.rstrip()}\n\n{_CODES}" if examples else _CODES
        super().__init__(name, description=about, epilog=epilog, formatter_class=_Formatter, allow_abbrev=False)


class _Formatter(argparse.HelpFormatter):
    """Wraps paragraphs and leaves those alone that are lists or examples."""

    def __init__(self, prog: str) -> None:
        # Given its width, argparse need not import shutil to ask for it, which it does even where no help is shown.
        super().__init__(prog, width=_columns())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        paragraphs = text.strip("\n").split("\n\n")
        return "\n\n".join([each if "\n  " in each else fill(each, width, indent) for each in paragraphs])


def _columns() -> int:
    told = os.environ.get("COLUMNS", "")
    try:
        columns = int(told) if told.isdecimal() else os.get_terminal_size().columns
    except (OSError, ValueError):
        columns = 80
    return max(40, min(columns, _WIDEST) - 2)


class _Version(argparse.Action):
    """Prints the version; asked for only then, because it is looked up in the installed package's data."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("wire-conformance")
        except PackageNotFoundError:
            found = "(not installed)"
        print(f"conformance {found}")
        parser.exit()


def _top() -> argparse.ArgumentParser:
    """Return the parser of the command itself; the titles of all verbs are read, since its help is all it is for."""
    titles = {name: (_load(name).__doc__ or "").partition("\n")[0] for name in _verbs()}
    width = max(map(len, titles))
    shown = "\n".join(f"  {name:{width}}  {title}" for name, title in titles.items())
    examples = "  conformance check request.json\n  conformance check --provider deepseek recordings/*.jsonl.gz"
    parser = _Parser("conformance", f"{_ABOUT}\n\nverbs:\n{shown}", f"{examples}\n  conformance VERB --help")
    parser.usage = "conformance [--help] [--version] VERB …"
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    return parser


def _escape_what_the_terminal_cannot_show() -> None:
    """Keep a character that the output's encoding lacks from ending the run."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _let_go() -> None:
    """Point standard output at nothing, because the interpreter flushes it once more when it ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        return


def _unusable(message: str) -> int:
    complain(message)
    return UNUSABLE
