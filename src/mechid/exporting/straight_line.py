"""Programs as text of languages whose statements are assignments: Python with NumPy, MATLAB."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.regressor import cad_parameters
from mechid.exporting.code import Code, code_of, render
from mechid.exporting.content import Content, Exported
from mechid.exporting.recorded import Function
from mechid.tape.number import Op
from mechid.tape.program import operands

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<="}


@dataclass(frozen=True)
class Language:
    """How assignments are written.

    Attributes
    ----------
    element : str
        Element of an array, with {name} and {index}.
    first : int
        Index of the first element.
    end : str
        What ends an assignment.
    infinity : str
    called : mapping of str to str
        Functions of the operations that have no operator.
    """

    element: str
    first: int
    end: str
    infinity: str
    called: Mapping[str, str]


PYTHON = Language(
    "{name}[{index}]",
    0,
    "",
    "inf",
    {
        "abs": "abs",
        "min": "minimum",
        "max": "maximum",
        "sqrt": "sqrt",
        "sin": "sin",
        "cos": "cos",
        "exp": "exp",
        "tanh": "tanh",
        "pow": "power",
        "atan2": "arctan2",
        "select": "where",
    },
)
# nan goes through `least_of` and `largest_of`; roots and powers that are not real are nan
MATLAB = Language(
    "{name}({index})",
    1,
    ";",
    "Inf",
    {
        "abs": "abs",
        "min": "least_of",
        "max": "largest_of",
        "sqrt": "root_of",
        "sin": "sin",
        "cos": "cos",
        "exp": "exp",
        "tanh": "tanh",
        "pow": "power_of",
        "atan2": "atan2",
        "select": "choose",
    },
)


def assignments(function: Function, language: Language) -> list[str]:
    """Return the statements that fill the outputs of a function from its inputs."""
    where = {
        int(slot): language.element.format(name=name, index=i + language.first)
        for name, slots in function.arrays.items()
        for i, slot in enumerate(slots.ravel())
    }
    program = function.program
    outputs: dict[int, list[str]] = {}
    for place, slot in zip(program.outputs, program.output_slots, strict=True):
        outputs.setdefault(place, []).append(where[slot])
    lines: list[str] = []
    names: list[str] = []
    for place, op in enumerate(program.ops):
        if op.name == "constant":
            names.append(_number(op.constant, language))
        else:
            names.append(f"t{place}")
            lines.append(f"t{place} = {_expression(op, names, where, language)}{language.end}")
        lines += [f"{x} = {names[place]}{language.end}" for x in outputs.get(place, ())]
    return lines


def _expression(op: Op, names: list[str], where: Mapping[int, str], language: Language) -> str:
    if op.name == "input":
        return where[op.a]
    x = [names[i] for i in operands(op)]
    if op.name in _INFIX:
        return f"{x[0]} {_INFIX[op.name]} {x[1]}"
    if op.name == "neg":
        return f"-{x[0]}"
    return f"{language.called[op.name]}({', '.join(x)})"


def _number(x: float, language: Language) -> str:
    if math.isinf(x):
        return language.infinity if x > 0 else f"-{language.infinity}"
    return repr(float(x))


def python_module(content: Content, allow_loss: bool = False) -> Exported:
    """Return a module.

    Raises
    ------
    ModelError, DataError
        As `code_of`.
    """
    code = code_of(content, allow_loss)
    functions = {**code.functions, "observe": code.recorded.observation}
    text = "\n\n".join(_written(name, function) for name, function in functions.items())
    data = render("module.py.txt", functions=text, **code.words).encode()
    return Exported("python", data, (), code.left_out)


def _written(name: str, function: Function) -> str:
    """Return a function of arrays with a column per sample."""
    inputs = [x for x in function.arrays if x not in function.outputs]
    made = [f"{x} = np.empty(({function.arrays[x].size}, y.shape[1]))" for x in function.outputs]
    lines = [*made, *assignments(function, PYTHON), f"return {', '.join(function.outputs)},"]
    return f"def _{name}({', '.join(inputs)}):\n" + "".join(f"    {line}\n" for line in lines)


_HEADER = 116  # bytes of a MAT-file that describe it in words, with the time of writing


def matlab(content: Content, allow_loss: bool = False) -> Exported:
    """Return NAME.m, with NAME.mat beside it.

    Raises
    ------
    ModelError, DataError
        As `code_of`.
    """
    code = code_of(content, allow_loss)
    functions = {**code.functions, "observe": code.recorded.observation}
    text = "\n".join(_matlab_written(name, function) for name, function in functions.items())
    data = render("function.m", functions=text, **code.words).encode()
    beside = ((f"{code.words['name']}.mat", _parameters(code)),)
    return Exported("matlab", data, (), code.left_out, beside)


def _matlab_written(name: str, function: Function) -> str:
    inputs = [x for x in function.arrays if x not in function.outputs]
    made = [f"{x} = zeros({function.arrays[x].size}, 1);" for x in function.outputs]
    head = f"function [{', '.join(function.outputs)}] = {name}({', '.join(inputs)})"
    return "\n".join([head, *made, *assignments(function, MATLAB), "end", ""])


def _parameters(code: Code) -> bytes:
    from scipy.io import savemat

    columns, out = code.recorded.model.columns, io.BytesIO()
    sigma = code.content.sigma or (0.0,) * len(columns)
    savemat(
        out,
        {
            "phi": cad_parameters(code.recorded.model)[:, None],
            "sigma": np.array(sigma)[:, None],
            "names": np.array([c.name for c in columns], dtype=object)[:, None],
            "units": np.array([c.unit for c in columns], dtype=object)[:, None],
            "owners": np.array([c.owner for c in columns], dtype=object)[:, None],
        },
    )
    data = out.getvalue()
    return b"MATLAB 5.0 MAT-file".ljust(_HEADER) + data[_HEADER:]
