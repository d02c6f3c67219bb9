"""C99 without dependencies: a header and a source with the forces of a mechanism."""

from __future__ import annotations

from dataclasses import replace

from mechid.exporting.code import Code, code_of, render
from mechid.exporting.content import Content, Exported
from mechid.exporting.recorded import Function
from mechid.tape.emit_c import C99, Array, c_function, c_prelude

_STATIC = replace(C99, function="static void")


def c_source(content: Content, allow_loss: bool = False) -> Exported:
    """Return NAME.c, with NAME.h and a block for Simulink, NAME_sfun.c, beside it.

    Raises
    ------
    ModelError, DataError
        As `code_of`.
    """
    code = code_of(content, allow_loss)
    name = code.words["name"]
    header, source = c_texts(code)
    block = render("block.c", **code.words)
    beside = ((f"{name}.h", header.encode()), (f"{name}_sfun.c", block.encode()))
    return Exported("c", source.encode(), (), code.left_out, beside)


def c_texts(code: Code, observation: bool = True) -> tuple[str, str]:
    """Return header and source; W may be left out."""
    texts = [_written(name, function) for name, function in code.functions.items()]
    W = _written("observe", code.recorded.observation) if observation else ""
    needed = "".join((*texts, W))
    helpers = [x for x in c_prelude().splitlines() if x.split("(")[0].split()[-1] in needed]
    words = {**code.words, "observation": W}
    functions = "\n".join([*helpers, "", *texts])
    return render("header.h", **words), render("source.c", functions=functions, **words)


def _written(name: str, function: Function) -> str:
    arrays = [Array(x, slots.ravel()) for x, slots in function.arrays.items()]
    return c_function(function.program, name, arrays, dialect=_STATIC)
