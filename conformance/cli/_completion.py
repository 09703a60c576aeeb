"""The completion scripts for shells: they know the commands, the options, and the names that arguments take."""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import shtab

from conformance import engines, profiles, rules, scenarios
from conformance.adapters import definition as adapters
from conformance.adapters import loop
from conformance.cli import _registry
from conformance.cli._lists import LISTS
from conformance.convert import dialects

_FILES: Final = ("FILE", "PATH", "RESULTS", "OLD", "NEW")
_FOLDERS: Final = ("DIR",)
"""The metavars of arguments that take paths."""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for a shell, from the parser of the command itself."""
    candidates = {metavar: list(names()) for metavar, names in _names_by_metavar().items()}
    # All parsers, which is slow; elsewhere only that of the command at hand is made.
    for below in _add_commands(parser, ()):
        for action in _arguments(below):
            if action.metavar in candidates:
                # For the script alone: as choices, they would reject paths of own profiles.
                action.choices = candidates[action.metavar]
            elif action.metavar in _FOLDERS:
                action.complete = shtab.DIRECTORY
            elif action.metavar in _FILES:
                action.complete = shtab.FILE
    return shtab.complete(parser, shell)


def _add_commands(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[argparse.ArgumentParser]:
    """Add the commands below one to its parser, and yield their parsers."""
    names = _registry.actions(words) if words else _registry.verbs()
    if not names:
        return
    commands = parser.add_subparsers(metavar="ACTION" if words else "COMMAND", parser_class=argparse.ArgumentParser)
    for name in names:
        here = (*words, name)
        title = _registry.title(here)
        below = commands.add_parser(name, help=title, description=title)
        if (module := _registry.runnable(here)) is not None:
            module.configure(below)
        yield below
        yield from _add_commands(below, here)


def _arguments(parser: argparse.ArgumentParser) -> list[Any]:
    """Return the arguments of a parser that are not commands; shtab reads attributes that argparse does not declare."""
    return [each for each in parser._actions if not isinstance(each.choices, Mapping)]  # noqa: SLF001 — argparse has no public way to list them


def _names_by_metavar() -> Mapping[str, Callable[[], Iterable[str]]]:
    """Return what lists the names that an argument with this metavar takes."""

    def rule_ids() -> list[str]:
        return [rule.id for rule in rules.of_traffic()]

    def probe_names() -> list[str]:
        every = [probe.name for each in map(scenarios.load, scenarios.names()) for probe in each.probes]
        return [*dict.fromkeys(every)]

    return {
        "ADAPTER": adapters.names,
        "ADAPTER[@VERSION]": adapters.names,
        "DIALECT": lambda: (dialects.CANONICAL, *dialects.names()),
        "ENGINE": engines.names,
        "NAME": lambda: (
            *(*LISTS, *rule_ids(), *(fact.id for fact in loop.load()), *profiles.vocabulary()),
            *(*probe_names(), *scenarios.names(), *profiles.names()),
        ),
        "PROVIDER": profiles.names,
        "RULE": rule_ids,
        "SCENARIO": scenarios.names,
    }
