"""What designing a motion gains, and which criterion tells the later prediction error.

`python benchmarks/excitation.py` prints the study; `--docs` writes
docs/reference/excitation-study.md; `--quick` takes fewer motions.
"""

from __future__ import annotations

import argparse
import os
import pickle
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial, reduce
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from excitation_cases import FULL, PARTS, QUICK, Size
from excitation_page import Study, page
from excitation_ranking import DESIGNED, Drawn, Ranking, designs, drawn
from excitation_sets import (
    OTHERS,
    SETS,
    Random,
    designed_set,
    other_mechanism,
    rounding_rows,
)

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "excitation-study.md"
RANKED = ("sla_suspension", "five_bar")
Job = Callable[[], Any]


def jobs(size: Size) -> dict[tuple[str, ...], Job]:
    """Return everything that is computed, the longest first."""
    found: dict[tuple[str, ...], Job] = {
        ("drawn", spec, str(k)): partial(drawn, spec, k, size)
        for spec in RANKED
        for k in range(PARTS)
    }
    found |= {("set", name): partial(designed_set, name, size) for name in SETS}
    found |= {("other", spec): partial(other_mechanism, spec, size) for spec in OTHERS}
    for spec in RANKED:
        found |= {("design", spec, name): partial(designs, spec, name, size) for name in DESIGNED}
    found["rounding",] = rounding_rows
    return found


def study(size: Size, processes: int) -> Study:
    """Compute everything, in several processes."""
    began = time.perf_counter()
    # One thread each: numerical libraries that are loaded in a process read it there.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    results: dict[tuple[str, ...], Any] = {}
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        running = {key: pool.submit(job) for key, job in jobs(size).items()}
        for key, future in running.items():
            results[key] = future.result()
            print(f"[{time.perf_counter() - began:.0f} s] {' '.join(key)}", flush=True)
    rankings, sets = [], {}
    for spec in RANKED:
        parts = [results["drawn", spec, str(k)] for k in range(PARTS)]
        all_drawn = reduce(Drawn.with_more, [motions for motions, _ in parts])
        made = {name: results["design", spec, name] for name in DESIGNED}
        rankings.append(Ranking(spec, all_drawn, made))
        sets |= {n: reduce(Random.with_more, [part[n] for _, part in parts]) for n in parts[0][1]}
    return Study(
        size,
        rankings[0],
        rankings[1],
        {name: (sets[name], results["set", name]) for name in SETS},
        {spec: results["other", spec] for spec in OTHERS},
        results["rounding",],
    )


def main() -> None:
    """Print or write the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--quick", action="store_true", help="fewer motions, to see that it runs")
    parser.add_argument(
        "--keep", type=Path, help="keep the results in this file, or take them from it"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.keep and options.keep.exists():
        found: Study = pickle.loads(options.keep.read_bytes())
    else:
        found = study(QUICK if options.quick else FULL, options.processes)
        if options.keep:
            options.keep.write_bytes(pickle.dumps(found))
    text = page(found)
    print(text)
    if options.docs:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
