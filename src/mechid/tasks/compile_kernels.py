"""Compile kernels that first runs need: `python -m mechid.tasks.compile_kernels NAME …`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mechid.tape.ahead import compile_elsewhere
from mechid.tape.store import cache_folders

# For a process each, in the order in which they are needed; the others that a first run needs take
# about as long. The last one is needed after the first motion is designed.
GROUPS = (("solve_chunks",), ("observe_frames", "observe_batch", "observe_chunks"))


def compile_ahead() -> bool:
    """Start to compile in other processes if no kernels are kept, and tell whether that is so."""
    folders = cache_folders(Path(__file__).parents[1] / "__pycache__")
    if any(any(folder.glob("*.nbc")) for folder in folders):
        return False
    compile_elsewhere("mechid.tasks.compile_kernels", GROUPS)
    return True


def compile_kernels(names: Sequence[str]) -> Iterator[str]:
    """Compile some kernels for the types that all mechanisms have; others run uncompiled.

    The name of each is yielded when it is ready.
    """
    import numpy as np

    from mechid.dynamics.compile import dynamic_model
    from mechid.dynamics.regressor import observation_matrix, observe_path
    from mechid.kinematics.kernels.jit import compiling_only
    from mechid.kinematics.motion import Motion, solve_motion
    from mechid.modelfile import load

    with compiling_only(names):
        model = dynamic_model(load("pendulum"))
        k = model.kinematics
        y, q, v = k.home_y[None], k.home_q[None], np.zeros((1, k.compiled.n_v))
        at_rest = Motion(k, None, y, 0 * y, 0 * y, q, v, v, ordered=False)
        calls: dict[str, Callable[[], object]] = {
            "solve_chunks": lambda: solve_motion(k, y),
            "observe_chunks": lambda: observe_path(model, y),
            "observe_frames": at_rest.bodies,
            "observe_batch": lambda: observation_matrix(at_rest, model),
        }
        for name in names:
            calls[name]()
            yield name


if __name__ == "__main__":
    for ready in compile_kernels(sys.argv[1:]):
        sys.stdout.write(f"{ready}\n")
        sys.stdout.flush()
        if hasattr(os, "nice"):
            os.nice(5)  # the next one is needed later: other processes go first
