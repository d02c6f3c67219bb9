"""Base parameters to read: as SymPy expressions, as text, in LaTeX.

Where the model has named lengths and angles, factors are expressions of them; where it has none,
short decimals. β itself keeps all digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import sympy as sp

from mechid.base.baseset import BaseSet
from mechid.spatial.inertia import NAMES

DIGITS = 6
_LONGEST = 400  # characters of an expression in symbols
_LARGEST_DENOMINATOR = 1000
_WHOLE = 1e-12  # a float this near to a integer is one


def expression(base_set: BaseSet, name: str, digits: int | None = DIGITS) -> sp.Expr:
    """Return a base parameter as an expression of parameters and of symbols of the model.

    Parameters
    ----------
    base_set : BaseSet
    name : str
        The parameter that heads it.
    digits : int or None
        Digits of decimals; None leaves all numbers as they are.
    """
    factors = factors_of(base_set, name, digits)
    return sp.Add(*(sp.Symbol(n) * x for n, x in factors.items()))


def text(base_set: BaseSet, name: str, digits: int | None = DIGITS, *, symbols: bool = True) -> str:
    """Return a base parameter as text: `mx_2 + Iyy_2/Ds4`, or without symbols in decimals."""
    return _joined(factors_of(base_set, name, digits, symbols), sp.sstr, "*", str)


def latex(
    base_set: BaseSet, name: str, digits: int | None = DIGITS, *, symbols: bool = True
) -> str:
    r"""Return a base parameter in LaTeX: `mx_{2} + \frac{I_{yy,2}}{Ds_{4}}`."""
    factors = factors_of(base_set, name, digits, symbols)
    names = {sp.Symbol(n): latex_name(n) for n in factors}
    return _joined(factors, lambda x: str(sp.latex(x, symbol_names=names)), " ", latex_name)


def readable(base_set: BaseSet) -> dict[str, tuple[str, str]]:
    """Return all base parameters as text and in LaTeX: name → (text, latex).

    Expressions that would fill pages are given in decimals.
    """
    found = {}
    for name in base_set.base:
        word = text(base_set, name)
        symbols = len(word) <= _LONGEST
        shown = word if symbols else text(base_set, name, symbols=False)
        found[name] = shown, latex(base_set, name, symbols=symbols)
    return found


def factors_of(
    base_set: BaseSet, name: str, digits: int | None = DIGITS, symbols: bool = True
) -> dict[str, sp.Expr]:
    """Return what a base parameter holds, itself first: parameter → factor."""
    row = base_set.row(name)
    if not symbols or not symbols_of(base_set):
        return {n: short(sp.Float(x), digits) for n, x in row.items()}
    exact = {name: sp.Integer(1), **base_set.symbolic[name]}
    # What vanishes only at the numbers of the model is shown too.
    order = {n: i for i, n in enumerate(base_set.null_space.names)}
    others = sorted((n for n in exact if n != name), key=order.__getitem__)
    factors = {n: short(exact[n], digits) for n in (name, *others)}
    return {n: x for n, x in factors.items() if x != 0}


def symbols_of(base_set: BaseSet) -> frozenset[sp.Symbol]:
    """Return the symbols of the model that transfers depend on."""
    found: set[sp.Symbol] = set()
    for transfer in base_set.null_space.transfers:
        for _, x in transfer.entries:
            found |= x.free_symbols
    return frozenset(found)


def short(x: sp.Expr, digits: int | None = DIGITS) -> sp.Expr:
    """Return an expression with long fractions and floats as decimals of so many digits."""
    if digits is None:
        return x
    numbers = {a: _short_number(a, digits) for a in x.atoms(sp.Rational, sp.Float)}
    return x.xreplace({a: b for a, b in numbers.items() if a is not b})


def _short_number(x: sp.Expr, digits: int) -> sp.Expr:
    if isinstance(x, sp.Rational) and x.q <= _LARGEST_DENOMINATOR and abs(x.p) < 10**digits:
        return x
    value = float(x)
    if abs(value - round(value)) <= _WHOLE * max(1.0, abs(value)):
        return sp.Integer(round(value))
    return sp.Float(f"{value:.{digits}g}", digits)


def latex_name(name: str) -> str:
    """Return a parameter with typeset subscripts: m_{3}, mx_{3}, I_{xx,12}, k_{\\mathrm{strut}}."""
    head, _, owner = name.partition("_")
    if head in NAMES and re.fullmatch(r"\d+", owner):
        return f"I_{{{head[1:]},{owner}}}" if head.startswith("I") else f"{head}_{{{owner}}}"
    owner = re.sub(r"([_%&#$])", r"\\\1", owner)
    head = head if len(head) == 1 else rf"\mathrm{{{head}}}"
    return rf"{head}_{{\mathrm{{{owner}}}}}" if owner else head


def _joined(
    factors: dict[str, sp.Expr],
    show: Callable[[sp.Expr], str],
    times: str,
    show_name: Callable[[str], str],
) -> str:
    """Write a sum in the order of the factors."""
    parts: list[str] = []
    for name, factor in factors.items():
        whole = sp.Mul(sp.Symbol(name), factor)
        if isinstance(factor, sp.Add):
            sign, body = "+", f"({show(factor)}){times}{show_name(name)}"
        elif whole.could_extract_minus_sign():
            sign, body = "-", show(-whole)
        else:
            sign, body = "+", show(whole)
        parts.append(body if not parts and sign == "+" else f"{sign} {body}")
    return " ".join(parts)


# Inline formulas in a paragraph column: long sums are broken between their terms.
_HEAD = r"""% {count} base parameters of {model}; needs the packages amsmath, array and longtable
\begin{{longtable}}{{rl>{{\raggedright\arraybackslash}}p{{0.72\linewidth}}}}
\hline
 & base parameter & is \\
\hline
\endhead
"""


def latex_table(chosen: BaseSet) -> str:
    """Return a table with a numbered row per base parameter, to be included in a document."""
    rows = [
        rf"{i} & ${latex_name(name)}$ & ${latex(chosen, name)}$ \\"
        for i, name in enumerate(chosen.base, start=1)
    ]
    model = chosen.null_space.geometry.mechanism.name
    head = _HEAD.format(count=chosen.rank, model=" ".join(model.split()))
    return head + "\n".join(rows) + "\n\\hline\n\\end{longtable}\n"
