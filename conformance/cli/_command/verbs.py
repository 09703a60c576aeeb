"""The verbs of the command: finds one, parses its arguments and carries it out.

The first line of a verb's module is its title. `configure(parser)` declares its arguments, and `run(arguments)` carries
it out and returns the exit code. Only the module of the requested verb is imported.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Final, NoReturn

from conformance.cli._command import overview
from conformance.errors import ConformanceError, UnknownName
from conformance.terminal import print_error

UNUSABLE: Final = 2
"""The exit code for a call or an input that is unusable; a verb returns 0 if all is clean and 1 for findings."""

_PACKAGE: Final = "conformance.cli"


def run(arguments: list[str]) -> int:
    """Run the verb with these arguments, and return its exit code; a ConformanceError is one line of standard error."""
    try:
        if arguments and not arguments[0].startswith("-"):
            return _run_verb(arguments[0], arguments[1:])
        parser = _Top()
        parser.parse_args(arguments)
        parser.print_help(sys.stderr)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except ConformanceError as error:
        print_error(str(error))
    return UNUSABLE


def _run_verb(name: str, arguments: list[str]) -> int:
    verb = _load(name)
    parser = _Parser(f"conformance {name}", (verb.__doc__ or "").rstrip(), getattr(verb, "EXAMPLES", ""))
    verb.configure(parser)
    chosen = parser.parse_args(arguments)
    code: int = verb.run(chosen)
    return code


def _load(name: str) -> ModuleType:
    known = overview.verbs()
    if name not in known:
        raise UnknownName("command", name, known)
    return import_module(f"{_PACKAGE}.{name.replace('-', '_')}")


class _Parser(argparse.ArgumentParser):
    """A parser whose help ends with examples and exit codes."""

    def __init__(self, name: str, about: str, examples: str) -> None:
        epilog = f"examples:\n{examples.rstrip()}\n\n{overview.CODES}" if examples else overview.CODES
        super().__init__(name, description=about, epilog=epilog, formatter_class=_Formatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Print the error and exit; if an action is missing, name those that there are."""
        if message.endswith("required: ACTION"):
            choices = [each.choices for each in self._actions if each.metavar == "ACTION"]
            message = f"{message}, one of {', '.join(choices[0] or ())}"
        super().error(message)


class _Formatter(argparse.HelpFormatter):
    """Wraps paragraphs, but leaves lists and examples as they are."""

    def __init__(self, prog: str) -> None:
        # Without a width argparse imports shutil to find one, even if no help is shown.
        super().__init__(prog, width=overview.columns())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        paragraphs = text.strip("\n").split("\n\n")
        return "\n\n".join([each if "\n  " in each else fill(each, width, indent) for each in paragraphs])


class _Top(argparse.ArgumentParser):
    """The parser of the command itself."""

    def __init__(self) -> None:
        super().__init__("conformance", usage=overview.USAGE, formatter_class=_Formatter, allow_abbrev=False)
        self.add_argument("--version", action=_Version, nargs=0)
        self.add_argument(
            "--print-completion", action=_Completion, choices=overview.SHELLS, metavar="SHELL", help="%(choices)s"
        )

    def format_help(self) -> str:
        """Return the help, which lists the verbs."""
        return overview.help_text()


class _Version(argparse.Action):
    """Prints the version."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(overview.version())
        parser.exit()


class _Completion(argparse.Action):
    """Prints the completion script for a shell."""

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, __: Any = None) -> None:
        # Imported here because nothing else needs it.
        import shtab

        verbs = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=argparse.ArgumentParser)
        candidates = {metavar: list(names()) for metavar, names in _names_by_metavar().items()}
        paths = dict.fromkeys(("FILE", "PATH", "RESULTS", "OLD", "NEW"), shtab.FILE) | {"DIR": shtab.DIRECTORY}
        for name in overview.verbs():
            verb = verbs.add_parser(name, help=overview.title(name), description=overview.title(name))
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
