"""Compile kernels that first runs need: `python -m mechid.tasks.compile_kernels NAME …`."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

from mechid.tape.ahead import compile_elsewhere
from mechid.tape.store import cache_folders

# For a process each; the others that a first run needs take about as long.
GROUPS = (("solve_chunks",), ("observe_frames", "observe_batch"))


def compile_ahead() -> bool:
    """Start to compile in other processes if no kernels are kept, and tell whether that is so."""
    folders = cache_folders(Path(__file__).parents[1] / "__pycache__")
    if any(any(folder.glob("*.nbc")) for folder in folders):
        return False
    compile_elsewhere("mechid.tasks.compile_kernels", GROUPS)
    return True


def compile_kernels(names: Collection[str]) -> None:
    """Compile some kernels for the types that all mechanisms have; others run uncompiled."""
    import numpy as np

    from mechid.dynamics.compile import dynamic_model
    from mechid.dynamics.regressor import observation_matrix
    from mechid.kinematics.kernels.compiling import compiling_only
    from mechid.kinematics.motion import Motion, solve_motion
    from mechid.modelfile import load

    with compiling_only(names):
        model = dynamic_model(load("pendulum"))
        k = model.kinematics
        if "solve_chunks" in names:
            solve_motion(k, k.home_y[None])
        y, v = np.zeros((1, k.n_independent)), np.zeros((1, k.compiled.n_v))
        at_rest = Motion(k, None, y, y, y, k.home_q[None], v, v, ordered=False)
        observation_matrix(at_rest, model)
        at_rest.bodies()


if __name__ == "__main__":
    compile_kernels(sys.argv[1:])
