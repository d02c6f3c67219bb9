"""C99 without dependencies: a header and a source with the forces of a mechanism."""

from __future__ import annotations

from dataclasses import replace

from mechid.exporting.code import Code, code_of, render
from mechid.exporting.content import Content, Exported
from mechid.exporting.recorded import Function
from mechid.tape.emit_c import C99, Array, c_function, c_prelude

_STATIC = replace(C99, function="static void")


def c_source(content: Content, allow_loss: bool = False) -> Exported:
    """Return NAME.c, with NAME.h beside it.

    Raises
    ------
    ModelError, DataError
        As `code_of`.
    """
    code = code_of(content, allow_loss)
    name = code.words["name"]
    header, source = c_texts(code)
    return Exported("c", source.encode(), (), code.left_out, ((f"{name}.h", header.encode()),))


def c_texts(code: Code) -> tuple[str, str]:
    """Return header and source."""
    functions = dict(code.functions) | ({"equations": code.motion} if code.motion else {})
    texts = [_written(name, function) for name, function in functions.items()]
    observation = _written("observe", code.observation)
    needed = "".join((*texts, observation))
    helpers = [line for line in c_prelude().splitlines() if line.split("(")[0][21:] in needed]
    words = dict(code.words)
    header = render("header.h", **words)
    joined = "\n".join([*helpers, "", *texts])
    return header, render("source.c", functions=joined, observation=observation, **words)


def _written(name: str, function: Function) -> str:
    arrays = [Array(x, slots.ravel()) for x, slots in function.arrays.items()]
    return c_function(function.program, name, arrays, dialect=_STATIC)
