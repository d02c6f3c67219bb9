"""Error against processor time of benchmark problems: mechid, Exudyn and MuJoCo.

    python benchmarks/problems.py [--quick] [--only NAME …] [--docs]

Problems and their references are in tests/problems. `--docs` writes record, figures and tables of
docs/reliability/benchmark-problems.md; with `--only`, other problems stay in the record as they
were. Times are processor times of whole calls, of runs below 1 s the shorter one of two more. The
formulation augmented is left out: it takes some 20 ms per evaluation.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import report
from dynamics import one_blas_thread
from exudyn_peer import ConstraintPeer, exu
from mujoco_tree import SoftPeer

sys.path.append(str(Path(__file__).resolve().parents[1]))
from tests.problems import page
from tests.problems.crossing import change_points, rows, try_all
from tests.problems.problems import PROBLEMS, Problem
from tests.records import write_tables

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.simulate import initial_state, simulate
from mechid.dynamics.simulation import SimulationError
from mechid.kinematics.motion import independent_of
from mechid.kinematics.tables import Floats

FEW = 20  # bodies: with more of them, fewer ways are tried
MOST = 40.0  # s of processor time for one run of mechid; others have fixed steps
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
TREE = ("gibbs-appell", "explicit-gibbs-appell", "udwadia-kalaba")
# Numbers of steps of the peers over the whole time.
STEPS, MANY_BODIES = (500, 2000, 8000), (500, 2000)
SOFT_STEPS = 4  # times as many for MuJoCo, whose steps are cheaper and whose loops are soft

Run = Callable[[], Floats]


@dataclass(frozen=True)
class Trial:
    """One way to simulate: engine, words, and the call, which returns the first coordinate."""

    engine: str
    method: str
    setting: str
    run: Run


class TooLongError(Exception):
    """A run took more than MOST."""


def main() -> None:
    """Measure, print, and write where the options say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two tolerances, few steps")
    parser.add_argument("--only", nargs="*", default=list(PROBLEMS), help="names of problems")
    parser.add_argument("--no-crossing", action="store_true", help="without singular poses")
    parser.add_argument("--docs", action="store_true", help=f"write {page.PAGE} and its record")
    options = parser.parse_args()
    empty: dict[str, Any] = {"problems": {}, "crossing": []}
    record = page.read_record() if options.docs and page.RECORD.exists() else empty
    record["machine"] = machine()
    for name in options.only:
        record["problems"][name] = measure(PROBLEMS[name], quick=options.quick)
        if options.docs:
            save(record)
    if not options.no_crossing:
        ways = rows([1, 2, 3]) + change_points()
        record["crossing"] = list(try_all(ways[:1] if options.quick else ways))
        for row in record["crossing"]:
            print(*row.values(), sep=" | ")
    if options.docs:
        save(record)
        page.draw(record)
        write_tables(page.PAGE, page.tables(record))


def save(record: dict[str, Any]) -> None:
    """Write the record, problems in their order."""
    record["problems"] = {n: record["problems"][n] for n in PROBLEMS if n in record["problems"]}
    page.RECORD.parent.mkdir(parents=True, exist_ok=True)
    page.RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def machine() -> dict[str, str]:
    """Return what the times depend on."""
    names = ("numpy", "scipy", "exudyn", "mujoco")
    return {"processor": report.cpu_name()} | {n: report.package_version(n) for n in names}


def measure(problem: Problem, *, quick: bool) -> dict[str, Any]:
    """Run all trials of a problem, print them, and return its part of the record."""
    mechanism = problem.mechanism()
    model = dynamic_model(mechanism)
    times = problem.times
    truth = problem.truth(times)
    print(f"\n{problem.title}", flush=True)
    outcomes = []
    for trial in trials(problem, model, times, quick=quick):
        outcome = judge(trial, truth)
        print(*outcome.values(), sep=" | ", flush=True)
        outcomes.append(outcome)
    return {
        "title": problem.title,
        "model": problem.spec,
        "bodies": len(mechanism.bodies),
        "loops": len(mechanism.joints) + len(mechanism.constraints) - len(mechanism.bodies),
        "end": problem.end,
        "truth": problem.source,
        "unit": mechanism.coordinates[0].unit,
        "outcomes": outcomes,
    }


def judge(trial: Trial, truth: Floats) -> dict[str, Any]:
    """Return error and time of a trial, or why there is none."""
    error, seconds, why = None, None, ""
    try:
        seconds = np.inf
        for k in range(3):  # the first one may compile
            start = process_time()
            found = trial.run()
            took = process_time() - start
            seconds = took if k < 2 else min(seconds, took)
            if k == 0:
                error = float(np.abs(found - truth).max())
            if took > 1:
                break
        if not np.isfinite(error):
            error, why = None, "not finite"
    except SimulationError as failure:
        error, seconds, why = None, None, failure.what
    except TooLongError:
        error, seconds, why = None, None, f"more than {MOST:g} s"
    except (ArithmeticError, NotImplementedError, ValueError, RuntimeError) as failure:
        error, seconds, why = None, None, (str(failure).splitlines() or [type(failure).__name__])[0]
    return {
        "engine": trial.engine,
        "method": trial.method,
        "setting": trial.setting,
        "error": error,
        "seconds": seconds,
        "why": why,
    }


# ---------------------------------------------------------------------- ways to simulate


def trials(problem: Problem, model: DynamicModel, times: Floats, *, quick: bool) -> Iterator[Trial]:
    """Yield all ways to simulate a problem."""
    tolerances = TOLERANCES[1:3] if quick else TOLERANCES
    explicit = ("Radau", "CVODE") if problem.stiff else ("DOP853",)
    for integrator in explicit:
        for rtol in tolerances:
            yield own(model, times, "independent", integrator, rtol)
    many = len(model.mechanism.bodies) > FEW
    for formulation in TREE:
        for rtol in tolerances[:1] if many or problem.stiff else tolerances[1::2]:
            yield own(model, times, formulation, explicit[0], rtol)
    steps = (MANY_BODIES if many else STEPS)[: 1 if quick else None]
    yield from exudyn(model, times, steps)
    yield from mujoco(model, times, steps)


def own(
    model: DynamicModel, times: Floats, formulation: str, integrator: str, rtol: float
) -> Trial:
    """Return a way of mechid; it ends after MOST seconds."""

    def run() -> Floats:
        end = process_time() + MOST

        def watch(_: float) -> None:
            if process_time() > end:
                raise TooLongError

        found = simulate(
            model,
            times,
            formulation=formulation,
            integrator=integrator,
            rtol=rtol,
            atol=rtol / 100,
            watch=watch,
        )
        return np.asarray(found.y[:, 0])

    return Trial("mechid", f"{formulation}, {integrator}", f"{rtol:.0e}", run)


def exudyn(model: DynamicModel, times: Floats, steps: tuple[int, ...]) -> Iterator[Trial]:
    """Index-3 generalised-α: all joints are constraints of free bodies."""
    y0, yd0 = start(model)
    for n in steps:

        def run(n: int = n) -> Floats:
            angles = exu.NodeType.RotationEulerParameters
            peer = ConstraintPeer(model.kinematics, y0, yd0, angles)
            return peer.simulate(times, times[-1] / n)[0]

        yield Trial("Exudyn", "generalised-α", f"{n} steps", run)


def mujoco(model: DynamicModel, times: Floats, steps: tuple[int, ...]) -> Iterator[Trial]:
    """RK4 on the tree, loops closed by soft constraints."""
    y0, yd0 = start(model)
    for n in steps:
        n *= SOFT_STEPS

        def run(n: int = n) -> Floats:
            return SoftPeer(model.kinematics, times[-1] / n).simulate(y0, times, yd0)

        yield Trial("MuJoCo", "soft loops, RK4", f"{n} steps", run)


def start(model: DynamicModel) -> tuple[Floats, Floats]:
    """Return the independent coordinates and speeds that the model file starts with."""
    q, _ = initial_state(model, None, None)
    coordinates = model.mechanism.coordinates
    speeds = dict(model.mechanism.start.speeds)
    yd = np.array([speeds.get(c.name, 0.0) for c in coordinates])
    return independent_of(model.kinematics, q), yd


if __name__ == "__main__":
    one_blas_thread()
    main()
