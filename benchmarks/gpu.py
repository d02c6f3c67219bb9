"""What a GPU does per second: samples of the observation matrix, and judged motions.

    python benchmarks/gpu.py [--quick] [-o report.md] [--docs]

needs a GPU and CuPy, and prints a report in Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import cases
import cupy as cp
import numpy as np
from report import cpu_name, digits, package_version, replace_between, table

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.device import DeviceSamples, observe_samples
from mechid.dynamics.regressor import observe_path
from mechid.excitation.device import DeviceJudge
from mechid.excitation.starts import Starts
from mechid.modelfile import load
from mechid.options import ExciteOptions
from mechid.tape.cuda import loaded
from mechid.tape.factor_source import FACTOR_SOURCE
from mechid.tape.factor_source import KERNEL as FACTOR
from mechid.tasks.criteria import checked_options
from mechid.tasks.excite import excite, plan_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
MODEL, DEVICE = "sla_suspension", "cuda:0"
MODELS = ("four_bar", "quarter_vehicle", "delta", MODEL, "stewart_platform", "puma560")
SAMPLES = 500  # of a motion
DIFFERENT = 500  # motions among those that are judged
SEED = 13
ROUNDING = 1e-6  # of the largest column: smaller ones may be rounding of zero
SEARCHES = (("cpu", 40), ("cuda", 40), ("cuda", 8192))  # device and random motions


def seconds(run: Callable[[], object], repeat: int = 5) -> float:
    """Return the median time of a call on the GPU (s), after one that is not timed."""
    run()
    times = []
    for _ in range(repeat):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(1e-3 * cp.cuda.get_elapsed_time(begin, end))
    return float(np.median(times))


def some_samples(model: DynamicModel, n: int) -> list[np.ndarray]:
    """Return y, ẏ, ÿ (n, n_i) of the path of the other benchmarks, again and again."""
    path = cases.reachable_path(model.kinematics, min(n, 2000))
    return [np.resize(x, (n, x.shape[1])) for x in (path.y, path.yd, path.ydd)]


def samples_row(spec: str, n: int) -> tuple[object, ...]:
    """Measure W of one mechanism."""
    model = dynamic_model(load(spec))
    given = some_samples(model, n)
    arrays = [cp.asarray(x.T[None]) for x in given]
    began = perf_counter()
    code = DeviceSamples.of(model, lambda _, W, known: [*W.ravel(), *known], DEVICE)
    _, fine = code.run(*(x[:, :, :64] for x in arrays))
    cp.cuda.Device().synchronize()
    ready = perf_counter() - began
    _, fine = code.run(*arrays)
    sure = float((fine == 1).mean())
    time = seconds(lambda: code.run(*arrays))
    few = [x[:2000] for x in given]
    host = observe_path(model, *few, ordered=False)
    device = observe_samples(model, *few, device=DEVICE)
    size = np.abs(host.W).max(axis=(0, 1))
    size = np.maximum(size, ROUNDING * size.max())
    error = float((np.abs(host.W - device.W).max(axis=(0, 1)) / size).max())
    shape = f"{host.W.shape[1]} × {host.W.shape[2]}"
    rate = 1e-6 * n / time
    return f"`{spec}`", shape, digits(rate), f"{100 * sure:.4g}", f"{error:.0e}", f"{ready:.1f}"


def judged(n: int) -> str:
    """Measure motions of the suspension, judged by the default criterion."""
    mechanism = load(MODEL)
    options = checked_options(ExciteOptions(samples=SAMPLES))
    problem = plan_of(mechanism, options).problem
    judge = DeviceJudge(problem, DEVICE)
    starts, rng = Starts(problem), np.random.default_rng(SEED)
    few = np.array([starts.drawn(rng) for _ in range(min(n, DIFFERENT))])
    home = problem.design.start
    x = home + 0.5 * (np.resize(few, (n, few.shape[1])) - home)
    judge.values(x[:64])
    times = []
    for _ in range(3):
        cp.cuda.Device().synchronize()
        began = perf_counter()
        values = judge.values(x)
        times.append(perf_counter() - began)
    time = float(np.median(times))
    host = np.array([problem.value(problem.motion(one)) for one in x[:8]])
    error = float(np.abs(values[:8] - host).max())
    b = len(problem.places)
    return (
        f"{digits(n)} motions of {SAMPLES} samples of `{MODEL}` ({DIFFERENT} different ones, "
        "repeated; at half of the range that limits allow), from the coefficients of their "
        f"trajectories to the value of the criterion ({options.criterion}; {b} base parameters): "
        f"{digits(1e3 * time)} ms, that is **{digits(n / (1e3 * time))} motions per "
        f"millisecond**. Values differ from those of the processor by at most {error:.0e} (of a "
        "logarithm)."
    )


def searched() -> str:
    """Measure the random search of `mechid excite`, limits included."""
    rows = []
    for device, n in SEARCHES:
        words = {"starts": 0, "samples": SAMPLES, "device": device}
        excite(MODEL, random=2, **words)  # compiles what is not compiled yet
        found = excite(MODEL, random=n, **words)
        each = 1e3 * found.excitation.seconds / n
        best = found.plain(found.excitation.value)
        rows.append(
            (device, digits(n), digits(found.excitation.seconds), digits(each), f"{best:.4g}")
        )
    head = ("device", "random motions", "s", "ms per motion", "best value of the criterion")
    return (
        "The random search of `mechid excite`: motions are drawn, shortened until they keep all "
        "limits (joints, positions, speeds, accelerations, forces, singularity margin), and "
        "judged; the best are checked by the processor.\n\n" + table(head, rows)
    )


def whole_report(quick: bool) -> str:
    """Return all sections."""
    n = 2**18 if quick else 2**20
    loaded(FACTOR_SOURCE, DEVICE).get_function(FACTOR)  # starts the compiler of CuPy
    rows = [samples_row(spec, n) for spec in ((MODEL,) if quick else MODELS)]
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    head = ("mechanism", "W", "million samples/s", "% sure", "difference", "ready after, s")
    return "\n\n".join(
        [
            f"{datetime.now(tz=UTC):%Y-%m-%d}, {name}, {cpu_name()}, CuPy "
            f"{package_version('cupy-cuda13x')}.",
            f"W of {digits(n)} samples of a swing about home, each reached from home, left in the "
            "memory of the GPU. "
            "Samples that the GPU is not sure of are done again by the processor. The "
            "difference to the table kernels is relative to each column (at least a millionth of "
            "the largest); the time until ready contains recording and compilation.",
            table(head, rows),
            judged(2**12 if quick else 2**14),
            *(() if quick else (searched(),)),
        ]
    )


def main() -> None:
    """Measure, print, and write where the options say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one mechanism, fewer samples")
    parser.add_argument("-o", "--output", type=Path, help="file for the report, too")
    parser.add_argument("--docs", action="store_true", help=f"put the report into {PAGE.name}")
    options = parser.parse_args()
    text = whole_report(options.quick)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    if options.docs:
        replace_between(PAGE, "gpu", text)


if __name__ == "__main__":
    main()
