"""Exported C, compiled and called: arrays of samples in, forces and return codes out."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mechid.exporting.c_source import c_texts
from mechid.exporting.code import code_of
from mechid.exporting.content import Content

Array = npt.NDArray[np.float64]
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


class Compiled:
    """A shared library of an exported mechanism, and one state."""

    def __init__(self, content: Content, folder: Path, *flags: str, motion: bool = False) -> None:
        self.code = code_of(content, motion=motion)
        self.name, self.n = self.code.words["name"], self.code.words["n"]
        self.p, self.n_q = self.code.words["p"], self.code.words["n_q"]
        header, source = c_texts(self.code, any("OBSERVATION" in x for x in flags))
        (folder / f"{self.name}.h").write_text(header, encoding="utf-8")
        path = folder / f"{self.name}.c"
        path.write_text(source, encoding="utf-8")
        library = folder / f"{self.name}.so"
        command = ["gcc", "-std=c99", "-O0", *WARNINGS, *flags, "-fPIC", "-shared", str(path)]
        subprocess.run([*command, "-o", str(library), "-lm"], check=True)
        self.library = ctypes.CDLL(str(library))
        self.state = np.zeros(self.n_q + self.n)
        self.phi = np.ctypeslib.as_array(
            (ctypes.c_double * self.p).in_dll(self.library, f"{self.name}_values")
        ).copy()
        self.call("reset", self.state)

    def call(self, function: str, *arrays: Array | None) -> int:
        found = getattr(self.library, f"{self.name}_{function}")
        return int(
            found(*(None if x is None else x.ctypes.data_as(ctypes.c_void_p) for x in arrays))
        )

    def forces(self, y: Array, yd: Array, ydd: Array) -> tuple[Array, list[int]]:
        """Return τ (N, n_i) and the return code of every sample, one after the other."""
        tau = np.full(y.shape, np.nan)
        samples = zip(*map(np.ascontiguousarray, (y, yd, ydd)), tau, strict=True)
        return tau, [self.call("forces", self.state, self.phi, *x) for x in samples]
