"""The changes: another operator, constant, condition or result at one place of a file.

Not changed is what decides nothing: docstrings, annotations and aliases of types, decorators other than `rule`, the
examples and sources of rules, the words of errors and f-strings, what a module exports, the meanings in `KINDS`, what
only type checkers read, and empty results.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from tests.mutants.places import Places

_OPPOSITES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,  # codespell:ignore notin
}  # fmt: skip
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
_LEVELS: Final = {"MUST": "SHOULD", "SHOULD": "MAY", "MAY": "MUST"}
_DATA_OF_RULES: Final = ("bad", "good", "source")
"""The examples and the source of a rule are data, which other tests compare with it."""
_SHOWN: Final = 80

Key: TypeAlias = tuple[str, str, str, str, int]
"""The file, the holder, the text before and after in one line each, and which of equal changes it is."""


class Change(NamedTuple):
    """A change at one place.

    `holder`: the function, class or constant that holds the place. `nth`: which of the equal changes in the
    holder it is, from 1. `start` and `end`: offsets in the bytes of the file.
    """

    file: str
    line: int
    before: str
    after: str
    start: int
    end: int
    holder: str
    nth: int

    @property
    def key(self) -> Key:
        """What identifies the change while lines around it move."""
        return (self.file, self.holder, _line(self.before), _line(self.after), self.nth)

    def applied(self, source: bytes) -> bytes:
        """Return the changed source."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def __str__(self) -> str:
        """Return the place and the change in one line."""
        shown = [_line(text)[:_SHOWN] for text in (self.before, self.after)]
        return f"{self.file}:{self.line}: {shown[0]} -> {shown[1]}"


def _line(text: str) -> str:
    return " ".join(text.split())


def changes(root: Path, file: str) -> list[Change]:
    """Return every change of a file, in the order of their places."""
    source = (root / file).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, after in _variants(ast.parse(source), in_rules="/rules/" in file):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        found.append((start, end, after, node.lineno))
    return list(_numbered(file, source, sorted(found)))


def _numbered(file: str, source: bytes, found: Iterable[tuple[int, int, str, int]]) -> Iterator[Change]:
    places, seen = Places(source), Counter[tuple[str, str, str]]()
    for start, end, after, line in found:
        holder, before = places.holder(line), source[start:end].decode()
        equal = (holder, _line(before), _line(after))
        seen[equal] += 1
        yield Change(file, line, before, after, start, end, holder, seen[equal])


def _variants(tree: ast.AST, *, in_rules: bool) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield the nodes of a tree that can be changed, each with its new text."""
    if in_rules and isinstance(tree, ast.Assign):  # What stands at the top of a rule is mostly data of its examples.
        return
    if isinstance(tree, ast.expr | ast.stmt):
        for after in _changed(tree):
            yield tree, after
    for child in _children(tree):
        is_top = isinstance(tree, ast.Module)
        yield from _variants(child, in_rules=in_rules and is_top)


def _children(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that run: no docstrings, annotations or messages of errors."""
    if isinstance(tree, ast.FunctionDef):
        yield from _facts(tree)
        yield from [default for default in [*tree.args.defaults, *tree.args.kw_defaults] if default]
        yield from tree.body
    elif isinstance(tree, ast.AnnAssign):
        yield from _assigned(tree)
    elif isinstance(tree, ast.ClassDef):
        yield from tree.body
    elif isinstance(tree, ast.If) and _names(tree.test) & {"TYPE_CHECKING"}:
        yield from tree.orelse
    elif not isinstance(tree, ast.Raise | ast.Assert | ast.JoinedStr | ast.arguments) and not _is_text(tree):
        yield from ast.iter_child_nodes(tree)


def _assigned(tree: ast.AnnAssign) -> Iterator[ast.AST]:
    """Yield the value of a name; of a table of meanings only the keys, because nothing reads the meanings."""
    if tree.value is None or _names(tree.annotation) & {"TypeAlias"}:
        return
    if isinstance(tree.value, ast.Dict) and _names(tree.target) & {"KINDS"}:
        yield from [key for key in tree.value.keys if key]
    else:
        yield tree.value


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _facts(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield what the decorator of a rule declares; other decorators change no result."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "rule":
            yield from decorator.args
            yield from [word.value for word in decorator.keywords if word.arg not in _DATA_OF_RULES]


def _is_text(tree: ast.AST) -> bool:
    """Return whether a statement is a docstring, or names what a module or class exports."""
    if isinstance(tree, ast.Assign):
        names = set[str]().union(*[_names(each) for each in tree.targets])
        return bool(names & {"__all__", "__slots__"}) or (
            isinstance(tree.value, ast.Call) and _names(tree.value.func) == {"TypeVar"}
        )
    return isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant)


def _changed(node: ast.expr | ast.stmt) -> Iterator[str]:
    """Yield the other texts of a node."""
    if isinstance(node, ast.Constant):
        yield from _other_constant(node.value)
    elif isinstance(node, ast.stmt):
        yield from _other_statement(node)
    else:
        yield from _other_expression(node)


def _other_constant(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int):
        yield str(value + 1)
    elif isinstance(value, str) and value.strip():
        yield repr(f"other {value}")


def _other_statement(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Return(value=ast.Constant(value=None | bool()) | ast.List(elts=[]) | ast.Tuple(elts=[]) | None):
            return  # The constant of `return True` is changed by itself, and None is as false as False.
        case ast.Return():
            yield "return None"
        case ast.Continue():
            yield "break"
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield "pass"


def _other_expression(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Compare(ops=[operator], comparators=[_]) if type(operator) in _OPPOSITES:
            yield ast.unparse(ast.Compare(node.left, [_OPPOSITES[type(operator)]()], node.comparators))
        case ast.BoolOp(op=operator):
            other: ast.boolop = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield f"({ast.unparse(ast.BoolOp(other, node.values))})"
        case ast.UnaryOp(op=ast.Not()):
            yield ast.unparse(node.operand)
        case ast.BinOp(op=operator) if type(operator) in _ARITHMETIC:
            yield f"({ast.unparse(ast.BinOp(node.left, _ARITHMETIC[type(operator)](), node.right))})"
        case ast.Attribute(value=ast.Name(id="Level"), attr=level) if level in _LEVELS:
            yield f"Level.{_LEVELS[level]}"
        case ast.IfExp(test=test):
            yield f"({ast.unparse(node.orelse)} if {ast.unparse(test)} else {ast.unparse(node.body)})"
