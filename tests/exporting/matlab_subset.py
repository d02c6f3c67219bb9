"""The part of MATLAB that exported functions are written in, run by Python.

No MATLAB is at hand where the tests run. Statements are translated line by line: functions, `if`,
`for`, assignments to variables and elements, calls with several results, vectors as columns.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np


class Column(np.ndarray):
    """A vector whose elements are read as x(1), x(2), …"""

    def __call__(self, i: int) -> float:
        assert i >= 1
        return float(self[i - 1])


def column(*parts: Any) -> Column:
    return np.concatenate([np.atleast_1d(np.asarray(x, float)) for x in parts]).view(Column)


def run_matlab(text: str, nargout: int) -> Callable[..., Any]:
    """Return the first function of a file."""
    names: dict[str, Any] = {
        "column": column,
        "zeros": lambda n, m: np.zeros(n).view(Column),
        "nan": lambda n=0, m=0: np.full((n, m), np.nan) if n else np.nan,
        "struct": lambda *x: SimpleNamespace(**dict(zip(x[::2], x[1::2], strict=True))),
        "isempty": lambda x: x is None,
        "all": lambda x: bool(np.all(x)),
        "strcmp": lambda a, b: a == b,
        "reshape": lambda x, n, m: np.asarray(x).reshape(n, m, order="F"),
        "isreal": lambda x: not isinstance(x, complex),
        "real": lambda x: x.real,
        "sqrt": np.emath.sqrt,
        "atan2": np.arctan2,
        "copied": lambda x: copy.copy(x) if isinstance(x, SimpleNamespace) else x,
        "nargout": nargout,
        "Inf": np.inf,
        **{name: getattr(np, name) for name in ("isfinite", "isnan", "sin", "cos", "exp", "tanh")},
    }
    exec(compile(_translated(text), "exported.m", "exec"), names)
    return names[re.findall(r"^function .*?= (\w+)\(", text)[0]]


def _translated(text: str) -> str:
    lines: list[str] = []
    depth, results = 0, ""
    for raw in text.splitlines():
        line = re.sub(r"\s*%.*", "", raw).strip()
        if not line:
            continue
        if found := re.fullmatch(r"function \[?([^\]=]*)\]? = (\w+)\((.*)\)", line):
            assert depth == 0, raw
            results, name, arguments = found.groups()
            lines.append(f"def {name}({arguments.replace('kind', 'kind=None')}):")
            depth = 1
            for argument in arguments.split(", "):
                lines.append(f"    {argument} = copied({argument})")
            if "kind" in arguments:
                lines.append("    nargin = 5 if kind is None else 6")
            continue
        word = line.split()[0].rstrip(";")
        if word == "end":
            depth -= 1
            if depth == 0:
                lines.append(f"    return {results}")
            continue
        if word in ("else", "elseif"):
            lines.append("    " * (depth - 1) + _statement(line))
        else:
            statement = "return " + results if word == "return" else _statement(line)
            lines.append("    " * depth + statement)
        if word in ("if", "for"):
            depth += 1
    assert depth == 0
    return "\n".join(lines)


def _statement(line: str) -> str:
    for pattern, start in ((r"if (.*)", "if"), (r"elseif (.*)", "elif")):
        if found := re.fullmatch(pattern, line):
            return f"{start} {_expression(found[1])}:"
    if line in ("else", "continue"):
        return "else:" if line == "else" else line
    if found := re.fullmatch(r"for (\w+) = 1:(\d+)", line):
        return f"for {found[1]} in range(1, {found[2]} + 1):"
    assert line.endswith(";"), line
    target, value = line[:-1].split(" = ", 1)
    value = _expression(value)
    if found := re.fullmatch(r"\[(.*)\]", target):
        targets = found[1].replace("~", "_").split(", ")
        return f"{', '.join(targets)} = {value}[:{len(targets)}]"
    if found := re.fullmatch(r"(\w+)\((\d+)\)", target):
        return f"{found[1]}[{int(found[2]) - 1}] = {value}"
    return f"{target} = {value}"


def _expression(text: str) -> str:
    text = re.sub(r"\[([^\[\]]*)\]", lambda m: f"column({m[1].replace(';', ',')})", text)
    text = text.replace("(:)", ".ravel()")
    text = re.sub(r"\)'$", ").T", text)
    for old, new in (("~=", "!="), ("~", " not "), ("&&", "and"), ("||", "or"), (".*", "*")):
        text = text.replace(old, new)
    return text.replace("^", "**").strip()
