"""Compile kernels that first runs need: `python -m mechid.tasks.compile_kernels NAME …`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mechid.tape.ahead import compile_elsewhere
from mechid.tape.store import cache_folders

# For a process each, in the order in which they are needed. A designed motion needs those that run
# generated code; the others are for what comes after it, and give way.
FIRST = ("run_blocks", "follow_lanes")
GROUPS = ((*FIRST, "observe_batch", "observe_chunks"), ("solve_chunks",))


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
    from mechid.kinematics.engine.choice import engine
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
            "follow_lanes": lambda: solve_motion(k, y),
            "observe_chunks": lambda: observe_path(model, y),
            "observe_batch": lambda: observation_matrix(at_rest, model),
            "run_blocks": lambda: observation_matrix(at_rest, model),
        }
        for name in names:
            with engine("compiled" if name in FIRST else "tables"):
                calls[name]()
            yield name


def _give_way() -> None:
    """Let other processes go first: what is compiled next is needed later."""
    if hasattr(os, "nice"):
        os.nice(5)


if __name__ == "__main__":
    if sys.argv[1] not in FIRST:
        _give_way()
    for ready in compile_kernels(sys.argv[1:]):
        sys.stdout.write(f"{ready}\n")
        sys.stdout.flush()
        if ready not in FIRST[:-1]:
            _give_way()
