"""The page of the commands, from the parsers that read their arguments."""

import argparse
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from conformance import cli
from conformance.reporting.text import markdown_table

_INTRODUCTION = """\
# Commands

`conformance COMMAND --help` prints the same text. Every command exits with one of these codes:

| exit code | meaning |
| --- | --- |
| 0 | clean |
| 1 | findings |
| 2 | wrong usage or unusable input; standard error says why |

`conformance --version` prints the version, and `conformance --print-completion bash` (or `zsh`, `fish`) prints a script
that completes commands, options and names in your shell.
"""


def page() -> str:
    """Return the page: a section for each command."""
    sections = [line for name in _names() for line in _command(name)]
    return "\n".join([_INTRODUCTION, *sections]) + "\n"


def _names() -> list[str]:
    files = [path.stem for path in Path(next(iter(cli.__path__))).glob("*.py")]
    return sorted([name.replace("_", "-") for name in files if not name.startswith("_")])


def _command(name: str) -> Iterator[str]:
    module = import_module(f"conformance.cli.{name.replace('-', '_')}")
    parser = argparse.ArgumentParser(f"conformance {name}", formatter_class=_Narrow)
    module.configure(parser)
    yield from (f"## conformance {name}", "")
    yield from _description(module)
    yield from _parser(parser)
    for action, below in _actions(parser).items():
        yield from (f"### conformance {name} {action}", "", _sentence(below.description or ""), "")
        yield from _parser(below)
    if getattr(module, "EXAMPLES", ""):
        yield from ("Examples:", "", "```sh", *_unindented(module.EXAMPLES), "```", "")


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
    hidden = (argparse._HelpAction, argparse._SubParsersAction)  # noqa: SLF001
    return [action for action in parser._actions if not isinstance(action, hidden)]  # noqa: SLF001


def _actions(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            below: Mapping[str, argparse.ArgumentParser] = action.choices
            return below
    return {}


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
    if action.dest == "jobs":
        values["default"] = "one per CPU"
    return _escaped((action.help or "") % values)


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*")


def _sentence(text: str) -> str:
    text = text.strip()
    return text and f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _unindented(text: str) -> list[str]:
    return [line.removeprefix("  ") for line in text.splitlines()]


class _Narrow(argparse.HelpFormatter):
    """Wraps usage to a width that fits a page."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=88)
