"""Expressions of named parameters: parsed with `ast`, never evaluated as Python.

Every scalar of a model file becomes a `Number`: a value and a text in normal form, which later
stages read as an exact or symbolic expression. An angle with a unit is normalised to radians
(`30 deg` becomes `30 * pi / 180`).
"""

from __future__ import annotations

import ast
import math
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

_LONGEST, _DEEPEST = 4000, 100  # characters and levels of an expression
LARGEST = 1e60  # products of a few such numbers stay finite
RESERVED = frozenset(
    {"pi", "deg", "rad", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "abs"}
)

# Written so that a long row of digits can be read in one way only: no search is quadratic.
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER_DEG = re.compile(rf"(?<![\w.])({_NUMBER})\s*deg\b")
_NUMBER_RAD = re.compile(rf"(?<![\w.])({_NUMBER})\s*rad\b")
_CALL = re.compile(r"[A-Za-z_]\w*\([^()]*\)")
_TRAILING_UNIT = re.compile(r"^(.*[\w)])\s+(deg|rad)$|^(.*\))(deg|rad)$", re.DOTALL)
_OTHER_UNIT = re.compile(
    rf"(?<![\w.])({_NUMBER})\s*(%|°|(?!e$|E$|deg$|rad$)[A-Za-zµμ][\w·*/^²³°]*)\s*$"
    r"|^.*[\w)]\s+((?!deg$|rad$)[A-Za-zµμ]+)\s*$"
)
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: math.pow(a, b),
}


@dataclass(frozen=True)
class Number:
    """A value and its expression in normal form."""

    value: float
    text: str


class _TooLargeError(ValueError):
    """An angle whose last digit is not small."""


# Beyond it a rounded angle is uncertain by more than a microradian.
LARGEST_ANGLE = 2.0**32


def _angle(x: float) -> float:
    if abs(x) > LARGEST_ANGLE:
        raise _TooLargeError
    return x


def _sine(x: float) -> float:
    # The rounded argument of sin(pi) is off by up to an ulp: a sine below that is zero.
    s = math.sin(_angle(x))
    return 0.0 if abs(s) < 2.0**-52 * abs(x) and abs(x) > 1 else s


def _cosine(x: float) -> float:
    c = math.cos(_angle(x))
    return 0.0 if abs(c) < 2.0**-52 * abs(x) else c


FUNCTIONS: Mapping[str, tuple[int, Callable[..., float]]] = {
    "sin": (1, _sine),
    "cos": (1, _cosine),
    "tan": (1, lambda x: math.tan(_angle(x))),
    "asin": (1, math.asin),
    "acos": (1, math.acos),
    "atan": (1, math.atan),
    "atan2": (2, math.atan2),
    "sqrt": (1, math.sqrt),
    "abs": (1, abs),
}


def parse(scalar: float | str, *, degrees: bool = False) -> ast.expr:
    """Return the checked syntax tree of a number or an expression.

    With `degrees`, angles without a unit are degrees: functions take and give them so, and the tree
    has the conversions in it.

    Raises
    ------
    ValueError
        With a message for the user, if the text is no expression.
    """
    return _parsed(scalar, degrees) if isinstance(scalar, str) else _literal(scalar)


# Sums and products of a few coordinates are read again and again; nobody changes a tree.
@lru_cache(maxsize=4096)
def _parsed(scalar: str, degrees: bool) -> ast.expr:
    text = scalar.strip()
    if not text:
        raise ValueError("expected a number or an expression, got empty text")
    if len(text) > _LONGEST:
        raise ValueError(
            f'cannot read "{text[:40]}…": an expression may have {_LONGEST} characters, got '
            f"{len(text)}; name parts of it"
        )
    text = _NUMBER_DEG.sub(r"(\1)" if degrees else r"(\1*pi/180)", text)
    text = _NUMBER_RAD.sub(r"(\1*180/pi)" if degrees else r"(\1)", text)
    if match := _TRAILING_UNIT.match(text):
        body, unit = (match[1], match[2]) if match[2] else (match[3], match[4])
        tree = _tree(body, scalar)
        # `1 * text` binds tighter than a sum: it shows whether the unit means all of it.
        if _is_sum(_tree(f"1*{body}", scalar)):
            raise ValueError(
                f'it is not clear what "{unit}" applies to in "{scalar}"; write "({body}) {unit}"'
            )
        if _has_unit(scalar):
            raise ValueError(f'"{scalar}" has two units, one inside the other; write one')
        if (unit == "deg") != degrees:
            tree = _turned(tree, to_radians=unit == "deg")
    else:
        tree = _tree(text, scalar)
    try:
        _refuse_depth(tree)
        _check(tree, scalar)
        return _Degrees().visit(tree) if degrees else tree
    except RecursionError:
        raise ValueError("the expression is nested too deeply; name parts of it") from None


def _has_unit(text: str) -> bool:
    """Return whether a number of a text has a unit, arguments of functions aside."""
    before = ""
    while before != text:
        before, text = text, _CALL.sub("f", text)
    return bool(_NUMBER_DEG.search(text) or _NUMBER_RAD.search(text))


def is_angle(text: str) -> bool:
    """Return whether an expression is in radians, because an angle in it has a unit."""
    return _has_unit(text) or _TRAILING_UNIT.match(text.strip()) is not None


def _refuse_depth(tree: ast.expr) -> None:
    """Reject a tree on which functions that recurse would fail."""
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise ValueError(f"the expression is nested more than {_DEEPEST} levels deep; name parts of it")


def _turned(tree: ast.expr, *, to_radians: bool) -> ast.expr:
    """Return an angle in degrees in radians, or the other way round."""
    pi, half_turn = ast.Name("pi", ast.Load()), ast.Constant(180)
    times, over = (pi, half_turn) if to_radians else (half_turn, pi)
    return ast.BinOp(ast.BinOp(tree, ast.Mult(), times), ast.Div(), over)


class _Degrees(ast.NodeTransformer):
    """Lets functions take and give degrees."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        assert isinstance(node.func, ast.Name)
        if node.func.id in ("sin", "cos", "tan"):
            node.args = [_turned(node.args[0], to_radians=True)]
        elif node.func.id in ("asin", "acos", "atan", "atan2"):
            return _turned(node, to_radians=False)
        return node


def _is_sum(tree: ast.expr) -> bool:
    return isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub)


def _tree(text: str, whole: str) -> ast.expr:
    try:
        with warnings.catch_warnings(action="error"):  # `3in x` is read, with a warning
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, Warning, ValueError, RecursionError, MemoryError):
        pass
    if match := _OTHER_UNIT.search(whole):
        unit = match[2] or match[3]
        raise ValueError(
            f'unit "{unit}" in "{whole}"; numbers are in SI units (m, kg, s, rad, N), or in those '
            "that units declares at the top of a model file: write the plain number (only angles "
            'may have a unit, "deg" or "rad")'
        )
    raise ValueError(
        f'cannot read "{whole}" as a number or an expression; check parentheses and operators'
    )


def _literal(value: float) -> ast.expr:
    if value < 0 or (value == 0 and math.copysign(1.0, value) < 0):
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _check(node: ast.expr, whole: str) -> None:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as value) if not abs(value) <= sys.float_info.max:
            raise ValueError(f'"{whole}" has no finite real value; check the numbers')
        case ast.Constant(value=int() | float()):
            return
        case ast.Name():
            return
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, whole)
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left, whole)
            _check(right, whole)
            return
        case ast.BinOp(op=ast.BitXor()):
            raise ValueError(f'"^" in "{whole}"; a power is written "**"')
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            if len(args) != FUNCTIONS[name][0]:
                raise ValueError(
                    f'{name} takes {FUNCTIONS[name][0]} argument(s), got {len(args)}, in "{whole}"'
                )
            for arg in args:
                _check(arg, whole)
            return
        case ast.Call(func=ast.Name(id=name)):
            raise ValueError(
                f'unknown function {name} in "{whole}"; choose one of: '
                f"{', '.join(sorted(FUNCTIONS))}"
            )
        case _:
            pass
    if _DECIMAL_COMMA.fullmatch(whole.strip()):
        raise ValueError(f'"{whole}" is not a number; write {whole.strip().replace(",", ".")}')
    raise ValueError(
        f'"{whole}" is not an expression; use numbers, parameters, + - * / ** and parentheses'
    )


def names(tree: ast.expr) -> set[str]:
    """Return the parameters that an expression uses."""
    if _plain(tree) is not None:  # most scalars of a file
        return set()
    called = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    return {
        n.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Name) and n.id != "pi" and id(n) not in called
    }


def renamed(tree: ast.expr, final: Mapping[str, str]) -> ast.expr:
    """Return the tree with its parameters renamed."""
    if all(name == new for name, new in final.items()):
        return tree
    tree = ast.parse(ast.unparse(tree), mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = final.get(node.id, node.id)
    return tree


def text_of(tree: ast.expr) -> str:
    """Return the normal form of an expression."""
    number = _plain(tree)
    return ast.unparse(tree) if number is None else number


def _plain(tree: ast.expr) -> str | None:
    """Return the text of a number without or with a sign; None for every other expression."""
    sign = ""
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        sign, tree = "-", tree.operand
    value = tree.value if isinstance(tree, ast.Constant) else None
    finite = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return f"{sign}{value!r}" if finite else None


def evaluate(tree: ast.expr, values: Mapping[str, float]) -> float:
    """Return the value of a checked tree; `values` holds every parameter it uses.

    Raises
    ------
    ValueError
        If there is no finite real value.
    """
    try:
        value = _evaluate(tree, values)
    except ZeroDivisionError:
        raise ValueError(f'division by zero in "{text_of(tree)}"; check the numbers') from None
    except _TooLargeError:
        raise ValueError(
            f'the angle in "{text_of(tree)}" is too large; check the numbers'
        ) from None
    except (ValueError, OverflowError):
        raise ValueError(f'"{text_of(tree)}" has no finite real value; check the numbers') from None
    if not math.isfinite(value):
        raise ValueError(f'"{text_of(tree)}" has no finite real value; check the numbers')
    return value + 0.0  # no negative zeros


def _evaluate(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id=name):
            return math.pi if name == "pi" else values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, values)
        case ast.UnaryOp(operand=operand):
            return _evaluate(operand, values)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_evaluate(left, values), _evaluate(right, values))
        case ast.Call(func=ast.Name(id=name), args=args):
            return float(FUNCTIONS[name][1](*(_evaluate(arg, values) for arg in args)))
    raise AssertionError(node)


def evaluate_text(text: str, values: Mapping[str, float]) -> float:
    """Return the value of an expression in normal form."""
    return evaluate(parse(text), values)


def is_constant(text: str) -> bool:
    """Return whether an expression is a plain number."""
    tree = parse(text)
    if isinstance(tree, ast.UnaryOp):
        tree = tree.operand
    return isinstance(tree, ast.Constant)
