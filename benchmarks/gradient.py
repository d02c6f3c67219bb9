"""What a gradient through the closure costs, in evaluations of the observation matrix.

    python benchmarks/gradient.py [--quick] [--docs]

prints a table in Markdown. Nothing here asserts a time: the numbers are those of one machine.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cases
import numba
import numpy as np
import report
from report import best_of_each, digits, micro, table

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import observation_matrix, observe_path
from mechid.dynamics.sensitivities import observation_sensitivity
from mechid.modelfile import load

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
MODELS = (
    "four_bar",
    "quarter_vehicle",
    "delta",
    "pushrod_suspension",
    "sla_suspension",
    "stewart_platform",
    "puma560",
)
HEAD = (
    "mechanism",
    "n_i",
    "W",
    "`observation_matrix`, µs",
    "`observation_gradient`, µs",
    "both together, in W",
    "`observe_path`, µs",
    "path and gradient, in paths",
    "by complex steps, in W",
    "difference",
)


def main() -> None:
    """Measure, print, and write where the options say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--docs", action="store_true", help=f"put the table into {PAGE.name}")
    options = parser.parse_args()
    numba.set_num_threads(1)
    samples, repeat = (500, 3) if options.quick else (1000, 10)
    rows = table(HEAD, [measure(name, samples, repeat) for name in MODELS])
    text = (
        f"Per sample; one thread, {samples} samples per call, 1 ms apart. The gradient is that of "
        "Σ G W by y, ẏ and ÿ with random G. Complex steps need 3 n_i passes; the last column is "
        "the largest difference of the two gradients, relative to the terms that they sum up.\n\n"
        f"{rows}\n\nLoad average {report.load_average():.1f}."
    )
    print(text)
    if options.docs:
        report.replace_between(PAGE, "gradient", text)


def measure(name: str, samples: int, repeat: int) -> tuple[object, ...]:
    """Return one row of the table."""
    model = dynamic_model(load(name))
    path = cases.reachable_path(model.kinematics, samples)
    motion = path.solve(model.kinematics)
    n_i, p = path.y.shape[1], len(model.columns)
    G = np.random.default_rng(0).standard_normal((samples, n_i, p))
    observe, gradient, along, forward = best_of_each(
        [
            lambda: observation_matrix(motion, model),
            lambda: observation_gradient(model, motion, G),
            lambda: observe_path(model, path.y, path.yd, path.ydd, time=path.time),
            lambda: observation_sensitivity(motion, 0, model),
        ],
        repeat,
    )
    found = np.concatenate(observation_gradient(model, motion, G), axis=1)
    parts = [G * observation_sensitivity(motion, k, model)[0] for k in range(3 * n_i)]
    want = np.stack([part.sum(axis=(1, 2)) for part in parts], axis=1)
    size = np.stack([np.abs(part).sum(axis=(1, 2)) for part in parts], axis=1)
    return (
        f"`{name}`",
        n_i,
        f"{n_i} × {p}",
        micro(observe / samples),
        micro(gradient / samples),
        digits((observe + gradient) / observe),
        micro(along / samples),
        digits((along + gradient) / along),
        digits((observe + 3 * n_i * forward) / observe),
        f"{np.abs(found - want).max() / size.max():.0e}",
    )


if __name__ == "__main__":
    main()
