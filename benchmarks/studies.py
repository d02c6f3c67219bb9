"""Speed of studies: identifications per second against a plain loop, and what a cell costs besides.

    python benchmarks/studies.py                 # a first look
    python benchmarks/studies.py --full --docs   # 10 000 identifications; writes docs/benchmarks.md

The machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from report import digits, load_average, milli, replace_between, table

import mechid
from mechid.studies import cells as cells_module
from mechid.studies import registry
from mechid.studies.study import Study, loads_study

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
MOTION = {"random": 20, "starts": 0, "base": "T1"}
RATE, SECONDS = 50, 10
EMPTY = 10_000  # cells of the study that computes nothing
ESTIMATORS = ("weighted", "map")
TEXT = """\
title: Identifications of the suspension
experiment: identification
settings:
  model: sla_suspension
  base: T1
  motion: {{random: 20, starts: 0, base: T1}}
  rate: {rate}
  seconds: {seconds}
  noise: 5%
  cad_error: 20%
axes:
  estimator: [{estimators}]
  seed: {{count: {seeds}}}
"""


def study(cells: int) -> Study:
    """Return a study of so many identifications."""
    text = TEXT.format(
        rate=RATE,
        seconds=SECONDS,
        estimators=", ".join(ESTIMATORS),
        seeds=cells // len(ESTIMATORS),
    )
    return loads_study(text, Path("speed.yaml"))


def plain_loop(count: int) -> tuple[float, float]:
    """Return wall and CPU seconds of an identification in a loop over `synthesise`, `identify`."""
    motion = replace(mechid.excite("sla_suspension", **MOTION).trajectory, duration=SECONDS)
    for seed in range(count + 1):
        if seed == 1:  # what is compiled is compiled
            begin, used = perf_counter(), cpu()
        for estimator in ESTIMATORS:
            data = mechid.synthesise(
                "sla_suspension", motion, noise="5%", cad_error="20%", seed=seed, rate=RATE
            )
            mechid.identify("sla_suspension", data, estimator=estimator, base="T1")
    n = count * len(ESTIMATORS)
    return (perf_counter() - begin) / n, (cpu() - used) / n


def overhead(workers: int, cells: int) -> tuple[float, float]:
    """Return CPU seconds of a study of two empty cells, and of each of many more."""
    known = {**registry.EXPERIMENTS, "null": "null_experiment"}
    registry.EXPERIMENTS = cells_module.EXPERIMENTS = known
    used = []
    for n in (2, 2, cells):  # the first one loads libraries
        text = f"title: Empty\nexperiment: 'null'\naxes: {{seed: {{count: {n}}}}}"
        begin = cpu()
        for _ in runs(loads_study(text, Path("empty.yaml")), [workers]):
            used.append(cpu() - begin)
    return used[1], (used[2] - used[1]) / (cells - 2)


def cpu() -> float:
    """Return the CPU seconds of this process and of those that it has waited for."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, whose))


def runs(made: Study, workers: Sequence[int]) -> Iterator[tuple[int, float, float]]:
    """Yield workers, wall seconds and CPU seconds of a whole study."""
    for n in workers:
        with tempfile.TemporaryDirectory() as folder:
            begin, used = perf_counter(), cpu()
            mechid.run_study(made, Path(folder) / "out", workers=n)
            yield n, perf_counter() - begin, cpu() - used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--full", action="store_true", help="10 000 identifications")
    parser.add_argument("--loops", type=int, default=5, help="seeds of the plain loop")
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--docs", action="store_true", help="write the page")
    options = parser.parse_args()
    cells = 10_000 if options.full else options.cells
    made = study(cells)
    # On a machine with other work, only the time of processors means something.
    busy = load_average() > (os.cpu_count() or 1)
    loop = plain_loop(options.loops)
    done = [("loop over `synthesise` and `identify`", 1, *loop)]
    done += [(name(n), cells, wall, used) for n, wall, used in runs(made, options.workers)]
    rows = [
        (
            label,
            milli(used / n),
            digits(n / used),
            digits(loop[1] * n / used),
            "-" if busy else digits(n / wall),
            "-" if busy else digits(loop[0] * n / wall),
        )
        for label, n, wall, used in done
    ]
    count = options.loops * len(ESTIMATORS)
    text = f"""{cells} identifications of `sla_suspension` (83 base parameters, {RATE * SECONDS}
samples of 5 forces; {" and ".join(ESTIMATORS)}); {count} of them in the plain loop:

"""
    times = ("CPU ms each", "per CPU second", "times the loop", "per second", "times the loop")
    text += table(("", *times), rows)
    if busy:
        text += "\n\n(The machine was busy, so that only the time of its processors was measured.)"
    text += f"\n\nA study of {EMPTY} cells that compute nothing, CPU time:\n\n"
    spent = [(n, *overhead(n, EMPTY)) for n in options.workers]
    text += table(
        ("", "start and end, s", "per cell, ms"),
        [(name(n), digits(start), milli(each)) for n, start, each in spent],
    )
    print(text)
    print(f"\nload average {load_average():.1f}")
    if options.docs:
        replace_between(PAGE, "studies", text)


def name(workers: int) -> str:
    """Say how a study was run."""
    words = {0: "in this process", 1: "1 worker"}
    return f"study, {words.get(workers, f'{workers} workers')}"


if __name__ == "__main__":
    main()
