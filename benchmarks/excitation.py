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
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from excitation_cases import FULL, QUICK, Size
from excitation_page import Study, page
from excitation_ranking import DESIGNED, Ranking, designs, drawn
from excitation_sets import (
    OTHERS,
    SETS,
    designed_set,
    other_mechanism,
    random_sets,
    rounding_rows,
)

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "excitation-study.md"
RANKED = ("sla_suspension", "five_bar")
Job = Callable[[], Any]


def jobs(size: Size) -> dict[tuple[str, ...], Job]:
    """Return everything that is computed, the longest first."""
    found: dict[tuple[str, ...], Job] = {
        ("drawn", spec): partial(drawn, spec, size) for spec in RANKED
    }
    found["random sets",] = partial(random_sets, size)
    found |= {("set", name): partial(designed_set, name, size) for name in SETS}
    found |= {("other", spec): partial(other_mechanism, spec, size) for spec in OTHERS}
    for spec in RANKED:
        found |= {("design", spec, name): partial(designs, spec, name, size) for name in DESIGNED}
    found["rounding",] = rounding_rows
    return found


def study(size: Size) -> Study:
    """Compute everything, in as many processes as there are cores."""
    began = time.perf_counter()
    # One thread each: numerical libraries that are loaded in a process read it there.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    results: dict[tuple[str, ...], Any] = {}
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        running = {key: pool.submit(job) for key, job in jobs(size).items()}
        for key, future in running.items():
            results[key] = future.result()
            print(f"[{time.perf_counter() - began:.0f} s] {' '.join(key)}", flush=True)
    rankings = [
        Ranking(spec, results["drawn", spec], {n: results["design", spec, n] for n in DESIGNED})
        for spec in RANKED
    ]
    return Study(
        size,
        rankings[0],
        rankings[1],
        results["random sets",],
        {name: results["set", name] for name in SETS},
        {spec: results["other", spec] for spec in OTHERS},
        results["rounding",],
        time.perf_counter() - began,
    )


def main() -> None:
    """Print or write the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--quick", action="store_true", help="fewer motions, to see that it runs")
    parser.add_argument(
        "--keep", type=Path, help="keep the results in this file, or take them from it"
    )
    options = parser.parse_args()
    if options.keep and options.keep.exists():
        found: Study = pickle.loads(options.keep.read_bytes())
    else:
        found = study(QUICK if options.quick else FULL)
        if options.keep:
            options.keep.write_bytes(pickle.dumps(found))
    text = page(found)
    print(text)
    if options.docs:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
