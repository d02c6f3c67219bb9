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

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import observe_path_blocks
from mechid.modelfile import load


def main() -> None:
    """Stream a short motion, which loads everything, then one of a tenth, then the whole one."""
    model, n = dynamic_model(load(sys.argv[1])), int(sys.argv[2])
    stream(model, 10)
    found = {"ready": peak(), "samples": n}
    stream(model, n // 10)
    found["tenth"] = peak()
    start = perf_counter()
    found["whole_W"] = stream(model, n)
    found["seconds"] = perf_counter() - start
    found["peak"] = peak()
    print(json.dumps(found))


def stream(model: DynamicModel, n: int) -> int:
    """Run through the observation matrix of a path, and return the bytes of all of it."""
    p = cases.path(model.kinematics, n)
    blocks = observe_path_blocks(model, p.y, p.yd, p.ydd, time=p.time)
    return sum(block.W.nbytes for _, block in blocks)


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
