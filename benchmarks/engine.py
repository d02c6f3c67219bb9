"""What generated code gains: the observation matrix and its gradient, against kernels and peers.

    python benchmarks/engine.py [--quick] [--docs]

prints tables in Markdown. Nothing here asserts a time: the numbers are those of one machine.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import cases
import numba
import numpy as np
import report
from casadi_peer import CompiledPeer
from report import best_of_each, digits, micro, table

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.observation_code import gradient_code, observation_code, record_observation
from mechid.dynamics.regressor import Observation, observe_path
from mechid.errors import MechidError
from mechid.kinematics.engine.choice import engine
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load, zoo
from mechid.tape.functions import host_lanes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
MODEL = "sla_suspension"
THREADS = tuple(n for n in (1, 2) if n <= numba.config.NUMBA_NUM_THREADS)


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    repeat: int = 7
    batch: int = 10_000
    samples: int = 2000
    chains: tuple[int, ...] = (2, 5, 10, 20, 40)
    ladders: tuple[int, ...] = (1, 4, 16, 49)
    zoo: tuple[str, ...] = tuple(entry.name for entry in zoo())


QUICK = Effort(3, 2000, 500, (2, 5, 10), (1, 4), ("four_bar", "five_bar", "sla_suspension"))


def main() -> None:
    """Measure, print, and write where the options say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer and smaller mechanisms")
    parser.add_argument("--docs", action="store_true", help=f"put the tables into {PAGE.name}")
    options = parser.parse_args()
    # Kernels are compiled or loaded before the cache is another one.
    measured(dynamic_model(load("pendulum")), "", QUICK, with_gradient=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MECHID_CACHE_DIR"] = folder  # so that generating code is measured, not loading
        text = whole_report(QUICK if options.quick else Effort())
    print(text)
    if options.docs:
        report.replace_between(PAGE, "engine", text)


def whole_report(effort: Effort) -> str:
    """Return all sections."""
    before = report.load_average()
    parts = [
        f"{host_lanes()} lanes; times per sample, the shortest of {effort.repeat} or more runs "
        "that take turns. Generating code includes recording.",
        f"### The suspension\n\n{suspension(effort)}",
        f"### The zoo by generated code\n\n{models(effort)}",
        f"### Larger mechanisms by generated code\n\n{growth(effort)}",
        f"Load average {before:.1f} before and {report.load_average():.1f} after it.",
    ]
    return "\n\n".join(parts)


def fill(memory: Floats, threads: int) -> None:
    """Write one number everywhere: what writing W costs without computing it."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: part.fill(1.0), np.array_split(memory, threads)))


def suspension(effort: Effort) -> str:
    """W of the suspension: kernels, generated code on one and two threads, CasADi's C."""
    model = dynamic_model(load(MODEL))
    peer = CompiledPeer(model)
    path = cases.path(model.kinematics, effort.batch)
    start = perf_counter()
    stages = record_observation(model)
    recording = perf_counter() - start
    generation = generated(model)

    def observe(choice: str, threads: int, out: Observation | None) -> Observation:
        numba.set_num_threads(threads)
        with engine(choice):
            return observe_path(model, path.y, path.yd, path.ydd, time=path.time, out=out)

    used = observe("compiled", 1, None)
    theirs = np.empty((effort.batch, *peer.shape))

    def new() -> Observation:
        return Observation(np.empty(used.W.shape), np.empty(used.known.shape), used.columns)

    memories: dict[str, tuple[Callable[[], Observation | None], Floats | None]] = {
        "new": (new, None),
        "of the result before": (lambda: None, theirs),
    }
    calls, heads = [], []
    for words, (ours, its) in memories.items():
        calls.append(lambda x=its: peer.observe(path.y, path.yd, path.ydd, path.dt, x))
        for threads in THREADS:
            heads.append((words, threads))
            for choice in ("tables", "compiled"):
                calls.append(lambda c=choice, k=threads, make=ours: observe(c, k, make()))
    calls.append(lambda: np.zeros(used.W.size).fill(1.0))
    calls += [lambda k=k: fill(used.W.ravel(), k) for k in THREADS]
    times = iter(best_of_each(calls, effort.repeat))
    rows, alone = [], 0.0
    casadi = 0.0
    for words, threads in heads:
        if threads == 1:
            casadi = next(times)
        tables, code = next(times), next(times)
        alone = code if threads == 1 else alone
        rows.append(
            (
                words,
                threads,
                micro(tables / effort.batch),
                micro(casadi / effort.batch),
                micro(code / effort.batch),
                digits(tables / code),
                digits(casadi / code),
                digits(alone / code),
            )
        )
    head = [
        "memory of W", "threads", "kernels, µs", "CasADi's C on one thread, µs",
        "generated code, µs", "times as fast as kernels", "as CasADi", "as one thread",
    ]  # fmt: skip
    counts = [p.n_operations for p in (stages.predict, stages.correct, stages.finish) if p]
    return (
        f"W of `{MODEL}`, {effort.batch} samples per call, 1 ms apart, `observe_path`. CasADi's C "
        "computes the inertial columns only, which are all here. Memory is new in every call "
        "(`out=`), or that of the result before, which nobody refers to any more.\n\n"
        f"{table(head, rows)}\n\n"
        f"To fill the memory of a new W with anything takes {micro(next(times) / effort.batch)} µs "
        "per sample, on one thread; memory that was used before, on "
        f"{', '.join(f'{k}: {micro(next(times) / effort.batch)} µs' for k in THREADS)}. "
        f"A sample takes {' + '.join(map(str, counts))} operations to predict, correct (once or "
        f"more) and finish. Recording them takes {recording:.2f} s, with machine code "
        f"{generation:.2f} s in all; loading it from disk {generated(model):.2f} s."
    )


def generated(model: DynamicModel) -> float:
    """Return the time to generate the code of W, or to load it if it is on disk (s)."""
    start = perf_counter()
    observation_code(model)
    return perf_counter() - start


def models(effort: Effort) -> str:
    """Ratios for zoo models, on one thread, with gradients."""
    numba.set_num_threads(1)
    rows, gains, gradients = [], [], []
    for name in effort.zoo:
        model = dynamic_model(load(name))
        row, gain, gradient = measured(model, f"`{name}`", effort, with_gradient=True)
        rows.append(row)
        gains.append(gain)
        gradients.append(gradient)
    head = [
        "mechanism", "W", "kernels, µs", "generated code, µs", "times as fast", "to generate, s",
        "gradient, µs", "W and gradient, in W", "to generate, s",
    ]  # fmt: skip
    return (
        f"{effort.samples} samples per call, one thread, memory used again.\n\n"
        f"{table(head, rows)}\n\n"
        f"W is {digits(float(np.median(gains)))} times as fast in the median, "
        f"{digits(min(gains))} in the worst case; W with its gradient takes "
        f"{digits(float(np.median(gradients)))} times as long as W alone in the median, "
        f"{digits(max(gradients))} in the worst case."
    )


def measured(
    model: DynamicModel, name: str, effort: Effort, *, with_gradient: bool
) -> tuple[tuple[object, ...], float, float]:
    """Return a row of a table, the gain of generated code, and the price of a gradient."""
    n = effort.samples
    path = cases.reachable_path(model.kinematics, n)
    seconds = generated(model)

    out = observe_path(model, path.y, path.yd, path.ydd, time=path.time)

    def observe(choice: str) -> None:
        with engine(choice):
            observe_path(model, path.y, path.yd, path.ydd, time=path.time, out=out)

    calls = [lambda: observe("tables"), lambda: observe("compiled")]
    more = 0.0
    if with_gradient:
        motion = path.solve(model.kinematics)
        G = np.random.default_rng(0).standard_normal((*path.y.shape, len(model.columns)))
        start = perf_counter()
        gradient_code(model)
        more = perf_counter() - start

        def gradient() -> None:
            with engine("compiled"):
                observation_gradient(model, motion, G)

        calls.append(gradient)
    times = best_of_each(calls, effort.repeat)
    shape = f"{path.y.shape[1]} × {len(model.columns)}"
    row: tuple[object, ...] = (
        name, shape, micro(times[0] / n), micro(times[1] / n), digits(times[0] / times[1]),
        f"{seconds:.2f}",
    )  # fmt: skip
    price = (times[1] + times[-1]) / times[1]
    if with_gradient:
        row += (micro(times[2] / n), digits(price), f"{more:.2f}")
    return row, times[0] / times[1], price


def growth(effort: Effort) -> str:
    """Chains and ladders: what generating code costs as mechanisms grow."""
    numba.set_num_threads(1)
    large: list[tuple[Mechanism, int]] = [
        *((cases.chain(n), n) for n in effort.chains),
        *((cases.ladder(n), 2 * n + 1) for n in effort.ladders),
    ]
    rows = []
    for mechanism, bodies in large:
        try:
            model = dynamic_model(mechanism)
            row, _, _ = measured(model, f"`{mechanism.name}`", effort, with_gradient=False)
        except MechidError as error:
            rows.append((f"`{mechanism.name}`", bodies, "", "", "", "", error.what))
            continue
        rows.append((row[0], bodies, *row[1:]))
    head = ["mechanism", "bodies", "W", "kernels, µs", "generated code, µs", "times as fast",
            "to generate, s"]  # fmt: skip
    return (
        f"{effort.samples} samples per call, one thread, memory used again.\n\n{table(head, rows)}"
    )


if __name__ == "__main__":
    main()
