"""MATLAB: a function with the forces of a mechanism, and its parameters as a MAT-file."""

from __future__ import annotations

import io

import numpy as np

from mechid.dynamics.regressor import cad_parameters
from mechid.exporting.code import Code, code_of, render
from mechid.exporting.content import Content, Exported
from mechid.exporting.recorded import Function
from mechid.exporting.straight_line import MATLAB, assignments

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
    text = "\n".join(_written(name, function) for name, function in functions.items())
    data = render("function.m", functions=text, **code.words).encode()
    beside = ((f"{code.words['name']}.mat", _parameters(code)),)
    return Exported("matlab", data, (), code.left_out, beside)


def _written(name: str, function: Function) -> str:
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
