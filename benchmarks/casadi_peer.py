"""The same observation matrix from CasADi: written as formulas, generated as C, compiled by gcc.

What a sample needs are three functions without loops and branches (`casadi_formulas.py`); a loop in
C around them follows the samples (`casadi_batch.c`), on one thread, nothing between two samples is
Python. It is tuned as far as formulas allow: constants are folded, common terms shared, linear
systems eliminated symbolically with their zeros left out.

The price of that: pivots are chosen once, at the home pose, and it takes seconds to compile one
mechanism. mechid chooses pivots in every pose, finds out when a pose is singular or a branch was
left, and compiles nothing; this peer does not.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

import casadi as ca
import numpy as np
from casadi_formulas import functions

from mechid.dynamics.compile import DynamicModel
from mechid.kinematics.tables import Floats

LOOP = Path(__file__).resolve().parent / "casadi_batch.c"
COMPILER = ("gcc", "-O3", "-march=native", "-shared", "-fPIC")
NOT_COUNTED = (ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_PARAMETER)
DOUBLES = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")


class CompiledPeer:
    """Inertial columns of the observation matrix of one mechanism, as compiled code.

    `formulas` and `compilation` are the times it took to make it (s).
    """

    def __init__(self, model: DynamicModel) -> None:
        start = perf_counter()
        self.home = model.kinematics.home_q.copy()
        self.shape = (model.kinematics.n_independent, 10 * len(model.mechanism.bodies))
        self.functions = functions(model)
        self.formulas = perf_counter() - start
        self.library = build(self.functions)
        self.compilation = perf_counter() - start - self.formulas
        self.steps = 0.0  # of Newton's method per sample of the last call

    def observe(
        self, y: Floats, yd: Floats, ydd: Floats, dt: float, out: Floats | None = None
    ) -> Floats:
        """Return W (N, n_i, 10 n_b) of samples at a constant distance dt in time, or fill `out`."""
        n, n_i = y.shape
        W = np.empty((n, *self.shape)) if out is None else out
        sizes = (n, self.home.size, n_i, self.shape[0] * self.shape[1])
        steps = self.library.observe(*sizes, dt, self.home, y, yd, ydd, W)
        if steps < 0:
            raise ArithmeticError(f"sample {-1 - steps}: Newton's method does not converge")
        self.steps = steps / n
        return W

    def operations(self) -> dict[str, int]:
        """Return the number of operations of one call of each function."""
        return {f.name(): operations(f) for f in self.functions}


def operations(f: ca.Function) -> int:
    """Return the number of operations on numbers; a root, a sine or a quotient counts as one."""
    kinds = (f.instruction_id(k) for k in range(f.n_instructions()))
    return sum(kind not in NOT_COUNTED for kind in kinds)


def build(parts: tuple[ca.Function, ...]) -> ctypes.CDLL:
    """Generate C, compile it together with the loop over samples, and load it."""
    with tempfile.TemporaryDirectory() as folder:
        generator = ca.CodeGenerator("casadi_parts.c")
        for part in parts:
            generator.add(part)
        generator.generate(f"{folder}/")
        target = f"{folder}/peer.so"
        subprocess.run([*COMPILER, f"-I{folder}", str(LOOP), "-o", target, "-lm"], check=True)
        library = ctypes.CDLL(target)  # stays loaded when the file is gone
    library.observe.argtypes = [*[ctypes.c_long] * 4, ctypes.c_double, *[DOUBLES] * 5]
    library.observe.restype = ctypes.c_long
    return library
