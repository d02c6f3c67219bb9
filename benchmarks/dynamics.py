"""What the dynamics of mechid costs: the observation matrix, simulations, memory; and peers.

    python benchmarks/dynamics.py [--quick] [-o report.md] [--docs]

prints a report in Markdown. Nothing here asserts a time: the numbers are those of one machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import cases
import flops
import numba
import numpy as np
import report
from mujoco_tree import SoftPeer
from pinocchio_dynamics import DynamicPeer
from report import best_of_each, digits, micro, milli, table

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import Observation, observation_matrix, observe_path
from mechid.dynamics.simulate import simulate
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
MODEL, LINKAGE = "sla_suspension", "four_bar@example-2"
THREADS = tuple(n for n in (1, 2) if n <= numba.config.NUMBA_NUM_THREADS)
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
OPERATIONS = 1e4  # estimated, per sample of the suspension: closure, speeds, accelerations, W
REFERENCE = 1e-13  # relative tolerance of the reference simulation
LIFT = 0.02  # m: how far from home the suspension is released
ACCURACIES = (1e-6, 1e-8, 1e-10)


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    repeat: int = 5
    batches: tuple[int, ...] = (1, 100, 1000, 10_000)
    samples: int = 1000
    chains: tuple[int, ...] = (2, 4, 8, 16, 32)
    ladders: tuple[int, ...] = (1, 2, 4, 8, 16)
    simulations: int = 2
    tolerances: tuple[float, ...] = (1e-5, 1e-7, 1e-9, 1e-11)
    streamed: int = 200_000


QUICK = Effort(
    repeat=3,
    batches=(1, 1000),
    samples=500,
    chains=(2, 8, 32),
    ladders=(1, 4, 16),
    simulations=1,
    tolerances=(1e-6, 1e-9),
    streamed=20_000,
)


@dataclass(frozen=True)
class Trial:
    """One way to simulate: engine, words, and the call, which returns coordinate and calls."""

    engine: str
    method: str
    setting: str
    run: Callable[[], tuple[Floats, int]]


@dataclass(frozen=True)
class Outcome:
    """What a trial gave: largest error of the first coordinate, wall time, calls of the rates."""

    trial: Trial
    error: float
    seconds: float
    evaluations: int


def main() -> None:
    """Measure, print, and write where the options say."""
    options = parse()
    effort = QUICK if options.quick else Effort()
    text = whole_report(effort)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    if options.docs:
        report.replace_between(PAGE, "dynamics", text)


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes and tolerances")
    parser.add_argument("-o", "--output", type=Path, help="file for the report, too")
    parser.add_argument("--docs", action="store_true", help=f"put the report into {PAGE.name}")
    return parser.parse_args()


def one_blas_thread() -> None:
    """Start this program anew with one thread of BLAS, unless that is set already.

    The matrices are small; threads of BLAS that wait for each other would be all that is measured.
    """
    if BLAS_THREADS not in os.environ:
        os.environ[BLAS_THREADS] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])


def whole_report(effort: Effort) -> str:
    """Return all sections; on the way, say on the terminal which one is being measured."""
    start, load_before = perf_counter(), report.load_average()
    model = dynamic_model(load(MODEL))
    sections: list[tuple[str, Callable[[], str]]] = [
        ("The observation matrix, against Pinocchio", lambda: observation(model, effort)),
        ("Distance from the arithmetic", lambda: arithmetic(model, effort)),
        ("Simulation of the suspension", lambda: suspension(model, effort)),
        ("Simulation of a four-bar linkage", lambda: linkage(effort)),
        ("The observation matrix of larger mechanisms", lambda: growth(effort)),
        ("Memory of a long motion", lambda: memory(effort)),
    ]
    texts = [f"### Machine of the dynamics\n\n{machine()}"]
    for title, section in sections:
        print(f"… {title}", file=sys.stderr)
        numba.set_num_threads(THREADS[0])
        texts.append(f"### {title}\n\n{section()}")
    texts.append(
        f"{'Short' if effort is QUICK else 'Full'} run, {perf_counter() - start:.0f} s; load "
        f"average {load_before:.1f} before and {report.load_average():.1f} after it."
    )
    return "\n\n".join(texts)


def machine() -> str:
    """Return the description of the machine and the versions of the peers that only serve here."""
    more = [f"| {name} | {report.package_version(name)} |" for name in ("mujoco", "scikit-sundae")]
    return "\n".join([report.machine(), *more, "| threads of BLAS | 1 |"])


def thread_words(n: int) -> str:
    """Return '1 thread', '2 threads'."""
    return f"{n} thread" + "s" * (n > 1)


# ---------------------------------------------------------------------- (a) observation matrix


def observation(model: DynamicModel, effort: Effort) -> str:
    """The same W first, then the times, in turns."""
    peer = DynamicPeer(model.kinematics)
    rows = [observation_row(model, peer, n, effort) for n in effort.batches]
    head = ["samples per call", "Pinocchio, µs per sample"]
    for k in THREADS:
        words = thread_words(k)
        head += [f"mechid, {words}: `solve_motion`", "`observation_matrix`"]
        head += ["`observe_path`, both in one", "times faster"]
    p = len(model.columns)
    return (
        f"W of `{MODEL}` (5 × {p} per sample, of which 150 columns are inertial) from y, ẏ, ÿ: "
        "loops closed, speeds, accelerations, regressor. Samples 1 ms apart.\n\n"
        f"{same_matrix(model, peer, effort)}\n\n{table(head, rows, words=0)}\n\n"
        "The peer computes the inertial columns only. CasADi with generated and compiled C code "
        "is not part of this comparison."
    )


def same_matrix(model: DynamicModel, peer: DynamicPeer, effort: Effort) -> str:
    """Return the sentence about the largest difference of inertial columns."""
    path = cases.path(model.kinematics, effort.samples)
    theirs = peer.in_body_frames(peer.observe(path.y, path.yd, path.ydd, path.dt))
    ours = observation_matrix(path.solve(model.kinematics), model).W[:, :, : theirs.shape[2]]
    scale = np.abs(ours).max(axis=(0, 2), keepdims=True)  # rows are forces or moments
    worst = (np.abs(theirs - ours) / scale).max()
    return (
        f"Largest difference between both in {effort.samples} samples, after conversion to the "
        f"same parameters, relative to the largest entry of its row: {worst:.1e}."
    )


def observation_row(model: DynamicModel, peer: DynamicPeer, n: int, effort: Effort) -> list[str]:
    """Return one row: samples, the peer, and mechid's three calls with each number of threads."""
    path = cases.path(model.kinematics, n)
    motion = path.solve(model.kinematics)

    def solve(threads: int) -> None:
        numba.set_num_threads(threads)
        path.solve(model.kinematics)

    def observe(threads: int) -> None:
        numba.set_num_threads(threads)
        observation_matrix(motion, model)

    def both(threads: int) -> None:
        numba.set_num_threads(threads)
        in_one_pass(model, path)

    runs: list[report.Run] = [lambda: peer.observe(path.y, path.yd, path.ydd, path.dt)]
    for k in THREADS:
        runs += [lambda k=k: solve(k), lambda k=k: observe(k), lambda k=k: both(k)]
    theirs, *ours = (time / n for time in best_of_each(runs, effort.repeat))
    row = [digits(n), micro(theirs)]
    for a, b, c in zip(ours[::3], ours[1::3], ours[2::3], strict=True):
        row += [micro(a), micro(b), micro(c), digits(theirs / c)]
    return row


def in_one_pass(model: DynamicModel, path: cases.Path) -> Observation:
    """Return W of a path, as a user would who does not need the motion itself."""
    return observe_path(model, path.y, path.yd, path.ydd, time=path.time)


# ---------------------------------------------------------------------- arithmetic


def arithmetic(model: DynamicModel, effort: Effort) -> str:
    """How far a sample of W is from the time that its operations alone would take."""
    chain, free = flops.rates(effort.repeat)
    path = cases.path(model.kinematics, effort.samples)
    measured = best_of_each([lambda: in_one_pass(model, path)], effort.repeat)[0] / effort.samples
    rows = [
        (words, digits(rate / 1e9), micro(OPERATIONS / rate), digits(measured * rate / OPERATIONS))
        for words, rate in (("one sum", chain), ("four sums", free))
    ]
    head = ("sum of products", "10⁹ operations per s", "10⁴ operations, µs", "measured / that")
    return (
        f"A sample of W of the suspension needs about 10⁴ operations (an estimate); it takes "
        f"{micro(measured)} µs on one thread. For comparison, a loop of scalar Numba code over "
        "two arrays in the first-level cache, with one running sum, where each addition waits for "
        f"the one before, and with four sums, which do not.\n\n{table(head, rows)}"
    )


# ---------------------------------------------------------------------- (b) simulation


def suspension(model: DynamicModel, effort: Effort) -> str:
    """Error against wall time, released 2 cm above home."""
    times = np.linspace(0.0, 1.0, 101)
    y0 = model.kinematics.home_y.copy()
    y0[:2] += LIFT
    reference, other = references(model, times, y0)
    trials = [
        *mechid_trials(model, times, y0, effort),
        *pinocchio_trials(model, times, y0, effort),
        *mujoco_trials(model, times, y0, (1e-3, 5e-4, 2e-4)),
    ]
    outcomes = measure(trials, reference, effort)
    return (
        f"`{MODEL}`, 1 s from rest, z_r and z_l released {1e3 * LIFT:.0f} mm above home, springs "
        "and dampers of the model; largest error of z_r at 101 times.\n\n"
        f"{reference_words(other, 'm')}\n\n{simulation_table(outcomes, 'm')}\n\n"
        f"{fastest_table(outcomes, 'm')}\n\n"
        "Pinocchio in independent coordinates closes the loops at every evaluation, as mechid "
        "does; on the tree it takes `constraintDynamics`, and nothing holds the loops together "
        "but the accuracy of RK4. MuJoCo closes loops with soft constraints, made as stiff as its "
        "step allows. All are called from Python. Exudyn is left out."
    )


def linkage(effort: Effort) -> str:
    """Error against wall time of a falling four-bar linkage."""
    model = dynamic_model(load(LINKAGE))
    times = np.linspace(0.0, 5.0, 101)
    y0 = np.array([value for _, value in model.mechanism.start.positions])
    reference, other = references(model, times, y0)
    trials = mechid_trials(model, times, y0, effort, every_formulation=True)
    trials += mujoco_trials(model, times, y0, (1e-3, 5e-4, 2e-4))
    outcomes = measure(trials, reference, effort)
    return (
        f"`{LINKAGE}`, 5 s from rest under its weight; largest error of q1 at 101 times.\n\n"
        f"{reference_words(other, 'rad')}\n\n{simulation_table(outcomes, 'rad')}\n\n"
        f"{fastest_table(outcomes, 'rad')}\n\n"
        "The formulation `augmented` works in reference-point coordinates in plain NumPy, written "
        "to be read and to check the others; it takes some hundred times as long and is left out. "
        "So is Pinocchio, whose peer here closes loops with spherical joints only."
    )


def references(model: DynamicModel, times: Floats, y0: Floats) -> tuple[Floats, float]:
    """Return a tight solution of the first coordinate, and how far a second formulation is."""
    tight = {"y0": y0, "rtol": REFERENCE, "atol": 1e-15}
    first = simulate(model, times, **tight).y[:, 0]
    second = simulate(model, times, formulation="gibbs-appell", **tight).y[:, 0]
    return first, float(np.abs(second - first).max())


def reference_words(other: float, unit: str) -> str:
    """Return the sentence about the reference."""
    return (
        f"Reference: mechid in independent coordinates with DOP853 and a relative tolerance of "
        f"10⁻¹³; Gibbs-Appell on the tree with the same tolerance differs by {other:.1e} {unit} at "
        "most."
    )


def mechid_trials(
    model: DynamicModel, times: Floats, y0: Floats, effort: Effort, every_formulation: bool = False
) -> list[Trial]:
    """Integrators of the smallest formulation, and other formulations with the best of them."""
    ways = [("independent", i) for i in ("DOP853", "RK45", "LSODA", "CVODE", "CVODE-Adams")]
    ways.append(("gibbs-appell", "DOP853"))

    def trial(formulation: str, integrator: str, rtol: float) -> Trial:
        def run() -> tuple[Floats, int]:
            done = simulate(
                model,
                times,
                y0=y0,
                formulation=formulation,
                integrator=integrator,
                rtol=rtol,
                atol=1e-2 * rtol,
            )
            return done.y[:, 0], done.evaluations

        return Trial("mechid", f"{formulation}, {integrator}", tolerance(rtol), run)

    trials = [trial(*way, rtol) for way in ways for rtol in effort.tolerances]
    if every_formulation:
        middle = effort.tolerances[len(effort.tolerances) // 2]
        others = ("explicit-gibbs-appell", "udwadia-kalaba")
        trials += [trial(name, "DOP853", middle) for name in others]
    return trials


def pinocchio_trials(model: DynamicModel, times: Floats, y0: Floats, effort: Effort) -> list[Trial]:
    """The independent coordinates with DOP853, and `constraintDynamics` with RK4."""
    peer = DynamicPeer(model.kinematics)

    def independent(rtol: float) -> Trial:
        def run() -> tuple[Floats, int]:
            done = peer.simulate_independent(y0, times, rtol)
            return done.y[:, 0], done.evaluations

        return Trial("Pinocchio", "independent, DOP853", tolerance(rtol), run)

    def on_tree(step: float) -> Trial:
        def run() -> tuple[Floats, int]:
            done = peer.simulate_on_tree(y0, times, step)
            return done.y[:, 0], done.evaluations

        return Trial("Pinocchio", "constraintDynamics, RK4", step_words(step), run)

    steps = (1e-2, 5e-3, 2e-3, 1e-3)
    return [*map(independent, effort.tolerances), *map(on_tree, steps)]


def mujoco_trials(
    model: DynamicModel, times: Floats, y0: Floats, steps: tuple[float, ...]
) -> list[Trial]:
    """RK4 with several steps."""

    def trial(step: float) -> Trial:
        peer = SoftPeer(model.kinematics, step)
        calls = 4 * round((times[-1] - times[0]) / step)
        run = lambda: (peer.simulate(y0, times), calls)  # noqa: E731
        return Trial("MuJoCo", "soft closure, RK4", step_words(step), run)

    return [trial(step) for step in steps]


def measure(trials: list[Trial], reference: Floats, effort: Effort) -> list[Outcome]:
    """Run all trials, in turns; keep the shortest times."""
    found = [trial.run() for trial in trials]
    seconds = np.full(len(trials), np.inf)
    for _ in range(effort.simulations):
        taken = [report.elapsed(trial.run, 1) for trial in trials]
        seconds = np.minimum(seconds, taken)
    return [
        Outcome(trial, float(np.abs(y - reference).max()), float(time), calls)
        for trial, (y, calls), time in zip(trials, found, seconds, strict=True)
    ]


def simulation_table(outcomes: list[Outcome], unit: str) -> str:
    """Return all outcomes; times also relative to the first method at the middle tolerance."""
    own = [o for o in outcomes if o.trial.method == outcomes[0].trial.method]
    own = [o for o in own if o.trial.engine == "mechid"]
    base = own[len(own) // 2]
    rows = [
        (
            o.trial.engine,
            o.trial.method,
            o.trial.setting,
            digits(o.evaluations),
            f"{o.error:.1e}",
            milli(o.seconds),
            micro(o.seconds / o.evaluations),
            digits(o.seconds / base.seconds),
        )
        for o in outcomes
    ]
    head = ("engine", "method", "tolerance or step", "evaluations", f"error, {unit}")
    head += ("wall time, ms", "µs per evaluation", "relative time")
    return (
        f"{table(head, rows, words=3)}\n\nRelative to mechid, {base.trial.method}, "
        f"{base.trial.setting}. Wall times are those of whole calls."
    )


def fastest_table(outcomes: list[Outcome], unit: str) -> str:
    """Return for some accuracies the fastest way of each engine."""
    engines = list(dict.fromkeys(o.trial.engine for o in outcomes))
    rows = []
    for accuracy in ACCURACIES:
        row = [f"{accuracy:.0e} {unit}"]
        for engine in engines:
            good = [o for o in outcomes if o.trial.engine == engine and o.error <= accuracy]
            row.append(fastest_words(good))
        rows.append(row)
    head = ["error at most", *(f"{engine}: fastest, ms" for engine in engines)]
    return table(head, rows, words=0)


def fastest_words(good: list[Outcome]) -> str:
    """Return time and name of the fastest."""
    if not good:
        return "not reached"
    first = min(good, key=lambda o: o.seconds)
    return f"{milli(first.seconds)} ({first.trial.method})"


def tolerance(rtol: float) -> str:
    """Return a relative tolerance in words."""
    return f"{rtol:.0e}"


def step_words(step: float) -> str:
    """Return a step in words."""
    return f"{1e3 * step:g} ms"


# ---------------------------------------------------------------------- (c) growth


def growth(effort: Effort) -> str:
    """Cost of W against the number of bodies and of loops."""
    grown = [
        *((f"chain of {n} bars", cases.chain(n)) for n in effort.chains),
        *((f"ladder of {n} four-bars", cases.ladder(n)) for n in effort.ladders),
    ]
    rows = []
    for words, mechanism in grown:
        solve, observe, shape = cost(mechanism, effort)
        loops = len(mechanism.joints) - len(mechanism.bodies)
        both = micro(solve + observe)
        size = f"{shape[0]} × {shape[1]}"
        cells = (len(mechanism.bodies), loops, size, micro(solve), micro(observe), both)
        rows.append((words, *cells, digits(1e9 * observe / (shape[0] * shape[1]))))
    head = ("mechanism", "bodies", "loops", "W", "`solve_motion`, µs", "`observation_matrix`, µs")
    head += ("sum, µs", "ns per entry of W")
    return (
        "Per sample; one thread, samples 1 ms apart. The last column is `observation_matrix` "
        f"alone.\n\n{table(head, rows)}"
    )


def cost(mechanism: Mechanism, effort: Effort) -> tuple[float, float, tuple[int, int]]:
    """Return the times per sample of motion and W (s), and the shape of W."""
    model = dynamic_model(mechanism)
    path = cases.reachable_path(model.kinematics, effort.samples)
    motion = path.solve(model.kinematics)
    runs = [lambda: path.solve(model.kinematics), lambda: observation_matrix(motion, model)]
    solve, observe = (time / effort.samples for time in best_of_each(runs, effort.repeat))
    return solve, observe, (path.y.shape[1], len(model.columns))


# ---------------------------------------------------------------------- (d) memory


def memory(effort: Effort) -> str:
    """Peak of resident memory of a streamed motion, and what a million samples would take."""
    done = subprocess.run(
        [sys.executable, str(HERE / "memory.py"), MODEL, str(effort.streamed)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    n = found["samples"]
    slope = (found["peak"] - found["tenth"]) / (0.9 * n)
    million = found["peak"] + slope * (1_000_000 - n)
    rows = [
        ("process with everything loaded", mega(found["ready"])),
        (f"{digits(n // 10)} samples", mega(found["tenth"])),
        (f"{digits(n)} samples", mega(found["peak"])),
        ("1\u202f000\u202f000 samples, extrapolated", mega(million)),
    ]
    whole = found["whole_W"]
    return (
        f"{digits(n)} samples of `{MODEL}` in a process of its own: W in blocks with "
        f"`observe_path_blocks`, {found['seconds']:.1f} s.\n\n"
        f"{table(('peak of resident memory', 'MB'), rows)}\n\n"
        f"The whole W would take {mega(whole)} MB, and {mega(whole / n * 1e6)} MB for a million "
        f"samples. What grows is the path that is given: {slope:.0f} bytes per sample at the peak."
    )


def mega(size: float) -> str:
    """Return a size in megabytes."""
    return digits(size / 1e6)


if __name__ == "__main__":
    one_blas_thread()
    main()
