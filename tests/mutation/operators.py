"""Deliberate mistakes: what each operator makes of a piece of a syntax tree.

An operator is a function of a node that yields pairs: the node or a part of it, and what to put in
its place. None of them changes texts, annotations or names of things.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import copy

Change = tuple[ast.AST, ast.AST]
Operator = Callable[[ast.AST], Iterator[Change]]

_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_ORDERS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_PAIRS = (
    "min max", "any all", "argmin argmax", "minimum maximum", "nanmin nanmax", "sin cos",
    "floor ceil", "zeros ones", "union intersection", "inf nan", "mean sum",
    "vstack hstack", "triu tril",
)  # fmt: skip
_EXCHANGED = {a: b for pair in _PAIRS for a, b in (pair.split(), pair.split()[::-1])}
_BUILT_IN = {"min", "max", "any", "all"}
# Keywords that change time, memory or checks only.
_WITHOUT_EFFECT = {
    "check_finite", "overwrite_a", "overwrite_b", "copy", "strict", "stacklevel", "maxsize",
    "order", "optimize", "progress", "parallel", "threads", "encoding",
}  # fmt: skip


def arithmetic(node: ast.AST) -> Iterator[Change]:
    """+ for -, * for /, & for |, …; products of matrices get the other sign."""
    match node:
        case ast.BinOp(op=ast.MatMult()):
            yield node, ast.UnaryOp(ast.USub(), node)
        case ast.BinOp(left=left, right=right) if not (_is_text(left) or _is_text(right)):
            yield from _with_operator(node)
        case ast.AugAssign(value=value) if not _is_text(value):
            yield from _with_operator(node)


def sign(node: ast.AST) -> Iterator[Change]:
    """X for -x."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield node, operand


def comparison(node: ast.AST) -> Iterator[Change]:
    """Another bound (< for <=), and the opposite (< for >=, is not for is)."""
    match node:
        case ast.Compare(ops=ops):
            for k, op in enumerate(ops):
                for other in _ORDERS[type(op)]:
                    yield node, _changed(node, ops=[*ops[:k], other(), *ops[k + 1 :]])


def boolean(node: ast.AST) -> Iterator[Change]:
    """And for or, x for not x, True for False."""
    match node:
        case ast.BoolOp(op=op):
            yield node, _changed(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, operand
        case ast.Constant(value=bool(value)):
            yield node, ast.Constant(not value)


def condition(node: ast.AST) -> Iterator[Change]:
    """Not x for x where x alone decides."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.Compare | ast.UnaryOp | ast.Constant):
                yield test, ast.UnaryOp(ast.Not(), test)
        case ast.comprehension(ifs=[test]):
            if not isinstance(test, ast.Compare | ast.UnaryOp):
                yield test, ast.UnaryOp(ast.Not(), test)


def number(node: ast.AST) -> Iterator[Change]:
    """N + 1 for the number n: factors, exponents, indices, axes, defaults of arguments."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield node, ast.Constant(value + 1)


def bound(node: ast.AST) -> Iterator[Change]:
    """A slice or a range that begins or ends one later."""
    match node:
        case ast.Slice(lower=lower, upper=upper):
            for at in (lower, upper):
                if at is not None and not isinstance(at, ast.Constant):
                    yield at, _later(at)
        case ast.Call(func=ast.Name("range"), args=[*_, last]):
            if not isinstance(last, ast.Constant):
                yield last, _later(last)


def function(node: ast.AST) -> Iterator[Change]:
    """Min for max, any for all, sin for cos, …"""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name in _BUILT_IN:
            yield node, ast.Name(_EXCHANGED[name], ast.Load())
        case ast.Call(func=ast.Attribute(attr=name) as called) if name in _EXCHANGED:
            yield called, _changed(called, attr=_EXCHANGED[name])
        case ast.Attribute(attr="inf" | "nan" as name):
            yield node, _changed(node, attr=_EXCHANGED[name])


def keyword(node: ast.AST) -> Iterator[Change]:
    """A call without one of its keyword arguments."""
    match node:
        case ast.Call(keywords=keywords):
            for k, given in enumerate(keywords):
                if given.arg not in _WITHOUT_EFFECT and given.arg is not None:
                    yield node, _changed(node, keywords=keywords[:k] + keywords[k + 1 :])


def statement(node: ast.AST) -> Iterator[Change]:
    """Nothing for a call, an assignment to a part of something, or an error that is raised."""
    match node:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()):
            yield node, ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield node, ast.Pass()
        case ast.AugAssign() | ast.Raise():
            yield node, ast.Pass()


def loop(node: ast.AST) -> Iterator[Change]:
    """Break for continue, and a loop that is never entered."""
    match node:
        case ast.Break():
            yield node, ast.Continue()
        case ast.Continue():
            yield node, ast.Break()
        case ast.For(iter=items):
            yield items, ast.Tuple([], ast.Load())


def result(node: ast.AST) -> Iterator[Change]:
    """The opposite of a truth value that is returned."""
    match node:
        case ast.Return(value=ast.Call(func=ast.Name("bool" | "any" | "all" | "isinstance")) as x):
            yield x, ast.UnaryOp(ast.Not(), x)


OPERATORS: dict[str, Operator] = {
    f.__name__: f
    for f in (
        arithmetic, sign, comparison, boolean, condition, number, bound, function, keyword,
        statement, loop, result,
    )
}  # fmt: skip


def _changed(node: ast.AST, **fields: object) -> ast.AST:
    new = copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _with_operator(node: ast.BinOp | ast.AugAssign) -> Iterator[Change]:
    other = _ARITHMETIC.get(type(node.op))
    if other is not None:
        yield node, _changed(node, op=other())


def _later(node: ast.expr) -> ast.AST:
    return ast.BinOp(node, ast.Add(), ast.Constant(1))


def _is_text(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.BinOp(left=left, right=right):
            return _is_text(left) or _is_text(right)
    return False
