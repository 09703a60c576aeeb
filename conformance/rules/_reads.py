"""Which claims a rule's code goes by: the names that it spells out, and those that it composes."""

import ast
import inspect
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, Final

_PACKAGE: Final = __name__.rpartition(".")[0]
_BEHIND: Final = {"thinks": ("thinking.mode", "thinking.switches")}
"""Claims behind questions to the context that name none."""


@cache
def spelled(functions: tuple[Callable[..., Any] | None, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the claims among the known ones that functions of this package name, with all that they call here.

    A name may be spelled out, stand in a constant of the module, or be put together in an f-string.
    """
    patterns = {
        pattern
        for function in _reachable([each for each in functions if isinstance(each, FunctionType)])
        for pattern in _patterns(function)
    }
    composed = [pattern for pattern in patterns if "*" in pattern]
    return tuple([name for name in known if name in patterns or any(fnmatchcase(name, each) for each in composed)])


def _reachable(functions: list[FunctionType]) -> list[FunctionType]:
    found: dict[int, FunctionType] = {}
    while functions:
        function = functions.pop()
        if id(function) not in found:
            found[id(function)] = function
            functions += [each for each in _globals(function) if isinstance(each, FunctionType) and _is_ours(each)]
    return list(found.values())


def _is_ours(function: FunctionType) -> bool:
    return function.__module__.startswith(_PACKAGE)


def _globals(function: FunctionType) -> Iterator[Any]:
    """Yield what a function refers to in its module, and in the modules that it refers to."""
    names = _names(function)
    for name in names:
        value = function.__globals__.get(name)
        yield value
        if isinstance(value, ModuleType) and value.__name__.startswith(_PACKAGE):
            yield from (getattr(value, each, None) for each in names)


def _names(function: FunctionType) -> set[str]:
    codes = [function.__code__]
    found: set[str] = set()
    while codes:
        code = codes.pop()
        found.update(code.co_names)
        codes += [each for each in code.co_consts if inspect.iscode(each)]
    return found


def _patterns(function: FunctionType) -> Iterator[str]:
    for question in _names(function) & _BEHIND.keys():
        yield from _BEHIND[question]
    for value in _globals(function):
        yield from _strings(value)
    for node in _body(function):
        for each in ast.walk(node):
            if isinstance(each, ast.JoinedStr):
                pieces = [str(part.value) if isinstance(part, ast.Constant) else "*" for part in each.values]
                if any("." in piece for piece in pieces):
                    yield "".join(pieces)
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value


def _body(function: FunctionType) -> list[ast.AST]:
    """Return the syntax of a function without its decorators; the source of a lambda is found by its first line."""
    tree = ast.parse(inspect.getsource(inspect.getmodule(function) or function))
    line = function.__code__.co_firstlineno
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and function.__name__ == "<lambda>" and node.lineno == line:
            return [node.body]
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            return list(node.body)
    return []


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _strings(key)
            yield from _strings(each)
    elif isinstance(value, (list, tuple, frozenset)):
        for each in value:
            yield from _strings(each)
