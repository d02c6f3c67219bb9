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
from casadi_peer import CompiledPeer
from exudyn_peer import ConstraintPeer
from mujoco_tree import SoftPeer
from pinocchio_dynamics import DynamicPeer
from report import best_of_each, digits, micro, milli, table

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import Observation, observation_matrix, observe_path
from mechid.dynamics.simulate import simulate
from mechid.kinematics.engine.choice import engine
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
MODEL, LINKAGE = "sla_suspension", "four_bar@example-2"
THREADS = tuple(n for n in (1, 2) if n <= numba.config.NUMBA_NUM_THREADS)
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
SAME = 1e-10  # how far W of a peer may be off, relative to its row, for the times to be compared
REFERENCE = 1e-13  # relative tolerance of the reference simulation
LIFT = 0.02  # m: how far from home the suspension is released
ACCURACIES = (1e-6, 1e-8, 1e-10)
EXUDYN = (
    "Exudyn holds all joints as constraints of free bodies, to rounding, with generalised-α of "
    "second order; two runs with the step and half of it are extrapolated (Richardson), and the "
    "time is that of both. Its evaluations are Newton steps."
)


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
    extrapolated: int = 5  # steps of Exudyn, the longest first
    streamed: int = 200_000


QUICK = Effort(
    repeat=3,
    batches=(1, 1000),
    samples=500,
    chains=(2, 8, 16),
    ladders=(1, 4, 16),
    simulations=1,
    tolerances=(1e-6, 1e-9),
    extrapolated=2,
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
    compiled = CompiledPeer(model)
    sections: list[tuple[str, Callable[[], str]]] = [
        ("The observation matrix, against peers", lambda: observation(model, compiled, effort)),
        ("Distance from the arithmetic", lambda: arithmetic(model, compiled, effort)),
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
    names = ("casadi", "mujoco", "exudyn", "scikit-sundae")
    more = [f"| {name} | {report.package_version(name)} |" for name in names]
    return "\n".join([report.machine(), *more, "| threads of BLAS | 1 |"])


def thread_words(n: int) -> str:
    """Return '1 thread', '2 threads'."""
    return f"{n} thread" + "s" * (n > 1)


# ---------------------------------------------------------------------- (a) observation matrix


def observation(model: DynamicModel, compiled: CompiledPeer, effort: Effort) -> str:
    """The same W first, then the times, in turns."""
    peer = DynamicPeer(model.kinematics)
    same = same_matrix(model, peer, compiled, effort)
    rows = [observation_row(model, peer, compiled, n, effort) for n in effort.batches]
    head = ["samples per call", "Pinocchio, µs per sample", "CasADi in C"]
    for k in THREADS:
        words = thread_words(k)
        head += [f"mechid, {words}: `solve_motion`", "`observation_matrix`"]
        head += ["`observe_path`, both in one", "times as fast as Pinocchio", "as CasADi"]
    p = len(model.columns)
    return (
        f"W of `{MODEL}` (5 × {p} per sample, of which 150 columns are inertial) from y, ẏ, ÿ: "
        f"loops closed, speeds, accelerations, regressor. Samples 1 ms apart.\n\n{same}\n\n"
        f"{table(head, rows, words=0)}\n\n"
        "The peers compute the inertial columns only, on one thread. Pinocchio is called from "
        "Python. CasADi is not: its formulas were generated as C for this one mechanism, without "
        "loops and branches, and compiled with `gcc -O3 -march=native` together with a loop over "
        f"samples. That took {compiled.formulas:.1f} s for the formulas and "
        f"{compiled.compilation:.1f} s for gcc; it takes {compiled.steps:.2f} Newton steps per "
        "sample to close the loops to 10⁻¹² m, with pivots that were chosen at the home pose."
    )


def same_matrix(
    model: DynamicModel, peer: DynamicPeer, compiled: CompiledPeer, effort: Effort
) -> str:
    """Return the sentence about the largest difference of inertial columns."""
    path = cases.path(model.kinematics, effort.samples)
    given = (path.y, path.yd, path.ydd, path.dt)
    theirs = {
        "Pinocchio": peer.in_body_frames(peer.observe(*given)),
        "CasADi": compiled.observe(*given),
    }
    ours = observation_matrix(path.solve(model.kinematics), model).W
    words = ", ".join(f"{name} {difference(W, ours):.1e}" for name, W in theirs.items())
    return (
        f"Largest difference from mechid in {effort.samples} samples, in the same parameters, "
        f"relative to the largest entry of its row: {words}."
    )


def difference(theirs: Floats, ours: Floats) -> float:
    """Return the largest difference of inertial columns by row; refuse a large one."""
    inertial = ours[:, :, : theirs.shape[2]]
    scale = np.abs(inertial).max(axis=(0, 2), keepdims=True)  # rows are forces or moments
    worst = float((np.abs(theirs - inertial) / scale).max())
    if not worst <= SAME:
        raise ValueError(f"W of a peer differs by {worst:.1e}: there is nothing to compare")
    return worst


def observation_row(
    model: DynamicModel, peer: DynamicPeer, compiled: CompiledPeer, n: int, effort: Effort
) -> list[str]:
    """Return one row: samples, the peers, and mechid's three calls with each number of threads."""
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

    runs: list[report.Run] = [
        lambda p=p: p.observe(path.y, path.yd, path.ydd, path.dt) for p in (peer, compiled)
    ]
    for k in THREADS:
        runs += [lambda k=k: solve(k), lambda k=k: observe(k), lambda k=k: both(k)]
    pinocchio, casadi, *ours = (time / n for time in best_of_each(runs, effort.repeat))
    row = [digits(n), micro(pinocchio), micro(casadi)]
    for a, b, c in zip(ours[::3], ours[1::3], ours[2::3], strict=True):
        row += [micro(a), micro(b), micro(c), digits(pinocchio / c), digits(casadi / c)]
    return row


def in_one_pass(model: DynamicModel, path: cases.Path) -> Observation:
    """Return W of a path, as a user would who does not need the motion itself."""
    return observe_path(model, path.y, path.yd, path.ydd, time=path.time)


# ---------------------------------------------------------------------- arithmetic


def arithmetic(model: DynamicModel, compiled: CompiledPeer, effort: Effort) -> str:
    """How far a sample of W is from the time that its operations alone would take."""
    chain, free = flops.rates(effort.repeat)
    path = cases.path(model.kinematics, effort.samples)
    runs = [
        lambda: compiled.observe(path.y, path.yd, path.ydd, path.dt),
        lambda: in_one_pass(model, path),
    ]
    casadi, ours = (time / effort.samples for time in best_of_each(runs, effort.repeat))
    parts = compiled.operations()
    total = compiled.steps * (parts["newton"] + parts["gap"]) + parts["finish"]
    rows = [
        (
            words,
            digits(rate / 1e9),
            micro(total / rate),
            digits(casadi * rate / total),
            digits(ours * rate / total),
        )
        for words, rate in (("one sum", chain), ("four sums", free))
    ]
    head = ("sum of products", "10⁹ operations per s", f"{digits(total)} operations, µs")
    head += ("CasADi in C / that", "mechid / that")
    return (
        f"A sample of W of the suspension needs {digits(total)} operations, counted in the "
        f"formulas of CasADi, where zeros are left out and nothing is computed twice: "
        f"{digits(parts['newton'])} for a Newton step, {digits(parts['gap'])} to see that the "
        f"loops are closed, {digits(parts['finish'])} for admissible motions, speeds, "
        "accelerations and the regressor. A sine, a root or a quotient counts as one. On one "
        f"thread, CasADi in C takes {micro(casadi)} µs for them and mechid {micro(ours)} µs "
        f"({effort.samples} samples per call). For comparison, a loop of scalar Numba code over "
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
        *exudyn_trials(model, times, y0, effort, (1e-3,), (1e-2, 5e-3, 2e-3, 1e-3, 5e-4)),
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
        f"step allows. {EXUDYN} All are called from Python; MuJoCo and Exudyn come back to it "
        "at the 101 times or at the end only."
    )


def linkage(effort: Effort) -> str:
    """Error against wall time of a falling four-bar linkage."""
    model = dynamic_model(load(LINKAGE))
    times = np.linspace(0.0, 5.0, 101)
    y0 = np.array([value for _, value in model.mechanism.start.positions])
    reference, other = references(model, times, y0)
    trials = mechid_trials(model, times, y0, effort, every_formulation=True)
    trials += mujoco_trials(model, times, y0, (1e-3, 5e-4, 2e-4))
    trials += exudyn_trials(model, times, y0, effort, (1e-3,), (1e-2, 5e-3, 2e-3, 1e-3))
    outcomes = measure(trials, reference, effort)
    return (
        f"`{LINKAGE}`, 5 s from rest under its weight; largest error of q1 at 101 times.\n\n"
        f"{reference_words(other, 'rad')}\n\n{simulation_table(outcomes, 'rad')}\n\n"
        f"{fastest_table(outcomes, 'rad')}\n\n"
        "The formulation `augmented` works in reference-point coordinates in plain NumPy, written "
        "to be read and to check the others; it takes some hundred times as long and is left out. "
        f"So is Pinocchio, whose peer here closes loops with spherical joints only. {EXUDYN}"
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

    def trial(formulation: str, integrator: str, rtol: float, code: bool = False) -> Trial:
        def run() -> tuple[Floats, int]:
            with engine("compiled" if code else "tables"):
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

        method = f"{formulation}, {integrator}{', generated code' if code else ''}"
        return Trial("mechid", method, tolerance(rtol), run)

    trials = [trial(*way, rtol) for way in ways for rtol in effort.tolerances]
    trials += [trial("independent", "DOP853", rtol, code=True) for rtol in effort.tolerances]
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


def exudyn_trials(
    model: DynamicModel,
    times: Floats,
    y0: Floats,
    effort: Effort,
    plain: tuple[float, ...],
    extrapolated: tuple[float, ...],
) -> list[Trial]:
    """Generalised-α with several steps, as it is and extrapolated."""
    peer = ConstraintPeer(model.kinematics, y0)
    ways = [("generalised-α", peer.simulate, step) for step in plain]
    kept = extrapolated[: effort.extrapolated]
    ways += [("generalised-α, extrapolated", peer.extrapolate, step) for step in kept]
    return [
        Trial("Exudyn", method, step_words(step), lambda run=run, step=step: run(times, step))
        for method, run, step in ways
    ]


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
        for name in engines:
            good = [o for o in outcomes if o.trial.engine == name and o.error <= accuracy]
            row.append(fastest_words(good))
        rows.append(row)
    head = ["error at most", *(f"{name}: fastest, ms" for name in engines)]
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


@dataclass(frozen=True)
class Grown:
    """A mechanism of some size and what it costs per sample (s)."""

    kind: str
    size: int
    bodies: int
    loops: int
    shape: tuple[int, int]
    solve: float
    observe: float
    casadi: float
    build: float  # of CasADi, once per mechanism


def growth(effort: Effort) -> str:
    """Cost of W against the number of bodies and of loops."""
    chains = [cost("chain of {} bars", n, cases.chain(n), effort) for n in effort.chains]
    ladders = [cost("ladder of {} four-bars", n, cases.ladder(n), effort) for n in effort.ladders]
    grown = chains + ladders
    head = ("mechanism", "bodies", "loops", "W", "`solve_motion`, µs", "`observation_matrix`, µs")
    head += ("sum, µs", "ns per entry of W", "CasADi in C, µs", "its formulas and gcc, s")
    rows = map(growth_row, grown)
    return (
        f"Per sample; one thread, {effort.samples} samples per call, 1 ms apart. The time per "
        f"entry of W is that of `observation_matrix` alone.\n\n{table(head, rows)}\n\n"
        f"{growth_words(grown)}"
    )


def growth_row(g: Grown) -> tuple[object, ...]:
    """Return one row of the table."""
    entries = g.shape[0] * g.shape[1]
    times = (micro(g.solve), micro(g.observe), micro(g.solve + g.observe))
    words = (g.kind.format(g.size), g.bodies, g.loops, f"{g.shape[0]} × {g.shape[1]}")
    each = digits(1e9 * g.observe / entries)
    return (*words, *times, each, micro(g.casadi), digits(g.build))


def growth_words(grown: list[Grown]) -> str:
    """Return the exponents of the last step of each kind."""
    sentences = []
    for kind in dict.fromkeys(g.kind for g in grown):
        a, b = [g for g in grown if g.kind == kind][-2:]
        pairs = ((a.solve, b.solve), (a.observe, b.observe), (a.casadi, b.casadi))
        powers = [f"{np.log(y / x) / np.log(b.size / a.size):.1f}" for x, y in pairs]
        sentences.append(
            f"From a {kind.format(a.size)} to one of {b.size}, the cost grows with the power "
            f"{powers[0]} of the number in `solve_motion`, {powers[1]} in `observation_matrix` and "
            f"{powers[2]} in CasADi."
        )
    return " ".join(sentences)


def cost(kind: str, size: int, mechanism: Mechanism, effort: Effort) -> Grown:
    """Measure motion and W of mechid, and W of CasADi."""
    model = dynamic_model(mechanism)
    peer = CompiledPeer(model)
    path = cases.reachable_path(model.kinematics, effort.samples)
    motion = path.solve(model.kinematics)
    runs = [
        lambda: path.solve(model.kinematics),
        lambda: observation_matrix(motion, model),
        lambda: peer.observe(path.y, path.yd, path.ydd, path.dt),
    ]
    difference(runs[2](), runs[1]().W)
    times = (time / effort.samples for time in best_of_each(runs, effort.repeat))
    bodies = len(mechanism.bodies)
    loops = len(mechanism.joints) - bodies
    shape = (path.y.shape[1], len(model.columns))
    return Grown(kind, size, bodies, loops, shape, *times, peer.formulas + peer.compilation)


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
