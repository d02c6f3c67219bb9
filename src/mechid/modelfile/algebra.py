"""Sums and products of expressions in normal form, with the zeros and ones taken out.

Only what keeps an exact expression exact through a reflection, a shift or a Denavit-Hartenberg
transform; it is no computer algebra.
"""

from __future__ import annotations

import ast
from fractions import Fraction

from mechid.textfile.expressions import parse, text_of

ZERO, ONE = "0", "1"


def _is(tree: ast.expr, value: int) -> bool:
    return isinstance(tree, ast.Constant) and tree.value == value


def _negated(tree: ast.expr) -> ast.expr:
    match tree:
        case ast.Constant(value=0):
            return tree
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return operand
        case ast.BinOp(left=ast.UnaryOp(op=ast.USub(), operand=left), op=ast.Sub(), right=right):
            return ast.BinOp(left, ast.Add(), right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return ast.BinOp(right, ast.Sub(), left)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return ast.BinOp(_negated(left), ast.Sub(), right)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            return ast.BinOp(_negated(left), op, right)
    return ast.UnaryOp(ast.USub(), tree)


def negate(a: str) -> str:
    """Return -a."""
    return text_of(_negated(parse(a)))


def add(a: str, b: str) -> str:
    """Return a + b."""
    x, y = parse(a), parse(b)
    if _is(x, 0):
        return b
    if _is(y, 0):
        return a
    if isinstance(y, ast.UnaryOp) and isinstance(y.op, ast.USub):
        return subtract(a, text_of(y.operand))
    return text_of(ast.BinOp(x, ast.Add(), y))


def subtract(a: str, b: str) -> str:
    """Return a - b."""
    x, y = parse(a), parse(b)
    if a == b:
        return ZERO
    if _is(y, 0):
        return a
    if _is(x, 0):
        return text_of(_negated(y))
    if isinstance(y, ast.UnaryOp) and isinstance(y.op, ast.USub):
        return add(a, text_of(y.operand))
    return text_of(ast.BinOp(x, ast.Sub(), y))


def multiply(a: str, b: str) -> str:
    """Return a * b."""
    x, y = parse(a), parse(b)
    if _is(x, 0) or _is(y, 0):
        return ZERO
    for tree, other in ((x, y), (y, x)):
        if _is(tree, 1):
            return text_of(other)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return negate(multiply(text_of(tree.operand), text_of(other)))
    return text_of(ast.BinOp(x, ast.Mult(), y))


def _quarter_turns(tree: ast.expr) -> Fraction | None:
    """Return how many right angles a plain multiple of pi is, if the tree is one."""
    turns = _multiple_of_pi(tree)
    return None if turns is None else 2 * turns


def _multiple_of_pi(tree: ast.expr) -> Fraction | None:
    match tree:
        case ast.Constant(value=0):
            return Fraction(0)
        case ast.Name(id="pi"):
            return Fraction(1)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _multiple_of_pi(operand)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            factor, angle = _rational(right), _multiple_of_pi(left)
            if (factor is None or angle is None) and isinstance(op, ast.Mult):
                factor, angle = _rational(left), _multiple_of_pi(right)
            if factor is None or angle is None or (factor == 0 and isinstance(op, ast.Div)):
                return None
            return angle * factor if isinstance(op, ast.Mult) else angle / factor
    return None


def _rational(tree: ast.expr) -> Fraction | None:
    match tree:
        case ast.Constant(value=int() | float() as value):
            return Fraction(repr(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _rational(operand)
            return None if inner is None else -inner
    return None


def cosine(angle: str) -> str:
    """Return cos(angle), as a number for multiples of a right angle."""
    turns = _quarter_turns(parse(angle))
    if turns is not None and turns.denominator == 1:
        return ("1", "0", "-1", "0")[int(turns) % 4]
    return text_of(parse(f"cos({angle})"))


def sine(angle: str) -> str:
    """Return sin(angle), as a number for multiples of a right angle."""
    turns = _quarter_turns(parse(angle))
    if turns is not None and turns.denominator == 1:
        return ("0", "1", "0", "-1")[int(turns) % 4]
    tree = parse(angle)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return negate(sine(text_of(tree.operand)))
    return text_of(parse(f"sin({angle})"))
