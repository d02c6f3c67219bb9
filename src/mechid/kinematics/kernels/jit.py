"""How kernels are compiled, in one place; Numba is loaded when the first compiled one is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial, update_wrapper, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_only: Collection[str] | None = None  # kernels that are compiled; None: all


@contextmanager
def compiling_only(names: Collection[str]) -> Iterator[None]:
    """Run all kernels but some uncompiled, for a process that only compiles these."""
    global _only
    before, _only = _only, names
    try:
        yield
    finally:
        _only = before


# A block in which no kernel is compiled, for what takes less time than loading Numba.
interpreted = partial(compiling_only, ())


def is_interpreted() -> bool:
    """Tell whether no kernel is compiled at present."""
    return disabled() or (_only is not None and not _only)


def compiles_all() -> bool:
    """Tell whether kernels are compiled when they are called."""
    return _only is None


def kept_models(function: Callable[P, R]) -> Callable[P, R]:
    """Keep the latest results; apart those of interpreted kernels, which differ by rounding."""

    @lru_cache(maxsize=32)
    def kept(interpreted: bool, *args: P.args, **words: P.kwargs) -> R:
        return function(*args, **words)

    @wraps(function)
    def call(*args: P.args, **words: P.kwargs) -> R:
        return kept(is_interpreted(), *args, **words)  # type: ignore[arg-type]

    call.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
    return call


def disabled() -> bool:
    """Tell whether Numba was told to compile nothing, without loading it."""
    numba = sys.modules.get("numba")
    if numba is None:
        return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    return bool(numba.config.DISABLE_JIT)


class Kernel:
    """A function for kernels and for Python to call."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.options = options
        self._ready = False

    @cached_property
    def part(self) -> Any:
        """What kernels call."""
        from mechid.kinematics.kernels.compiling import part_of

        return part_of(self.py_func, self.options)

    @cached_property
    def entry(self) -> Any:
        """What Python calls."""
        from mechid.kinematics.kernels.compiling import entry_of

        return entry_of(self)

    @property
    def ready(self) -> bool:
        """Whether it was compiled before, for any types."""
        if not self._ready:
            from mechid.kinematics.kernels.compiling import is_ready

            self._ready = is_ready(self.entry)
        return self._ready

    @property
    def _numba_type_(self) -> Any:
        """The type that Numba asks for where a kernel calls this one."""
        return self.part._numba_type_

    def __call__(self, *args: Any) -> Any:
        """Run what Python calls."""
        if _only is not None and self.py_func.__name__ not in _only:
            return self.py_func(*args)
        return self.entry(*args)


def _kernel(options: dict[str, Any], function: Any) -> Any:
    return function if disabled() else Kernel(function, options)


# Divisions follow IEEE rules (a singular matrix gives inf or nan, which the callers check) instead
# of testing every divisor.
_options: dict[str, Any] = {"error_model": "numpy"}

# Kernels that make no arrays do without Numba's reference counting: counting the two dozen arrays
# of the tables at every call took ten times as long as the arithmetic (half a microsecond a call).
_plain: dict[str, Any] = _options | {"_nrt": False}
# (Not inlined unless it says so: else it would depend on which of its callers is compiled first.)
kernel: Any = partial(_kernel, _plain | {"forceinline": False})
# The tables are passed by value, two kilobytes a call: what is called for every piece of every
# sample becomes part of its caller.
inlined_kernel: Any = partial(_kernel, _plain | {"forceinline": True})
# Kernels that run over many samples make their scratch arrays themselves, and let other threads run
# meanwhile (see `threads.py`).
allocating_kernel: Any = partial(_kernel, _options | {"nogil": True})
