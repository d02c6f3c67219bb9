"""Compilation of kernels: each is optimised once, as a part of what Python calls.

Numba optimises a function and makes machine code of it, and does so again with its callers, level
by level. The closure is seven levels deep: half of the time went into machine code that nobody
called. Here a kernel that is called by a kernel is translated only, and its caller takes it over.
What Python calls is compiled by itself and kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import InlineOverloads, NativeLowering, NopythonRewrites
from numba.core.typing.templates import _OverloadFunctionTemplate
from numba.core.untyped_passes import InlineClosureLikes, WithLifting

from mechid.kinematics.kernels.cache import KernelCache
from mechid.kinematics.kernels.quicker import Shared, looked_up_once, seldom_collecting
from mechid.tape.ahead import wait_for
from mechid.tape.functions import telling

if TYPE_CHECKING:
    from mechid.kinematics.kernels.jit import Kernel

# Versions of Numba whose inner parts this file is known to fit. With others kernels are compiled in
# Numba's own way: the same code, after a longer wait.
_KNOWN = ("0.68.",)
# What is of no use to kernels that make no arrays, have no closures and call kernels only.
_NOT_NEEDED = (WithLifting, InlineClosureLikes, InlineOverloads, NopythonRewrites)
_DEFAULTS = {"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True}


def part_of(function: Any, options: dict[str, Any]) -> Any:
    """Return what kernels call of a function."""
    if not numba.__version__.startswith(_KNOWN):
        return numba.njit(cache=True, **options)(function)
    return _Part(function, options | {"no_cpython_wrapper": True})


def entry_of(kernel: Kernel) -> Any:
    """Return what Python calls of a kernel."""
    if not numba.__version__.startswith(_KNOWN):
        return kernel.part
    return _Entry(kernel.py_func, _DEFAULTS | kernel.options)


def is_ready(entry: Any) -> bool:
    """Tell whether code of an entry is in memory or on disk."""
    return not isinstance(entry, _Entry) or bool(entry.overloads) or entry._cache.kept()


class _Part(CPUDispatcher):
    """A function for kernels to call."""

    def __init__(
        self, function: Any, options: dict[str, Any], compiler: type[Compiler] | None = None
    ) -> None:
        pipeline = _PartCompiler if compiler is None else compiler
        super().__init__(function, targetoptions=_DEFAULTS | options, pipeline_class=pipeline)

    def add_overload(self, cres: Any) -> None:
        """Enter a translated function, without anything that Python could call."""
        self.overloads[tuple(cres.signature.args)] = cres


class _Entry(CPUDispatcher):
    """A function for Python to call, kept on disk; a line of the log tells what takes long."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions=options, pipeline_class=_EntryCompiler)
        self._cache = KernelCache(function)

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, unless it is on disk."""
        name = self.py_func.__name__
        with (
            telling(f"compiling {name} (kept for later runs)"),
            seldom_collecting(),
            looked_up_once(),
            _helpers.made(),
        ):
            wait_for(name)
            return super().compile(sig)


class _Flags(Flags):
    """Numba's flags, compared by what was set.

    Numba compares every value and default whenever it looks up the type of an operation, which took
    a quarter of the compilation.
    """

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._values)))

    def __eq__(self, other: object) -> bool:
        return self._values == getattr(other, "_values", None)


class _EntryCompiler(Compiler):
    def __init__(
        self,
        typingctx: Any,
        targetctx: Any,
        library: Any,
        args: Any,
        return_type: Any,
        flags: Any,
        locals: Any,
    ) -> None:
        super().__init__(typingctx, targetctx, library, args, return_type, _Flags(flags), locals)


class _Parts(JITCodeLibrary):
    """Code that is linked into its callers, and never made machine code of by itself."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Translation(NativeLowering):
    """Lowering to a library of parts, without anything that Python could call."""

    _name = "mechid_translation"

    def run_pass(self, state: Any) -> bool:
        state.flags.no_compile = True
        state.library = _Parts(state.targetctx.codegen(), state.func_id.func_qualname)
        super().run_pass(state)
        key = object()  # by which callers find the function, in place of its address
        state["cr"] = state["cr"]._replace(cfunc=key)
        state.targetctx.insert_user_function(key, state["cr"].fndesc, [state.library])
        return True


class _PartCompiler(_EntryCompiler):
    def define_pipelines(self) -> list[PassManager]:
        standard = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = PassManager("parts")
        for made, about in standard.passes:
            if self.needs(made):
                passes.add_pass(_Translation if made is NativeLowering else made, about)
        passes.finalize()
        return [passes]

    def needs(self, made: Any) -> bool:
        """Tell whether a pass is of use."""
        return bool(self.state.flags.nrt) or made not in _NOT_NEEDED


class _HelperCompiler(_PartCompiler):
    def needs(self, made: Any) -> bool:
        return True


def _translate_helpers() -> Callable[[], None]:
    """Let functions of Numba's own that kernels call be parts, too; return what takes it back."""
    template: Any = _OverloadFunctionTemplate
    before = template._get_jit_decorator

    def back() -> None:
        template._get_jit_decorator = before

    def decorator(self: Any) -> Callable[..., Any]:
        return lambda **options: lambda function: _Part(function, options, _HelperCompiler)

    template._get_jit_decorator = decorator
    return back


_helpers = Shared(_translate_helpers)
