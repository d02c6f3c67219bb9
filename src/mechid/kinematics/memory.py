"""Memory of large results, used again when nobody refers to the result any more.

The system clears every page before it hands it out, which takes as long as to compute an
observation matrix into it. The C library gives memory of this size back to the system at once.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from dataclasses import dataclass, field

import numpy as np

from mechid.kinematics.tables import Floats

# Smaller memory is kept by the C library (bytes).
SMALLEST = 1 << 20
# What is kept at most, in use or not (bytes).
MOST = 256 << 20
# Memory serves for a result that leaves no more than this part of it idle.
MOST_IDLE = 0.2


class _Lease:
    """A result's right to some memory: the base of its array, and through it of all its views."""

    def __init__(self, memory: Floats, n: int) -> None:
        self.memory = memory[:n]
        self.__array_interface__ = self.memory.__array_interface__


@dataclass(frozen=True)
class Pool:
    """Memory that results have or had, oldest first, each with the lease that it is out on.

    Leases are held weakly: when the last view of a result is gone, so is its lease, and nobody has
    to be told.
    """

    smallest: int = SMALLEST
    most: int = MOST
    _kept: list[tuple[Floats, weakref.ref[_Lease]]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def kept(self) -> int:
        """How many bytes are kept, in use or not."""
        return sum(memory.nbytes for memory, _ in self._kept)

    def empty(self, shape: tuple[int, ...]) -> Floats | None:
        """Return an array, its numbers undefined; None for a size that is not worth it."""
        n = math.prod(shape)
        if not self.smallest <= 8 * n <= self.most:
            return None
        with self._lock:
            memory = self._take(n)
            lease = _Lease(memory, n)
            self._kept.append((memory, weakref.ref(lease)))
            while self.kept > self.most:
                del self._kept[0]  # if it is in use, its lease keeps it
        return np.asarray(lease).reshape(shape)

    def _take(self, n: int) -> Floats:
        """Return memory for n numbers that nobody uses: the smallest that fits, or a new one."""
        fitting = [
            (memory.size, i)
            for i, (memory, lease) in enumerate(self._kept)
            if (1.0 - MOST_IDLE) * memory.size <= n <= memory.size and lease() is None
        ]
        if fitting:
            return self._kept.pop(min(fitting)[1])[0]
        try:
            return np.empty(n)
        except MemoryError:
            self._kept.clear()
            return np.empty(n)


_pool = Pool()


def _forget() -> None:
    """Begin anew: in a copy of a process, pages are copied when they are written.

    Nothing would be gained, and the lock may be one that a thread of the other process holds.
    """
    global _pool
    _pool = Pool()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget)


def empty(shape: tuple[int, ...]) -> Floats:
    """Return an array like `numpy.empty`, on memory of an earlier result where there is one."""
    found = _pool.empty(shape)
    return np.empty(shape) if found is None else found


def zeros(shape: tuple[int, ...]) -> Floats:
    """Return an array like `numpy.zeros`, on memory of an earlier result where there is one."""
    found = _pool.empty(shape)
    if found is None:
        return np.zeros(shape)
    found.fill(0.0)
    return found
