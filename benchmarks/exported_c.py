"""Time per call of exported C along a path sampled at 1 kHz; prints a table for the documentation.

    python benchmarks/exported_c.py [MODEL …]

Every file is compiled with `gcc -O2`. Times are of single calls, on whatever else the machine does:
the median, and the value that one call in a hundred exceeds.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from cases import reachable_path

import mechid
from mechid.kinematics.model import kinematic_model

MODELS = ("four_bar", "tx40", "sla_suspension", "stewart_platform", "pushrod_suspension")
SAMPLES = 2000
MAIN = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "{name}.h"

int main(int argc, char **argv)
{{
    static double path[{samples}][3 * {NAME}_N];
    double tau[{NAME}_N];
    struct timespec before, after;
    {name}_state state;
    FILE *file = fopen(argv[argc - 1], "rb");
    int k;
    if (!file || fread(path, sizeof path, 1, file) != 1)
        return 1;
    {name}_reset(&state);
    for (k = 0; k < {samples}; ++k) {{
        const double *y = path[k];
        clock_gettime(CLOCK_MONOTONIC, &before);
        if ({name}_forces(&state, &{name}_values, y, y + {NAME}_N, y + 2 * {NAME}_N, tau))
            return 2;
        clock_gettime(CLOCK_MONOTONIC, &after);
        printf("%ld\\n", (after.tv_sec - before.tv_sec) * 1000000000L
            + after.tv_nsec - before.tv_nsec);
    }}
    return 0;
}}
"""


def times(name: str) -> tuple[float, np.ndarray, int]:
    """Return the time of compilation (s), those of the calls (s), and the size of the code."""
    model = kinematic_model(mechid.load(name))
    path = reachable_path(model, SAMPLES)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        mechid.export(name, "c", here)
        rows = np.concatenate([path.y, path.yd, path.ydd], axis=1)
        (here / "path.bin").write_bytes(np.ascontiguousarray(rows).tobytes())
        words = {"name": name, "NAME": name.upper(), "samples": SAMPLES}
        (here / "main.c").write_text(MAIN.format(**words))
        start = perf_counter()
        files = [str(here / x) for x in ("main.c", f"{name}.c")]
        subprocess.run(
            ["gcc", "-std=c99", "-O2", *files, "-o", str(here / "run"), "-lm"], check=True
        )
        compiled = perf_counter() - start
        command = [str(here / "run"), str(here / "path.bin")]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        sizes = subprocess.run(
            ["size", str(here / "run")], check=True, capture_output=True, text=True
        )
        return compiled, np.array(told.split(), float) * 1e-9, int(sizes.stdout.split()[6])


def main() -> None:
    """Print the table."""
    print("| model | coordinates | median | 1 in 100 takes longer than | code | compiled in |")
    print("|---|---|---|---|---|---|")
    for name in sys.argv[1:] or MODELS:
        compiled, calls, size = times(name)
        n = len(mechid.load(name).coordinates)
        median, slow = np.quantile(calls, [0.5, 0.99]) * 1e6
        print(
            f"| {name} | {n} | {median:.2g} µs | {slow:.2g} µs | {size / 1024:.0f} KiB "
            f"| {compiled:.1f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main()
