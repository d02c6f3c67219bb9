"""Machine code from LLVM assembly, for the processor it runs on."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Any

import llvmlite.binding as llvm

from mechid.tape.emit_llvm import LIBRARY

_numbers = count()


def host_lanes() -> int:
    """Return how many numbers a vector register of this processor holds."""
    features = llvm.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx2") else 2


def host() -> str:
    """Return what distinguishes processors that need code of their own."""
    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def compile_object(assembly: str) -> bytes:
    """Return the object code of a module."""
    target = _target()
    module = llvm.parse_assembly(assembly)
    module.verify()
    return bytes(target.emit_object(module))


class Loaded:
    """Object code in memory; it stays there as long as this does."""

    def __init__(self, code: bytes, names: Sequence[str]) -> None:
        library = llvm.JITLibraryBuilder().add_object_img(code)
        for name, address in _library_functions().items():
            library.import_symbol(name, address)
        for name in names:
            library.export_symbol(name)
        self._tracker = library.link(_linker(), f"tape_{next(_numbers)}")

    def address(self, name: str) -> int:
        """Return where a function stands."""
        return int(self._tracker[name])


@cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1
    )


@cache
def _linker() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.create_lljit_compiler()


@cache
def _library_functions() -> dict[str, int]:
    library = ctypes.CDLL(ctypes.util.find_library("m") or ctypes.util.find_library("c"))
    return {
        name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
        for name in LIBRARY.values()
    }
