"""What the command says about itself: its help and its version.

Neither imports anything but the registry, so that both are there as soon as Python is.
"""

import os
import sys

from conformance.cli import _registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
  conformance explain
  conformance COMMAND --help
  conformance --print-completion bash > ~/.local/share/bash-completion/completions/conformance"""

_DISTRIBUTION = "wire_conformance-"
_SUFFIX = ".dist-info"
_MAX_WIDTH = 120
_COLUMN = 24
"""The column at which options are explained."""


def help_text() -> str:
    """Return the help of the command, which lists the verbs of each group with their titles."""
    widest = max(map(len, _registry.verbs()))
    groups = [
        "\n".join([f"{group}:", *_lines([(verb,) for verb in verbs], widest)])
        for group, verbs in _registry.groups().items()
    ]
    width = columns()
    about = "\n".join(_wrapped(_ABOUT, width))
    options = "\n".join([line for name, text in _OPTIONS.items() for line in _option(name, text, width)])
    parts = (f"usage: {USAGE}", about, *groups, f"options:\n{options}", _EXAMPLES, CODES)
    return "\n\n".join(parts) + "\n"


def actions_text(words: "Sequence[str]") -> str:
    """Return the list of a command's actions with their titles, as its help shows it."""
    names = _registry.actions(words)
    lines = _lines([(*words, name) for name in names], max(map(len, names)))
    return "\n".join(["actions:", *lines])


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


def columns() -> int:
    """Return how many columns help may take."""
    given = os.environ.get("COLUMNS", "")
    try:
        found = int(given) if given.isdecimal() else os.get_terminal_size().columns
    except (OSError, ValueError):
        found = 80
    return max(40, min(found, _MAX_WIDTH) - 2)


def _lines(commands: "Sequence[tuple[str, ...]]", widest: int) -> list[str]:
    return [f"  {words[-1]:{widest}}  {_registry.title(words)}" for words in commands]


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
