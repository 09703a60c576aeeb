"""The registry of commands, which is the folders here: `<group>/<verb>.py`, or `<group>/<verb>/<action>.py`.

A command is named by its words, such as `("provider", "record")`. The first line of a module's docstring is its title;
that of a folder is in its `__init__.py`. Names that begin with an underscore are private. Nothing else is imported, so
that the help is there as soon as Python is.
"""

import os

# Not from `typing`, which takes longer to import than the help to print; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

_FOLDER = os.path.dirname(__file__)  # noqa: PTH120 — pathlib takes longer to import than the help to print
_ALONE = "_alone"
"""The module in the folder of a verb that carries it out if no action is named."""

_GROUPS = ("traffic", "clients", "providers", "results")
"""The order of the groups in the help; any other folder follows."""


def groups() -> "Mapping[str, list[str]]":
    """Return the verbs of each group, in order."""
    found = _names(_FOLDER)
    ordered = sorted(found, key=lambda name: (_GROUPS.index(name) if name in _GROUPS else len(_GROUPS), name))
    return {name: _names(f"{_FOLDER}/{name}") for name in ordered}


def verbs() -> list[str]:
    """Return the verbs of all groups."""
    return [verb for below in groups().values() for verb in below]


def actions(words: "Sequence[str]") -> list[str]:
    """Return the actions of a command, in order; none if it is a module."""
    return _names(_path(words))


def commands() -> "Iterator[tuple[str, ...]]":
    """Yield every command, each before its actions."""
    for verb in verbs():
        yield from _with_actions((verb,))


def title(words: "Sequence[str]") -> str:
    """Return the title of a command, read from the file because importing all commands takes long."""
    path = _path(words)
    # The first line is enough: titles are one line.
    with open(f"{path}/__init__.py" if _is_folder(path) else f"{path}.py", encoding="utf-8") as file:  # noqa: PTH123
        return file.readline().strip().strip('"')


def module(words: "Sequence[str]") -> str:
    """Return the name of the module or package of a command."""
    below = _path(words)[len(_FOLDER) :].replace("/", ".")
    return f"{__package__}{below}"


def runnable(words: "Sequence[str]") -> "ModuleType | None":
    """Return the module that carries a command out; None for one that needs an action."""
    # Imported here because help needs no command.
    from importlib import import_module

    path, name = _path(words), module(words)
    if not _is_folder(path):
        return import_module(name)
    return import_module(f"{name}.{_ALONE}") if os.path.isfile(f"{path}/{_ALONE}.py") else None  # noqa: PTH113


def _with_actions(words: tuple[str, ...]) -> "Iterator[tuple[str, ...]]":
    yield words
    for name in actions(words):
        yield from _with_actions((*words, name))


def _path(words: "Sequence[str]") -> str:
    """Return the path of a command's folder, or of its file without the suffix."""
    group = next(name for name, below in groups().items() if words[0] in below)
    return "/".join([_FOLDER, group, *[word.replace("-", "_") for word in words]])


def _is_folder(path: str) -> bool:
    # Python leaves the folder of compiled files behind where a package was removed.
    return os.path.isfile(f"{path}/__init__.py")  # noqa: PTH113


def _names(folder: str) -> list[str]:
    if not _is_folder(folder):
        return []
    public = [name for name in os.listdir(folder) if name[0] not in "._"]  # noqa: PTH208
    stems = [name.removesuffix(".py") for name in public if name.endswith(".py") or _is_folder(f"{folder}/{name}")]
    return sorted([stem.replace("_", "-") for stem in stems])
