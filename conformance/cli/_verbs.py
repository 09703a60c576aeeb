"""Finds the command that the arguments name, parses its arguments and carries it out.

`configure(parser)` of a command's module declares its arguments, and `run(arguments)` carries it out and returns the
exit code. Of all commands, only the module of the requested one is imported.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Final

from conformance.cli import _overview, _registry
from conformance.errors import ConformanceError, UnknownName, Unusable
from conformance.terminal import print_error

UNUSABLE: Final = 2
"""The exit code for a call or an input that is unusable; a verb returns 0 if all is clean and 1 for findings."""

_MAX_NEAR: Final = 3
"""How many words that resemble an unknown command are suggested."""


def run(arguments: list[str]) -> int:
    """Run the command that the arguments name, and return its exit code; a ConformanceError is one line of stderr."""
    try:
        if arguments and not arguments[0].startswith("-"):
            return _run_command(*split(arguments))
        parser = _Top()
        parser.parse_args(arguments)
        parser.print_help(sys.stderr)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except ConformanceError as error:
        print_error(str(error))
    return UNUSABLE


def split(arguments: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the words of the command that the arguments begin with, and the other arguments; raises ConformanceError.

    What follows the name of a command with actions is an action unless it is an option.
    """
    words: tuple[str, ...] = (arguments[0],)
    rest = list(arguments[1:])
    if words[0] not in _registry.verbs():
        raise _unknown(words[0])
    while rest and not rest[0].startswith("-") and (known := _registry.actions(words)):
        if rest[0] not in known:
            raise UnknownName(f"{' '.join(words)} action", rest[0], known)
        words, rest = (*words, rest[0]), rest[1:]
    return words, rest


def parser_of(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a command; that of a command with actions lists them and takes only its own options."""
    about, name = import_module(_registry.module(words)), f"conformance {' '.join(words)}"
    doc, module = (about.__doc__ or "").rstrip(), _registry.runnable(words)
    has_actions = bool(_registry.actions(words))
    if has_actions:
        first, _, others = doc.partition("\n")
        doc = "\n\n".join(filter(None, (first, _overview.actions_text(words), others.strip("\n"))))
    kind = _Parser
    if getattr(module, "TAKES_COMMAND", False):
        kind = _WithCommand
    elif getattr(module, "OPTIONS_ANYWHERE", False):
        kind = _WithOptionsAnywhere
    parser = kind(name, doc, getattr(about, "EXAMPLES", ""))
    if module is not None:
        module.configure(parser)
    if has_actions:
        own = [parser.format_usage().removeprefix("usage: ").strip().replace("%", "%%")] if module is not None else []
        parser.usage = "\n       ".join([*own, f"{name} ACTION …"])
    return parser


def _run_command(words: Sequence[str], rest: Sequence[str]) -> int:
    module, parser = _registry.runnable(words), parser_of(words)
    chosen = parser.parse_args(rest)
    if module is None:
        parser.print_help(sys.stderr)
        return UNUSABLE
    code: int = module.run(chosen)
    return code


def _unknown(name: str) -> ConformanceError:
    """Return the error about a command that there is not, with what it may have meant, wherever that stands now."""
    below = _registry.groups().get(name)
    if below:
        return Unusable(f"{name!r} is a group of commands: {', '.join(below)}")
    named: dict[str, list[str]] = {}
    for words in _registry.commands():
        # A verb hides the actions of the same name.
        if len(words) == 1 or words[-1] not in _registry.verbs():
            named.setdefault(words[-1], []).append(" ".join(words))
    near = [part for part in dict.fromkeys([name, *name.split("-")]) if part in named] or _nearest(name, named)
    if not near:
        return UnknownName("command", name, _registry.verbs())
    found = [words for each in near for words in named[each]]
    return Unusable(f"unknown command {name!r}; did you mean {', '.join(found)}?")


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    # Imported here because only an error needs it.
    import difflib

    return difflib.get_close_matches(name, known, _MAX_NEAR)


class _Parser(argparse.ArgumentParser):
    """A parser whose help ends with examples and exit codes."""

    def __init__(self, name: str, about: str, examples: str) -> None:
        epilog = f"examples:\n{examples.rstrip()}\n\n{_overview.CODES}" if examples else _overview.CODES
        super().__init__(name, description=about, epilog=epilog, formatter_class=_Formatter, allow_abbrev=False)


class _WithOptionsAnywhere(_Parser):
    """The parser of a command with optional positional arguments, which argparse leaves empty if an option precedes."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the options, then what is left."""
        return self.parse_intermixed_args(args, namespace)


class _WithCommand(_Parser):
    """The parser of a command that takes the user's own command after `--`, which is not parsed."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments before the first `--`."""
        own = list(args or ())
        at = own.index("--") if "--" in own else len(own)
        parsed, unknown = super().parse_known_args(own[:at], namespace)
        parsed.command = own[at + 1 :]
        return parsed, unknown

    def format_usage(self) -> str:
        """Return the usage, which ends with the user's command."""
        return f"{super().format_usage().rstrip()} [-- COMMAND …]\n"

    def format_help(self) -> str:
        """Return the help with this usage."""
        return super().format_help().replace(super().format_usage(), self.format_usage(), 1)


class _Formatter(argparse.HelpFormatter):
    """Wraps paragraphs, but leaves lists and examples as they are."""

    def __init__(self, prog: str) -> None:
        # Without a width argparse imports shutil to find one, even if no help is shown.
        super().__init__(prog, width=_overview.columns())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        paragraphs = text.strip("\n").split("\n\n")
        return "\n\n".join([each if "\n  " in each else fill(each, width, indent) for each in paragraphs])


class _Top(argparse.ArgumentParser):
    """The parser of the command itself."""

    def __init__(self) -> None:
        super().__init__("conformance", usage=_overview.USAGE, formatter_class=_Formatter, allow_abbrev=False)
        self.add_argument("--version", action=_Version, nargs=0)
        self.add_argument(
            "--print-completion", action=_Completion, choices=_overview.SHELLS, metavar="SHELL", help="%(choices)s"
        )

    def format_help(self) -> str:
        """Return the help, which lists the verbs."""
        return _overview.help_text()


class _Version(argparse.Action):
    """Prints the version."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(_overview.version())
        parser.exit()


class _Completion(argparse.Action):
    """Prints the completion script for a shell."""

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, __: Any = None) -> None:
        # Imported here because nothing else needs it.
        from conformance.cli._completion import script

        print(script(parser, shell))
        parser.exit()
