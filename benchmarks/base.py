"""What base parameters cost: transfers, singular values, ball arithmetic and prime fields.

    python benchmarks/base.py [--quick] [-o report.md] [--docs]

prints a report in Markdown. Nothing here asserts a time: the numbers are those of one machine.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import cases
import numba
import numpy as np
import report
from flint import ctx
from report import digits, table

from mechid.base.experiment import Experiment, random_states
from mechid.base.nullspace import null_space
from mechid.base.numeric import observed_base
from mechid.exact.elimination import eliminate
from mechid.exact.field import field_rank
from mechid.exact.geometry import exact_geometry
from mechid.exact.numbers import PRECISION
from mechid.exact.stack import ball_observation, stacked
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
ROWS = 1.5  # rows of W per column
T = TypeVar("T")
MODELS = ("five_bar", "puma560@bare", "double_wishbone", "sla_suspension", "pushrod_suspension")


@dataclass(frozen=True)
class Effort:
    """How much is measured: sizes, and the largest numbers of bodies for the dear methods."""

    repeat: int = 7
    chains: tuple[int, ...] = (5, 10, 20, 50, 100)
    ladders: tuple[int, ...] = (2, 5, 10, 25, 50)
    svd: int = 101
    balls: int = 21
    field: int = 51
    models: tuple[str, ...] = MODELS


QUICK = Effort(
    repeat=1, chains=(5, 10), ladders=(2, 5), svd=11, balls=6, field=11, models=MODELS[:2]
)


@dataclass(frozen=True)
class Cost:
    """Ranks and times (s) of one mechanism; None where it was not tried."""

    words: str
    bodies: int
    parameters: int
    transfers: tuple[int, float]
    svd: tuple[int, str, float] | None
    balls: tuple[int, float] | None
    field: tuple[int, float] | None


def main() -> None:
    """Measure, print, and write where the options say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer and smaller mechanisms")
    parser.add_argument("-o", "--output", type=Path, help="file for the report, too")
    parser.add_argument("--docs", action="store_true", help=f"put the report into {PAGE.name}")
    options = parser.parse_args()
    text = whole_report(QUICK if options.quick else Effort())
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    if options.docs:
        report.replace_between(PAGE, "base", text)


def one_blas_thread() -> None:
    """Start this program anew with one thread of BLAS, unless that is set already."""
    if BLAS_THREADS not in os.environ:
        os.environ[BLAS_THREADS] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])


def whole_report(effort: Effort) -> str:
    """Return both tables and how the cost grows."""
    start, load_before = perf_counter(), report.load_average()
    numba.set_num_threads(1)
    measure("warm", cases.ladder(1), effort)  # kernels, caches of SymPy
    chains = [measure(f"chain of {n} bars", cases.chain(n), effort) for n in effort.chains]
    ladders = [measure(f"ladder of {n} four-bars", cases.ladder(n), effort) for n in effort.ladders]
    models = [measure(f"`{name}`", load(name), effort) for name in effort.models]
    spent = (
        f"{'Short' if effort is QUICK else 'Full'} run, {perf_counter() - start:.0f} s; load "
        f"average {load_before:.1f} before and {report.load_average():.1f} after it."
    )
    return "\n\n".join(
        [
            f"### Machine of the base parameters\n\n{report.machine()}",
            f"### Base parameters of larger mechanisms\n\n{costs([*chains, *ladders])}",
            f"{growth('chain', chains)} {growth('ladder', ladders)}",
            f"### Base parameters of models of the zoo\n\n{costs(models)}",
            spent,
        ]
    )


def measure(words: str, mechanism: Mechanism, effort: Effort) -> Cost:
    """Measure all methods that are feasible for this size."""
    print(f"… {words}", file=sys.stderr)
    n, n_i = len(mechanism.bodies), len(mechanism.coordinates)
    (parameters, rank), seconds = timed(lambda: by_transfers(mechanism), effort.repeat)
    states: Motion | None = None
    svd = balls = field = None
    if n <= max(effort.svd, effort.balls):
        states = random_states(mechanism, Experiment(), int(ROWS * parameters / n_i) + 2)
    if states is not None and n <= effort.svd:
        motion = states
        found, time = timed(lambda: observed_base(motion), min(effort.repeat, 3))
        svd = (found.rank, found.confidence, time)
    if states is not None and n <= effort.balls:
        motion = states.part(slice(0, int(1.2 * rank / n_i) + 4))
        balls = timed(lambda: by_balls(mechanism, motion), 1)
    if n <= effort.field:
        field = timed(lambda: field_rank(mechanism, primes=1, enough=rank).rank, 1)
    return Cost(words, n, parameters, (rank, seconds), svd, balls, field)


def by_transfers(mechanism: Mechanism) -> tuple[int, int]:
    """Return the number of parameters, and how many are left over by all transfers."""
    with ctx.workprec(PRECISION):
        null = null_space(mechanism)
        return len(null.columns), len(null.columns) - null.rank


def by_balls(mechanism: Mechanism, motion: Motion) -> int:
    """Return the rank that ball arithmetic proves."""
    geometry = exact_geometry(mechanism, "exact")
    found = ball_observation(geometry, motion, mechanism.gravity, precision=PRECISION)
    with ctx.workprec(PRECISION):
        return eliminate(stacked(found.W, range(len(mechanism.coordinates)))).rank


def timed(run: Callable[[], T], repeat: int) -> tuple[T, float]:
    """Return the result and the shortest time of a call (s)."""
    times = []
    for _ in range(max(repeat, 1)):
        start = perf_counter()
        result = run()
        times.append(perf_counter() - start)
    return result, min(times)


def costs(found: list[Cost]) -> str:
    """Return a table of ranks and times."""
    head = ("mechanism", "bodies", "parameters", "transfers leave", "s", "SVD, double", "s")
    head += ("balls prove", "s", "prime field proves", "s")
    return table(head, map(row, found))


def row(c: Cost) -> tuple[object, ...]:
    """Return one row of the table."""
    svd = ("", "") if c.svd is None else (f"{c.svd[0]}, {c.svd[1]}", digits(c.svd[2]))
    rest = [("", "") if x is None else (x[0], digits(x[1])) for x in (c.balls, c.field)]
    words = (c.words, c.bodies, c.parameters, c.transfers[0], digits(c.transfers[1]))
    return (*words, *svd, *rest[0], *rest[1])


def growth(kind: str, found: list[Cost]) -> str:
    """Return the powers of the number of bodies with which the times grow, from the second size."""
    a, b = found[-4:][0], found[-1]
    ratio = np.log(b.bodies / a.bodies)
    power = np.log(b.transfers[1] / a.transfers[1]) / ratio
    text = (
        f"From {a.bodies} to {b.bodies} bodies in a {kind}, the time of transfers grows with the "
        f"power {power:.1f} of their number"
    )
    if a.svd is None or b.svd is None:
        return text + "."
    return text + f", that of singular values with {np.log(b.svd[2] / a.svd[2]) / ratio:.1f}."


if __name__ == "__main__":
    one_blas_thread()
    main()
