"""All mutants of a module, except for those in pieces that no result depends on."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .operators import OPERATORS

# What is said to people or typed.
_SHOWN = {"__repr__", "__str__", "_repr_html_", "_repr_markdown_", "summary"}
_SAID = {
    "warn",
    "warning",
    "info",
    "debug",
    "log",
    "progress",
    "watch",
    "getLogger",
    "TypeVar",
    "field",
}


@dataclass(frozen=True)
class Mutant:
    """A module with one deliberate mistake.

    Attributes
    ----------
    path : str
        Of the module, from the folder of the package mechid.
    name : str
        Made of the module, the function, and a checksum of what is changed: it stays the same
        when other parts of the module change.
    operator : str
        A key of `OPERATORS`.
    place : tuple of int
        First line, offset in it, last line, offset in it (in bytes).
    lines : tuple of int
        A test that reaches one of these lines may notice; () stands for any line.
    old, new : str
        What stands there, and what is put there.
    """

    path: str
    name: str
    operator: str
    place: tuple[int, int, int, int]
    lines: tuple[int, ...]
    old: str
    new: str

    def text(self, original: str) -> str:
        """Return the module with the mistake."""
        first, begin, last, end = self.place
        lines = original.encode().splitlines(keepends=True)
        start, rest = lines[first - 1][:begin], lines[last - 1][end:]
        return b"".join(
            (*lines[: first - 1], start, self.new.encode(), rest, *lines[last:])
        ).decode()


def mutants(path: str, text: str) -> list[Mutant]:
    """Return all mutants of a module."""
    tree = ast.parse(text)
    source = text.splitlines()
    seen: Counter[str] = Counter()
    found = []
    for node, statement, scope in _pieces(tree):
        around = source[statement.lineno - 1].strip()
        for operator, change in OPERATORS.items():
            for target, put in change(node):
                old, new = ast.unparse(target), ast.unparse(ast.fix_missing_locations(put))
                key = "\0".join((path, scope, operator, around, old, new))
                seen[key] += 1
                digest = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()[:6]
                name = f"{path.removesuffix('.py')}:{scope}:{digest}"
                lines = tuple(_reaching(tree, statement))
                put_text = new if isinstance(target, ast.stmt) else f"({new})"
                found.append(Mutant(path, name, operator, _place(target), lines, old, put_text))
    return found


def _pieces(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.stmt, str]]:
    """Yield the pieces that may be changed, with their statement and the name of their function."""
    stack: list[tuple[ast.AST, ast.stmt | None, str]] = [(tree, None, "")]
    while stack:
        node, statement, scope = stack.pop()
        if isinstance(node, ast.stmt):
            statement = node
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            scope = f"{scope}.{node.name}" if scope else node.name
        if statement is not None and not _is_idle(node):
            yield node, statement, scope
        stack.extend(reversed([(part, statement, scope) for part in _parts(node)]))


def _is_idle(node: ast.AST) -> bool:
    """Whether a statement computes nothing: it is for type checkers, or tells what is going on."""
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(name) | ast.Attribute(attr=name))):
            return name in _SAID - {"warn"}
    return False


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that results depend on."""
    match node:
        case ast.FunctionDef(name=name) if name in _SHOWN:
            return
        case ast.FunctionDef(args=args, body=body):
            yield from (x for x in (*args.defaults, *args.kw_defaults) if x is not None)
            yield from body
        case ast.ClassDef(body=body) | ast.ExceptHandler(body=body):
            yield from body
        case ast.AnnAssign(value=value):
            if value is not None:
                yield value
        case ast.If(test=ast.Name("TYPE_CHECKING")) | ast.Assign(targets=[ast.Name("__all__")]):
            return
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if name in _SAID:
            return
        case ast.Call(func=ast.Name("cast"), args=[_, value]):
            yield value
        case ast.Call(func=ast.Name("isinstance"), args=[value, _]):
            yield value
        case _:
            yield from ast.iter_child_nodes(node)


def _reaching(tree: ast.Module, statement: ast.stmt) -> Iterator[int]:
    """Yield the lines that run if a statement matters.

    What is outside of functions runs when the module is loaded: then those that use its name,
    or, in a class, any.
    """
    classes = [x for x in tree.body if isinstance(x, ast.ClassDef)]
    if any(statement in x.body for x in classes) and not isinstance(statement, ast.FunctionDef):
        return
    if isinstance(statement, ast.FunctionDef):
        yield from range(statement.body[0].lineno, (statement.end_lineno or 0) + 1)
    elif statement in tree.body:
        names = {x.id for x in ast.walk(statement) if isinstance(x, ast.Name)}
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                yield from (
                    x.lineno
                    for x in ast.walk(function)
                    if isinstance(x, ast.Name) and x.id in names
                )
    else:
        body = getattr(statement, "body", None)
        last = body[0].lineno - 1 if body else statement.end_lineno or 0
        yield from range(statement.lineno, max(statement.lineno, last) + 1)


def _place(node: Any) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
