"""The `conformance` command: finds the verb, parses its arguments and turns how it ends into an exit code.

The first line of a verb's module is its title. `configure(parser)` declares its arguments, and `run(arguments)` carries
it out and returns the exit code. Only the module of the requested verb is imported.
"""

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from conformance.errors import ConformanceError, UnknownName
from conformance.terminal import print_error

UNUSABLE: Final = 2
"""The exit code for a call or an input that is unusable; a verb returns 0 if all is clean and 1 for findings."""

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C: 128 plus the number of the signal, as in shells."""

OUTPUT_CLOSED: Final = 141
"""The exit code if the reader closed the output early: 128 plus the number of SIGPIPE."""

_GC_THRESHOLD: Final = 100_000
"""How many new objects start a garbage collection; most objects here are modules and rules, which stay alive."""

_MAX_WIDTH: Final = 120

_FOLDER: Final = Path(__file__).parent

_ABOUT: Final = """\
Check OpenAI-compatible chat completions: requests, replies, tool calls, reasoning and streams, of clients and \
providers."""

_CODES: Final = """\
exit codes:
  0    clean
  1    findings
  2    wrong usage or unusable input; standard error says why"""

_EXAMPLES: Final = """\
  conformance check request.json
  conformance check --provider deepseek recordings/*.jsonl.gz
  conformance COMMAND --help
  conformance --print-completion bash > ~/.local/share/bash-completion/completions/conformance"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process, and return its exit code.

    No mistake of a user ends in a traceback; the error is one line on standard error.
    """
    before = gc.get_threshold()
    gc.set_threshold(_GC_THRESHOLD)
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        # sys.stdout is None if the caller has closed it.
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return OUTPUT_CLOSED
    except OSError as error:
        _discard_output()
        return _unusable(f"{error.filename or 'the output'}: {error.strerror or error}")
    finally:
        gc.set_threshold(*before)
        if argv is None:
            # The process ends here; a last garbage collection would take a tenth of a short run.
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
    if name not in _verbs():
        raise UnknownName("command", name, _verbs())
    return import_module(f"{__package__}.{name.replace('-', '_')}")


def _verbs() -> list[str]:
    files = [path.name for path in _FOLDER.iterdir()]
    return sorted([name[:-3].replace("_", "-") for name in files if name.endswith(".py") and not name.startswith("_")])


class _Parser(argparse.ArgumentParser):
    """A parser whose help ends with examples and exit codes."""

    def __init__(self, name: str, about: str, examples: str) -> None:
        epilog = f"examples:\n{examples.rstrip()}\n\n{_CODES}" if examples else _CODES
        super().__init__(name, description=about, epilog=epilog, formatter_class=_Formatter, allow_abbrev=False)


class _Formatter(argparse.HelpFormatter):
    """Wraps paragraphs, but leaves lists and examples as they are."""

    def __init__(self, prog: str) -> None:
        # Without a width argparse imports shutil to find one, even if no help is shown.
        super().__init__(prog, width=_columns())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        paragraphs = text.strip("\n").split("\n\n")
        return "\n\n".join([each if "\n  " in each else fill(each, width, indent) for each in paragraphs])


def _columns() -> int:
    given = os.environ.get("COLUMNS", "")
    try:
        columns = int(given) if given.isdecimal() else os.get_terminal_size().columns
    except (OSError, ValueError):
        columns = 80
    return max(40, min(columns, _MAX_WIDTH) - 2)


def _top() -> argparse.ArgumentParser:
    """Return the parser of the command itself, whose help lists the verbs."""
    titles = {name: _title(name) for name in _verbs()}
    width = max(map(len, titles))
    shown = "\n".join(f"  {name:{width}}  {title}" for name, title in titles.items())
    parser = _Parser("conformance", f"{_ABOUT}\n\ncommands:\n{shown}", _EXAMPLES)
    parser.usage = "conformance [--help] [--version] [--print-completion SHELL] COMMAND …"
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.add_argument(
        "--print-completion",
        action=_Completion,
        choices=("bash", "zsh", "fish"),
        metavar="SHELL",
        help="print the completion script for a shell and exit: %(choices)s",
    )
    return parser


def _title(name: str) -> str:
    """Return the first line of a verb's docstring, read from the file because importing all verbs takes long."""
    with (_FOLDER / f"{name.replace('-', '_')}.py").open(encoding="utf-8") as file:
        return file.readline().strip().strip('"')


class _Version(argparse.Action):
    """Prints the version, which is looked up only now because that takes long."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("wire-conformance")
        except PackageNotFoundError:
            found = "(not installed)"
        print(f"conformance {found}")
        parser.exit()


class _Completion(argparse.Action):
    """Prints the completion script for a shell."""

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, __: Any = None) -> None:
        # Imported here because nothing else needs it.
        import shtab

        verbs = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=argparse.ArgumentParser)
        candidates = {metavar: list(names()) for metavar, names in _names_by_metavar().items()}
        paths = dict.fromkeys(("FILE", "PATH", "RESULTS", "OLD", "NEW"), shtab.FILE) | {"DIR": shtab.DIRECTORY}
        for name in _verbs():
            verb = verbs.add_parser(name, help=_title(name), description=_title(name))
            _load(name).configure(verb)
            for action in _arguments(verb):
                if action.metavar in candidates:
                    action.choices = candidates[action.metavar]
                elif action.metavar in paths:
                    action.complete = paths[action.metavar]
        print(shtab.complete(parser, shell))
        parser.exit()


def _arguments(parser: argparse.ArgumentParser) -> Iterator[Any]:
    """Yield the arguments of a parser and of its subparsers; shtab reads attributes that argparse does not declare."""
    for action in parser._actions:  # noqa: SLF001 — argparse has no public way to list them
        if isinstance(action.choices, Mapping):
            for below in action.choices.values():
                yield from _arguments(below)
        else:
            yield action


def _names_by_metavar() -> Mapping[str, Callable[[], Iterable[str]]]:
    """Return what lists the names that an argument with this metavar takes."""
    # Imported here because no other call of the command needs all of them.
    from conformance import engines, profiles, rules, scenarios
    from conformance.adapters import definition as adapters
    from conformance.adapters import loop
    from conformance.convert import dialects

    def rule_ids() -> list[str]:
        return [rule.id for rule in rules.load()]

    def probe_names() -> list[str]:
        every = [probe.name for each in map(scenarios.load, scenarios.names()) for probe in each.probes]
        return [*dict.fromkeys(every)]

    return {
        "ADAPTER": adapters.names,
        "ADAPTER[@VERSION]": adapters.names,
        "DIALECT": lambda: (dialects.CANONICAL, *dialects.names()),
        "ENGINE": engines.names,
        "NAME": lambda: (
            *(*rule_ids(), *(fact.id for fact in loop.load()), *profiles.vocabulary()),
            *(*probe_names(), *scenarios.names(), *profiles.names()),
        ),
        "PROVIDER": profiles.names,
        "RULE": rule_ids,
        "SCENARIO": scenarios.names,
    }


def _escape_what_the_terminal_cannot_show() -> None:
    """Print escapes instead of failing for characters that the encoding of the output lacks."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Redirect standard output to nowhere, because the interpreter flushes it again at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        return


def _unusable(message: str) -> int:
    print_error(message)
    return UNUSABLE
