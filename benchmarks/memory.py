"""Memory of a long motion, in a process of its own: print peaks of resident memory as JSON.

python benchmarks/memory.py model samples
"""

from __future__ import annotations

import json
import platform
import resource
import sys
from pathlib import Path
from time import perf_counter

import cases

from mechid.dynamics.regressor import observation_blocks
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.modelfile import load


def main() -> None:
    """Stream a short motion, which loads everything, then one of a tenth, then the whole one."""
    model, n = kinematic_model(load(sys.argv[1])), int(sys.argv[2])
    stream(model, 10)
    found = {"ready": peak(), "samples": n}
    stream(model, n // 10)
    found["tenth"] = peak()
    start = perf_counter()
    found["whole_W"] = stream(model, n)
    found["seconds"] = perf_counter() - start
    found["peak"] = peak()
    print(json.dumps(found))


def stream(model: KinematicModel, n: int) -> int:
    """Solve a motion, run through its observation matrix, and return the bytes of all of it."""
    motion = cases.path(model, n).solve(model)
    return sum(block.W.nbytes for _, block in observation_blocks(motion))


def peak() -> int:
    """Return the largest resident memory of this process so far, in bytes.

    Linux hands the peak of `getrusage` on from the process that started this one, so there the
    peak of this program alone is read from /proc.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM"):
                return 1024 * int(line.split()[1])
    unit = 1 if platform.system() == "Darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
