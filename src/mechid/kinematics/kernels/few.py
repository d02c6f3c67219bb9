"""Kernels for a few poses, before they are compiled: as plain Python, the same to the bit.

A mechanism is made ready with some forty poses, a millisecond each as plain Python. To compile the
kernels for that takes eight seconds, and is left to those who need them for more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mechid.kinematics.kernels.jit import Kernel, compiles_all
from mechid.tape.plain import as_python, plain_tables

# Poses that a kernel is run for as plain Python, in a process: less than half a second of them.
_MOST = 300
_KEPT = 8  # tables that are kept as plain objects

_plain: dict[Any, _Plain] = {}
_tables: list[tuple[Any, Any]] = []


class _Plain:
    """A kernel as plain Python, whose first argument are tables."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.function = as_python(kernel)
        self.left = _MOST

    def __call__(self, tables: Any, *args: Any) -> Any:
        arrays = [x for x in args if isinstance(x, np.ndarray)]
        before = [x.copy() for x in arrays]
        try:
            with np.errstate(all="ignore"):
                return self.function(_as_objects(tables), *args)
        except ArithmeticError:  # Python refuses to divide by zero
            for x, old in zip(arrays, before, strict=True):
                x[...] = old
            return self.kernel(tables, *args)


def few(kernel: Any, n: int) -> Any:
    """Return what to call of a kernel for n poses; its first argument are tables, the others real.

    What it is depends on what is compiled already, its results do not.
    """
    if not isinstance(kernel, Kernel) or n > _MOST or not compiles_all() or kernel.ready:
        return kernel
    plain = _plain.get(kernel)
    if plain is None:
        plain = _plain[kernel] = _Plain(kernel)
    plain.left -= n
    return plain if plain.left >= 0 else kernel


def _as_objects(tables: Any) -> Any:
    """Return tables as plain objects; the latest ones are kept."""
    for known, objects in _tables:
        if known is tables:
            return objects
    objects = plain_tables(tables, exact=True)
    _tables.append((tables, objects))
    del _tables[:-_KEPT]
    return objects
