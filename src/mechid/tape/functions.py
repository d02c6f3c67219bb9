"""Programs as functions in memory that kernels can call."""

from __future__ import annotations

import ctypes
import ctypes.util
import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from threading import Timer
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from mechid.tape.emit_llvm import LIBRARY, function, prelude
from mechid.tape.program import Program
from mechid.tape.rows import NAME as WRITER
from mechid.tape.rows import row_writer
from mechid.tape.store import stored

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


TELL_AFTER = 2.0  # s without a word


@contextmanager
def telling(words: str) -> Iterator[None]:
    """Log what is being done inside the block, if it takes longer than a moment."""
    timer = Timer(TELL_AFTER, logging.getLogger("mechid").info, [words])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


# What the emitted code depends on besides the program; raise it with every change of the emitter.
_EMITTER = 3
_ALIGNMENT = 64  # bytes: a cache line, and the longest vector


@dataclass(frozen=True)
class Functions:
    """Functions `void (double *state, double *memory)` by name, as addresses.

    Attributes
    ----------
    lanes : int
    addresses : mapping of str to int
        With more than one lane, that of `write_rows`, too.
    memory : int
        Numbers of memory that the functions need, for all lanes.
    """

    lanes: int
    addresses: Mapping[str, int]
    memory: int
    loaded: Loaded  # keeps the code where it is


def compiled(programs: Mapping[str, Program], lanes: int | None = None) -> Functions:
    """Return programs as functions for the processor at hand, from disk if they are there."""
    lanes = host_lanes() if lanes is None else lanes
    emitted = {name: function(p, name, lanes) for name, p in programs.items()}
    text = prelude(lanes) + "".join(e.text for e in emitted.values())
    names = list(programs)
    if lanes > 1:
        text += row_writer(lanes)
        names.append(WRITER)
    digest = hashlib.sha256(text.encode()).hexdigest()
    key = f"{_EMITTER} {llvmlite.__version__} {host()} {digest}"

    def make() -> bytes:
        with telling("generating code for this mechanism (kept for later runs)"):
            return compile_object(text)

    loaded = Loaded(stored(key, make), names)
    memory = lanes * max(e.memory for e in emitted.values())
    return Functions(lanes, {name: loaded.address(name) for name in names}, memory, loaded)


def new_state(n_slots: int, lanes: int, constants: np.ndarray) -> np.ndarray:
    """Return a state of zeros with `constants` in the slots behind all others, in every lane."""
    state = aligned((n_slots + constants.size) * lanes)
    state[n_slots * lanes :] = np.repeat(constants, lanes)
    return state


def aligned(n: int) -> np.ndarray:
    """Return zeros (n,) that begin at a cache line."""
    whole = np.zeros(n + _ALIGNMENT // 8)
    first = (-whole.__array_interface__["data"][0] % _ALIGNMENT) // 8
    return whole[first : first + n]
