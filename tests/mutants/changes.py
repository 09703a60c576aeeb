"""The changes: another operator, constant, condition or result at one place of a file."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_OPPOSITES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,  # codespell:ignore notin
}  # fmt: skip
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
_LEVELS: Final = {"MUST": "SHOULD", "SHOULD": "MAY", "MAY": "MUST"}
_DATA_OF_RULES: Final = ("bad", "good", "source")
"""The examples and the source of a rule are data, which other tests compare with it."""
_SHOWN: Final = 80


class Change(NamedTuple):
    """A change at one place: `start` and `end` are offsets in the bytes of the file."""

    file: str
    line: int
    before: str
    after: str
    start: int
    end: int

    def applied(self, source: bytes) -> bytes:
        """Return the changed source."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def __str__(self) -> str:
        """Return the place and the change in one line."""
        shown = [" ".join(text.split())[:_SHOWN] for text in (self.before, self.after)]
        return f"{self.file}:{self.line}: {shown[0]} -> {shown[1]}"


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
        found.append(Change(file, node.lineno, source[start:end].decode(), after, start, end))
    return sorted(found, key=lambda change: (change.start, change.after))


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
        yield from [tree.value] if tree.value else []
    elif isinstance(tree, ast.ClassDef):
        yield from tree.body
    elif not isinstance(tree, ast.Raise | ast.JoinedStr | ast.arguments) and not _is_text(tree):
        yield from ast.iter_child_nodes(tree)


def _facts(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield what the decorator of a rule declares; other decorators change no result."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "rule":
            yield from decorator.args
            yield from [word.value for word in decorator.keywords if word.arg not in _DATA_OF_RULES]


def _is_text(tree: ast.AST) -> bool:
    """Return whether a statement is a docstring, or names what a module or class exports."""
    if isinstance(tree, ast.Assign):
        return any(isinstance(each, ast.Name) and each.id in ("__all__", "__slots__") for each in tree.targets)
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
        case ast.Return(value=ast.Constant(value=None) | ast.List(elts=[]) | ast.Tuple(elts=[]) | None):
            return
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
