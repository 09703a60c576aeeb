"""What the command says about itself: its help and its version.

Neither imports anything, so that both are there as soon as Python is.
"""

import os
import sys

USAGE = "conformance [--help] [--version] [--print-completion SHELL] COMMAND …"
SHELLS = ("bash", "zsh", "fish")

CODES = """\
exit codes:
  0    clean
  1    findings
  2    wrong usage or unusable input; standard error says why"""

_ABOUT = """\
Check OpenAI-compatible chat completions: requests, replies, tool calls, reasoning and streams, of clients and \
providers."""

_OPTIONS = {
    "-h, --help": "show this help message and exit",
    "--version": "print the version and exit",
    "--print-completion SHELL": f"print the completion script for a shell and exit: {', '.join(SHELLS)}",
}

_EXAMPLES = """\
examples:
  conformance check request.json
  conformance check --provider deepseek recordings/*.jsonl.gz
  conformance COMMAND --help
  conformance --print-completion bash > ~/.local/share/bash-completion/completions/conformance"""

_FOLDER = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 — pathlib takes longer to import than the help to print
_DISTRIBUTION = "wire_conformance-"
_SUFFIX = ".dist-info"
_MAX_WIDTH = 120
_COLUMN = 24
"""The column at which options are explained."""


def help_text() -> str:
    """Return the help of the command, which lists the verbs with their titles."""
    titles = {name: title(name) for name in verbs()}
    widest = max(map(len, titles))
    commands = "\n".join([f"  {name:{widest}}  {titles[name]}" for name in titles])
    width = columns()
    about = "\n".join(_wrapped(_ABOUT, width))
    options = "\n".join([line for name, text in _OPTIONS.items() for line in _option(name, text, width)])
    parts = (f"usage: {USAGE}", about, f"commands:\n{commands}", f"options:\n{options}", _EXAMPLES, CODES)
    return "\n\n".join(parts) + "\n"


def version() -> str:
    """Return the line with the version of the installed distribution, which the name of its folder of metadata has."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208
        except OSError:
            continue
        for name in names:
            if name.startswith(_DISTRIBUTION) and name.endswith(_SUFFIX):
                return f"conformance {name[len(_DISTRIBUTION) : -len(_SUFFIX)]}"
    return "conformance (not installed)"


def verbs() -> list[str]:
    """Return the names of the verbs, in order."""
    names = [name for name in os.listdir(_FOLDER) if name.endswith(".py") and not name.startswith("_")]  # noqa: PTH208
    return sorted([name[:-3].replace("_", "-") for name in names])


def title(name: str) -> str:
    """Return the first line of a verb's docstring, read from the file because importing all verbs takes long."""
    with open(f"{_FOLDER}/{name.replace('-', '_')}.py", encoding="utf-8") as file:  # noqa: PTH123
        return file.readline().strip().strip('"')


def columns() -> int:
    """Return how many columns help may take."""
    given = os.environ.get("COLUMNS", "")
    try:
        found = int(given) if given.isdecimal() else os.get_terminal_size().columns
    except (OSError, ValueError):
        found = 80
    return max(40, min(found, _MAX_WIDTH) - 2)


def _option(name: str, text: str, width: int) -> list[str]:
    begin = f"  {name}".ljust(_COLUMN)
    first, *rest = _wrapped(text, width - _COLUMN)
    lines = [begin + first] if begin.endswith(" ") and len(begin) == _COLUMN else [begin, " " * _COLUMN + first]
    return [*lines, *[" " * _COLUMN + line for line in rest]]


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        line = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(line) > width:
            lines.append(word)
        else:
            lines[-1] = line
    return lines
