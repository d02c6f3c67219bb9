"""A Python module with the forces of a mechanism that needs NumPy only."""

from __future__ import annotations

from mechid.exporting.code import code_of, render
from mechid.exporting.content import Content, Exported
from mechid.exporting.recorded import Function
from mechid.exporting.straight_line import PYTHON, assignments


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
