"""Kernels as plain Python, whatever they call included, so that they run on recording numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from mechid.tape.number import Number, larger, smaller

# Entries of a table below this part of its largest one are rounding of zero.
_ROUNDING = 4.0 * np.finfo(float).eps


def uncompiled(kernel: Any, instead: Mapping[Any, Callable[..., Any]]) -> Any:
    """Return a kernel as a Python function, and likewise the kernels that it calls.

    `instead` are functions to put in the place of some kernels.
    """
    return _Copies(dict(instead), {"np": _Functions, "min": smaller, "max": larger}).of(kernel)


def as_python(kernel: Any) -> Any:
    """Return a kernel as a Python function of plain numbers, and likewise those that it calls."""
    return _Copies({}, {"np": _Functions}).of(kernel)


class _Copies:
    def __init__(self, made: dict[Any, Callable[..., Any]], names: Mapping[str, Any]) -> None:
        self.made, self.names = made, names
        self.modules: dict[int, dict[str, Any]] = {}

    def of(self, kernel: Any) -> Callable[..., Any]:
        if kernel in self.made:
            return self.made[kernel]
        function = getattr(kernel, "py_func", kernel)
        names = self.modules.get(id(function.__globals__))
        if names is None:
            # Entered before it is filled: kernels of one module call each other.
            names = self.modules[id(function.__globals__)] = dict(function.__globals__)
            names |= self.names
            for name, x in function.__globals__.items():
                if hasattr(x, "py_func") or (isinstance(x, FunctionType) and x in self.made):
                    names[name] = self.of(x)
        copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        self.made[kernel] = copy
        return copy


def _function(name: str, plain: Callable[..., float]) -> Callable[..., Any]:
    def call(x: Any, *others: Any) -> Any:
        if isinstance(x, Number):
            return getattr(x, name)(*others)
        if others and isinstance(others[0], Number):
            return others[0].recorder.apply("atan2", x, *others)
        return plain(x, *others)

    return staticmethod(call)


class _Functions:
    """What kernels take from NumPy, for recorded and for plain numbers."""

    sin = _function("sin", math.sin)
    cos = _function("cos", math.cos)
    sqrt = _function("sqrt", math.sqrt)
    exp = _function("exp", math.exp)
    tanh = _function("tanh", math.tanh)
    arctan2 = _function("arctan2", math.atan2)
    zeros = staticmethod(np.zeros)
    arange = staticmethod(np.arange)
    int64 = np.int64
    inf = np.inf


class Rows(list[Any]):
    """Records as plain objects: fields of record arrays take microseconds to read from Python."""

    @property
    def size(self) -> int:
        """Number of records."""
        return len(self)


def plain_tables(tables: Any, *, exact: bool = False) -> Any:
    """Return a tuple of tables whose record arrays are lists of objects.

    Arrays hold Python's numbers; unless they are wanted as they are (`exact`), what is zero but for
    rounding is zero, and drops out.
    """
    return type(tables)(*(_plain(x, exact) for x in tables))


def _plain(x: Any, exact: bool) -> Any:
    if not isinstance(x, np.ndarray):
        return x
    if x.dtype.names:
        names = x.dtype.names
        return Rows(SimpleNamespace(**dict(zip(names, r, strict=True))) for r in x.tolist())
    if x.dtype == float and exact:
        return x.astype(object)
    if x.dtype == float:
        largest = np.abs(x).max(initial=0.0)
        return np.where(np.abs(x) > _ROUNDING * largest, x, 0.0).astype(object)
    return x
