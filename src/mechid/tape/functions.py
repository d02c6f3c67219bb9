"""Programs as functions in memory that kernels can call."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import llvmlite
import numpy as np

from mechid.tape.emit_llvm import function, prelude
from mechid.tape.machine import Loaded, compile_object, host, host_lanes
from mechid.tape.program import Program
from mechid.tape.rows import NAME as WRITER
from mechid.tape.rows import row_writer
from mechid.tape.store import stored
from mechid.tape.telling import telling

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
