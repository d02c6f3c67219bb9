"""What the kinematics of mechid costs, against Pinocchio and against the size of the mechanism.

    python benchmarks/kinematics.py [--quick] [-o report.md] [--docs]

prints a report in Markdown. Nothing here asserts a time: the numbers are those of one machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import cases
import numba
import numpy as np
import report
from pinocchio_peer import Peer, PeerMotion
from report import digits, micro, milli, table
from steps import step_times

from mechid.kinematics.model import KinematicModel, kinematic_model, model_of_geometry
from mechid.kinematics.motion import rates, solve_motion
from mechid.kinematics.sensitivities import sensitivities
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load, zoo_names

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
MODEL = "sla_suspension"
# The peer goes through its samples one by one: few are as good as many, and make shorter runs.
PEER_SAMPLES = 100
THREADS = tuple(n for n in (1, 2) if n <= numba.config.NUMBA_NUM_THREADS)


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    repeat: int = 5
    budget: float = 0.5  # s per number
    batches: tuple[int, ...] = (1, 10, 100, 1000, 10_000, 100_000)
    samples: int = 500
    distances: tuple[float, ...] = (1e-4, 1e-3, 1e-2)
    chains: tuple[int, ...] = (2, 4, 8, 16, 32, 64)
    ladders: tuple[int, ...] = (1, 2, 4, 8, 16)
    cold: bool = True

    def best(self, run: report.Run) -> float:
        """Return the best time of a call (s)."""
        return report.best(run, self.repeat, self.budget)

    def best_of_each(self, runs: Sequence[report.Run]) -> list[float]:
        """Return the best times of several calls that take turns (s)."""
        return report.best_of_each(runs, self.repeat, self.budget)


QUICK = Effort(
    budget=0.1,
    batches=(1, 10, 100, 1000, 10_000),
    samples=300,
    distances=(1e-3,),
    chains=(2, 8, 32),
    ladders=(1, 4, 16),
    cold=False,
)


def main() -> None:
    """Measure, print, and write where the options say."""
    options = parse()
    effort = QUICK if options.quick else Effort()
    text = whole_report(effort)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    if options.docs:
        report.replace_between(PAGE, "kinematics", text)


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes; no compilation")
    parser.add_argument("-o", "--output", type=Path, help="file for the report, too")
    parser.add_argument("--docs", action="store_true", help=f"put the report into {PAGE.name}")
    return parser.parse_args()


def whole_report(effort: Effort) -> str:
    """Return all sections; on the way, say on the terminal which one is being measured."""
    start, load_before = perf_counter(), report.load_average()
    model = kinematic_model(load(MODEL))
    sections: list[tuple[str, Callable[[], str]]] = [
        ("Against Pinocchio", lambda: against_pinocchio(model, effort)),
        ("Batch size and threads", lambda: batches(model, effort)),
        ("Where the time of a sample goes", lambda: steps(model, effort)),
        ("Sensitivities", lambda: derivatives(model, effort)),
        ("Growth with the mechanism", lambda: growth(effort)),
        ("First call", lambda: first_call(effort)),
        ("The zoo", lambda: zoo(effort)),
    ]
    texts = [f"### Machine\n\n{report.machine()}"]
    for title, section in sections:
        print(f"… {title}", file=sys.stderr)
        numba.set_num_threads(THREADS[0])
        texts.append(f"### {title}\n\n{section()}")
    texts.append(conditions(effort, perf_counter() - start, load_before))
    return "\n\n".join(texts)


def conditions(effort: Effort, duration: float, load_before: float) -> str:
    """Return the last lines of the report: under what conditions it came about."""
    text = (
        f"{'Short' if effort is QUICK else 'Full'} run, {duration:.0f} s; load average "
        f"{load_before:.1f} before and {report.load_average():.1f} after it."
    )
    if load_before > 0.5:
        text += " **The machine was busy with other work: times are too long, those of two "
        text += "threads by far, and ratios are rough.**"
    return text


# ---------------------------------------------------------------------- (a) batch size, threads


def batches(model: KinematicModel, effort: Effort) -> str:
    """Cost per sample against the number of samples of a call."""
    rows = []
    for n in effort.batches:
        path = cases.path(model, n)
        times = [with_threads(k, lambda p=path: p.solve(model), effort) / n for k in THREADS]
        rows.append([digits(n), *(cell for s in times for cell in (micro(s), digits(1 / s)))])
    head = ["samples per call"]
    for k in THREADS:
        head += [f"{thread_words(k)}, µs per sample", "samples per s"]
    return (
        f"`solve_motion` of `{MODEL}`: closure to machine precision, speeds and accelerations; "
        f"samples 1 ms apart.\n\n{table(head, rows, words=0)}"
    )


def with_threads(threads: int, run: report.Run, effort: Effort) -> float:
    """Return the best time of a call with so many threads of Numba."""
    numba.set_num_threads(threads)
    return effort.best(run)


def thread_words(n: int) -> str:
    """Return '1 thread', '2 threads'."""
    return f"{n} thread" + "s" * (n > 1)


# ---------------------------------------------------------------------- (b) Pinocchio


def against_pinocchio(model: KinematicModel, effort: Effort) -> str:
    """The same results first, then the times, in turns."""
    peer = Peer(model)
    rows = []
    for dt in effort.distances:
        path = cases.path(model, effort.samples, dt)
        rows.append(compare_times(model, peer, path, effort))
    n, m = peer.model.nv, 3 * len(model.tree.cut)
    head = ["between samples", "Newton steps of the peer", "Pinocchio, µs per sample"]
    for k in THREADS:
        head += [f"mechid, {thread_words(k)}", "times faster"]
    return (
        f"Both solve {effort.samples} samples of the same path with the same tree ({n} speeds) "
        f"and the same {m} closure equations.\n\n"
        f"{differences(model, peer, cases.path(model, effort.samples))}\n\n"
        f"{table(head, rows, words=0)}\n\n{one_sample(model, peer, effort)}"
    )


def compare_times(model: KinematicModel, peer: Peer, path: cases.Path, effort: Effort) -> list[str]:
    """Return one row: distance of samples, Newton steps, times and ratios."""
    n, short = len(path.y), path.first(PEER_SAMPLES)
    runs = [lambda: solve_peer(peer, short), lambda: path.solve(model)]
    times = []
    for k in THREADS:
        # Not in turns: a change of the number of threads itself takes milliseconds.
        numba.set_num_threads(k)
        times.append(effort.best_of_each(runs))
    theirs = min(peer_time for peer_time, _ in times) / PEER_SAMPLES
    ours = [time / n for _, time in times]
    steps_taken = solve_peer(peer, path).steps / n
    row = [f"{digits(1e3 * path.dt)} ms", f"{steps_taken:.2f}", micro(theirs)]
    for time in ours:
        row += [micro(time), digits(theirs / time)]
    return row


def solve_peer(peer: Peer, path: cases.Path) -> PeerMotion:
    """Solve a path with the peer."""
    return peer.solve(path.y, path.yd, path.ydd, path.dt)


def differences(model: KinematicModel, peer: Peer, path: cases.Path) -> str:
    """Return the largest differences of the motion of any body at any sample."""
    ours = path.solve(model).bodies()
    theirs = peer.body_motion(solve_peer(peer, path))
    units = ("m", "m/s", "m/s²", "rad/s", "rad/s²")
    rows = [
        (
            name,
            f"{np.abs(values).max():.3g} {unit}",
            f"{np.abs(values - getattr(ours, name)).max():.1e} {unit}",
        )
        for (name, values), unit in zip(theirs.items(), units, strict=True)
    ]
    return table(("of the bodies", "largest value", "largest difference"), rows)


def one_sample(model: KinematicModel, peer: Peer, effort: Effort) -> str:
    """Return the sentence about calls with a single sample."""
    numba.set_num_threads(1)
    path = cases.path(model, 1)
    theirs, ours = effort.best_of_each([lambda: solve_peer(peer, path), lambda: path.solve(model)])
    return (
        f"A call for a single sample takes {micro(theirs)} µs with Pinocchio and {micro(ours)} µs "
        "with mechid (one thread)."
    )


# ---------------------------------------------------------------------- where the time goes


def steps(model: KinematicModel, effort: Effort) -> str:
    """The kernels of one sample: what one evaluation costs, and what they add up to."""
    times = step_times(cases.path(model, effort.samples).solve(model), effort.best_of_each)
    once = sum(times[name] for name in ("place", "fill", "factor"))
    parts = {
        "close the loops from the prediction": times["close"],
        "solve for speeds and for accelerations": 2 * times["solve"],
        "convective accelerations": times["convective"],
        "admissible motions, for the next prediction": times["admissible"],
    }
    whole = times["whole"]
    parts["prediction, checks, copies, Python (the rest)"] = whole - sum(parts.values())
    rows = [(words, micro(time), share(time, whole)) for words, time in parts.items()]
    rows.append(("whole sample", micro(whole), share(whole, whole)))
    return (
        f"`{MODEL}`, one thread, samples 1 ms apart.\n\n"
        f"{table(('step', 'µs per sample', 'share'), rows)}\n\n"
        f"The closure evaluates each piece several times. One evaluation of all pieces takes "
        f"{micro(once)} µs: {micro(times['place'])} to place links and markers, "
        f"{micro(times['fill'])} to fill the rows, {micro(times['factor'])} to factor. "
        f"The closure takes as long as {times['close'] / once:.1f} evaluations."
    )


def share(part: float, whole: float) -> str:
    """Return a percentage."""
    return f"{100 * part / whole:.0f} %"


# ---------------------------------------------------------------------- (d) sensitivities


def derivatives(model: KinematicModel, effort: Effort) -> str:
    """Cost of exact derivatives per direction, relative to one solution."""
    path = cases.path(model, effort.samples)
    motion = path.solve(model)
    directions = 3 * path.y.shape[1]
    runs = [
        lambda: path.solve(model),
        motion.bodies,
        lambda: rates(motion),
        lambda: sensitivities(motion, []),
        lambda: sensitivities(motion),
    ]
    n = len(path.y)
    solve, bodies, maps, tree, frames = (t / n for t in effort.best_of_each(runs))
    rows = [
        ("`solve_motion`", micro(solve), "1"),
        ("`bodies`", micro(bodies), digits(bodies / solve)),
        ("`rates`", micro(maps), digits(maps / solve)),
    ]
    for words, time in (("q, v, v̇", tree), ("and all body frames", frames)):
        each = time / directions
        rows.append((f"`sensitivities`: {words}, per direction", micro(each), digits(each / solve)))
    head = ("", "µs per sample", "relative to `solve_motion`")
    return (
        f"`{MODEL}`, {n} samples, one thread; {directions} directions (y, ẏ, ÿ).\n\n"
        f"{table(head, rows)}"
    )


# ---------------------------------------------------------------------- (e) growth


def growth(effort: Effort) -> str:
    """Cost against the number of bodies and of loops."""
    head = ("mechanism", "bodies", "loops", "coordinates", "`kinematic_model`, ms", "µs per sample")
    grown = [
        *((f"chain of {n} bars", cases.chain(n)) for n in effort.chains),
        *((f"ladder of {n} four-bars", cases.ladder(n)) for n in effort.ladders),
    ]
    rows = []
    for words, mechanism in grown:
        ready, per_sample = cost(mechanism, effort)
        loops = len(mechanism.joints) - len(mechanism.bodies)
        counts = (len(mechanism.bodies), loops, len(mechanism.coordinates))
        rows.append((words, *counts, milli(ready), micro(per_sample)))
    return f"One thread, samples 1 ms apart.\n\n{table(head, rows)}"


def cost(mechanism: Mechanism, effort: Effort) -> tuple[float, float]:
    """Return the time to prepare a mechanism, and the time per sample (s)."""
    start = perf_counter()
    model = kinematic_model(mechanism)
    ready = perf_counter() - start
    path = cases.reachable_path(model, effort.samples)
    return ready, effort.best(lambda: path.solve(model)) / len(path.y)


# ---------------------------------------------------------------------- (c) first call


def first_call(effort: Effort) -> str:
    """Stages of a fresh process, with an empty and with a filled cache of kernels."""
    with tempfile.TemporaryDirectory() as cache:
        cold = fresh_process(cache) if effort.cold else None
        warm = fresh_process(cache if effort.cold else None)
    columns = [("empty cache, s", cold), ("filled cache, s", warm)]
    columns = [(words, found) for words, found in columns if found]
    rows = [
        [stage, *(f"{found['stages'][stage]:.2f}" for _, found in columns)]
        for stage in warm["stages"]
    ]
    rows.append(["together", *(f"{sum(f['stages'].values()):.2f}" for _, f in columns)])
    rows.append(["kernels compiled", *(str(len(f["compiled"])) for _, f in columns)])
    head = ["stage", *(words for words, _ in columns)]
    return f"`{MODEL}` in a fresh process.\n\n{table(head, rows)}\n\n{later(cold or warm)}"


def fresh_process(cache: str | None) -> dict:
    """Return what `first_call.py` measures, with its kernels cached in a folder of its own."""
    environment = os.environ | ({"MECHID_CACHE_DIR": cache} if cache else {})
    done = subprocess.run(
        [sys.executable, str(HERE / "first_call.py")],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def later(found: dict) -> str:
    """Return the sentences about other mechanisms in the same process."""
    models = found["zoo"].values()
    slowest = max(zoo_model["model"] for zoo_model in models)
    text = (
        f"After that, `kinematic_model` took {milli(slowest)} ms at most for the "
        f"{len(found['zoo'])} models of the zoo"
    )
    compiled = {
        name: zoo_model for name, zoo_model in found["zoo"].items() if zoo_model["compiled"]
    }
    if not compiled:
        return f"{text}, and nothing was compiled for any of them."
    parts = [
        f"`{name}` needed {', '.join(f'`{k}`' for k in zoo_model['compiled'])} "
        f"({zoo_model['solve']:.1f} s, once)"
        for name, zoo_model in compiled.items()
    ]
    return f"{text}. Kernels that the suspension had not needed: {'; '.join(parts)}."


# ---------------------------------------------------------------------- (f) the zoo


def zoo(effort: Effort) -> str:
    """Every model of the zoo: time to prepare it, cost per sample, along a path and one by one."""
    head = (
        "model",
        "bodies",
        "coordinates",
        "sizes of the pieces",
        "`kinematic_model`, ms",
        "µs per sample",
        "out of order",
    )
    rows = []
    for name in zoo_names():
        mechanism = load(name)
        kinematic_model.cache_clear()
        model_of_geometry.cache_clear()
        ready, per_sample = cost(mechanism, effort)
        model = kinematic_model(mechanism)
        rows.append(
            (
                f"`{name}`",
                len(mechanism.bodies),
                model.n_independent,
                piece_sizes(model),
                milli(ready),
                micro(per_sample),
                micro(out_of_order(model, effort)),
            )
        )
    return (
        "One thread. Along a path, samples are 1 ms apart; out of order (`ordered=False`), each "
        f"is reached from the home pose.\n\n{table(head, rows)}"
    )


def piece_sizes(model: KinematicModel) -> str:
    """Return the sizes of the systems that are solved one after the other, as '6, 6, 3'."""
    pieces = model.order.pieces
    sizes = [int(n) for n in pieces.column_end - pieces.column_start if n]
    return ", ".join(map(str, sizes)) or "none"


def out_of_order(model: KinematicModel, effort: Effort) -> float:
    """Return the time per sample when samples do not follow each other."""
    path = cases.reachable_path(model, effort.samples)
    chosen = np.random.default_rng(0).permutation(len(path.y))
    y, yd, ydd = path.y[chosen], path.yd[chosen], path.ydd[chosen]
    run = lambda: solve_motion(model, y, yd, ydd, ordered=False)  # noqa: E731
    return effort.best(run) / len(y)


if __name__ == "__main__":
    main()
