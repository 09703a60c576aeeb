"""The page of the commands, from the parsers that read their arguments."""

import argparse
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from conformance.cli import _registry, _verbs
from conformance.reporting.text import markdown_table

_INTRODUCTION = """\
# Commands

`conformance --help` lists the commands, and `conformance COMMAND --help` prints the same text as this page.
Every command exits with one of these codes:

| exit code | meaning |
| --- | --- |
| 0 | clean |
| 1 | findings |
| 2 | wrong usage or unusable input; standard error says why |

`conformance --version` prints the version, and `conformance --print-completion bash` (or `zsh`, `fish`) prints a script
that completes commands, options and names in your shell.
"""


def page() -> str:
    """Return the page: a part for each group, and in it a section for each command and each action."""
    lines = [_INTRODUCTION]
    for group, verbs in _registry.groups().items():
        lines += [f"## {group.capitalize()}", ""]
        for verb in verbs:
            lines += [line for words in _registry.commands() if words[0] == verb for line in _command(words)]
    return "\n".join(lines) + "\n"


def _command(words: tuple[str, ...]) -> Iterator[str]:
    module, parser = import_module(_registry.module(words)), _verbs.parser_of(words)
    yield from (f"{'#' * (len(words) + 2)} conformance {' '.join(words)}", "")
    yield from _description(module)
    parser.formatter_class = _Narrow
    yield from _parser(parser)
    yield from _actions(words)
    if getattr(module, "EXAMPLES", ""):
        yield from ("Examples:", "", "```sh", *_unindented(module.EXAMPLES), "```", "")


def _actions(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the actions of a command, each with its title."""
    rows = [(f"`{name}`", _escaped(_registry.title((*words, name)))) for name in _registry.actions(words)]
    if rows:
        yield from (markdown_table(("action", "meaning"), rows), "")


def _description(module: ModuleType) -> Iterator[str]:
    """Yield the docstring; what is aligned in it keeps its form."""
    for paragraph in (module.__doc__ or "").strip().split("\n\n"):
        yield from (("```text", paragraph, "```") if "\n  " in paragraph else (paragraph,))
        yield ""


def _parser(parser: argparse.ArgumentParser) -> Iterator[str]:
    usage = parser.format_usage().rstrip().splitlines()
    yield from ("```text", *[line[len("usage: ") :] for line in usage], "```", "")
    rows = [(_names_of(action), _help(parser, action)) for action in _arguments(parser)]
    if rows:
        yield from (markdown_table(("argument", "meaning"), rows), "")


def _arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a parser without `--help`; argparse has no public way to list them."""
    return [each for each in parser._actions if not isinstance(each, argparse._HelpAction)]  # noqa: SLF001


def _names_of(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return f"`{value}`"
    return ", ".join([f"`{option} {value}`" if value else f"`{option}`" for option in action.option_strings])


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None:
        return " or ".join(map(str, action.choices))
    return action.dest.upper() if action.option_strings else action.dest


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    values: dict[str, Any] = {**vars(action), "prog": parser.prog}
    if action.choices is not None:
        values["choices"] = ", ".join(map(str, action.choices))
    if action.dest == "jobs":
        values["default"] = "one per CPU"
    return _escaped((action.help or "") % values)


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*")


def _unindented(text: str) -> list[str]:
    return [line.removeprefix("  ") for line in text.splitlines()]


class _Narrow(argparse.HelpFormatter):
    """Wraps usage to a width that fits a page."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=88)
