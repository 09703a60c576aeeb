"""Where a change stands: the function, class or constant that holds it, and the lines that show whether it matters."""

import ast
from collections.abc import Iterator
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Holder: TypeAlias = Function | ast.ClassDef | ast.Assign | ast.AnnAssign


class Places:
    """The places of a module."""

    def __init__(self, source: bytes) -> None:
        self._tree = ast.parse(source)

    def holder(self, line: int) -> str:
        """Return the dotted name of what holds a line, such as `Class.method` or `CONSTANT`; empty if nothing does."""
        return ".".join([_name(each) for each in self._around(line)])

    def runs_at_import(self, line: int) -> bool:
        """Return whether a line runs once, when the module is imported, rather than in a function."""
        function = self._function(line)
        return function is None or line < function.body[0].lineno

    def lines(self, line: int, end: int) -> Iterator[set[int]]:
        """Yield the lines that show whether a test runs what stands in some lines, the surest first."""
        function, around = self._function(line), self._around(line)
        if function is not None and not self.runs_at_import(line):
            yield set(range(line, end + 1))
            yield _statement(function, line)
        elif function is not None:  # Decorators and defaults matter when the function runs.
            yield set(range(function.body[0].lineno, _last(function) + 1))
        elif around:
            yield self._uses(_name(around[0]))

    def _uses(self, name: str) -> set[int]:
        return {node.lineno for node in ast.walk(self._tree) if isinstance(node, ast.Name) and name == node.id}

    def _function(self, line: int) -> Function | None:
        return next((each for each in reversed(self._around(line)) if isinstance(each, Function)), None)

    def _around(self, line: int) -> list[Holder]:
        """Return what holds a line, the outermost first."""
        found: list[Holder] = []
        body: list[ast.stmt] = self._tree.body
        while body:
            held = next((each for each in body if _first(each) <= line <= _last(each)), None)
            if not isinstance(held, Holder):
                break
            found.append(held)
            body = held.body if isinstance(held, ast.ClassDef) else []
        return found


def _name(held: Holder) -> str:
    if isinstance(held, ast.Assign | ast.AnnAssign):
        target = held.targets[0] if isinstance(held, ast.Assign) else held.target
        return ast.unparse(target)
    return held.name


def _first(node: ast.stmt) -> int:
    """Return the first line of a statement, with its decorators."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else []
    return min([node.lineno, *[each.lineno for each in decorators]])


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _statement(function: ast.AST, line: int) -> set[int]:
    """Return the lines of the innermost statement that holds a line, without those of the statements in it."""
    inside = [each for each in ast.walk(function) if isinstance(each, ast.stmt) and each.lineno <= line <= _last(each)]
    innermost = max(inside, key=lambda each: each.lineno)
    body = getattr(innermost, "body", None)
    return set(range(innermost.lineno, body[0].lineno if body else _last(innermost) + 1))
