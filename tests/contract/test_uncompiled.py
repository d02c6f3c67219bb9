"""The kernels as plain Python: the same numbers, only slower."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import observation_matrix
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, rates, solve_motion
from mechid.modelfile import load

EPS = float(np.finfo(float).eps)
# Redundant constraints; balls, points as coordinates, springs; threads, loads, friction; a passive
# spin; a body that floats; motors; a torsion spring and a moment; distances as coordinates.
CASES = (
    "four_bar",
    "sla_suspension",
    "screw_press@guided",
    "spatial_slider_crank@two-balls",
    "double_wishbone@free",
    "puma560",
    "pendulum@spring",
    "five_bar@distances",
)


def results(spec: str) -> dict[str, np.ndarray]:
    """A short motion about the home pose, and what follows from it."""
    model = kinematic_model(load(spec))
    t = np.linspace(0, 0.3, 4)
    size = np.where([c.unit == "m" for c in model.mechanism.coordinates], 0.02, 0.1)
    w = np.arange(1.0, model.n_independent + 1)
    s = size * np.sin(np.outer(t, w)), size * w * np.cos(np.outer(t, w))
    motion = solve_motion(model, model.home_y + s[0], s[1], -w * w * s[0], time=t)
    f, r = motion.bodies(), rates(motion)
    cut = [joint_motion(motion, j.name).speeds.ravel() for j in model.tree.cut]
    return dynamics(motion) | {
        "q": motion.q,
        "v": motion.v,
        "vd": motion.vd,
        "position": f.position,
        "rotation": f.rotation,
        "acceleration": f.acceleration,
        "alpha": f.alpha,
        "R": r.R,
        "bias": r.bias,
        "condition": 1 / singularity_margin(model, motion.q),
        "speeds of cut joints": np.concatenate([np.zeros(0), *cut]),
    }


def dynamics(motion: Motion) -> dict[str, np.ndarray]:
    """Observation matrix, forces, reactions, and the equations of forward dynamics."""
    model = dynamic_model(motion.model.mechanism)
    seen = observation_matrix(motion, model)
    inverse = inverse_dynamics(motion, reactions=True)
    assert inverse.reactions is not None
    engine = Engine(model, inverse.phi)
    reduced, tree = engine.reduced(motion.y[1], motion.yd[1]), engine.tree(motion.q[1], motion.v[1])
    gradient = observation_gradient(model, motion, seen.W, seen.known)
    energies = [reduced.kinetic, reduced.potential, reduced.dissipated, tree.kinetic]
    return {
        "W": seen.W,
        "known": seen.known,
        "tau": inverse.tau,
        "reaction forces": inverse.reactions.force,
        "reaction moments": inverse.reactions.moment,
        "open components": inverse.reactions.undetermined.astype(float),
        "reduced M": reduced.M,
        "reduced h": reduced.h,
        "tree M": tree.M,
        "tree h": tree.h,
        "tree J": tree.J,
        "tree gamma": tree.gamma,
        "gradient": np.stack(gradient),
        "energies": np.array(energies),
    }


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, np.ndarray]]:
    """The results of another process, in which nothing is compiled."""
    folder = tmp_path_factory.mktemp("plain")
    subprocess.run(
        [sys.executable, "-W", "error", __file__, str(folder)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
        timeout=300,
    )
    found = {}
    for spec in CASES:
        with np.load(folder / f"{spec}.npz") as file:
            found[spec] = dict(file)
    return found


@pytest.mark.parametrize("spec", CASES)
def test_plain_python_gives_the_same(spec: str, plain: dict[str, dict[str, np.ndarray]]) -> None:
    """The compiler may fuse or reorder products and sums: a few ulp, times the condition.

    Where nothing is compiled in this process either, the two are the same; `make coverage` asks
    for that, to see which lines of the kernels run.
    """
    compiled = results(spec)
    bound = 1000 * EPS * max(1.0, float(compiled["condition"].max())) ** 2
    assert set(plain[spec]) == set(compiled)
    for name, values in compiled.items():
        gap = np.abs(plain[spec][name] - values).max(initial=0.0)
        assert gap <= bound * max(1.0, float(np.abs(values).max(initial=0.0))), name


if __name__ == "__main__":
    for case in CASES:
        np.savez(Path(sys.argv[1]) / f"{case}.npz", **results(case))  # type: ignore[arg-type]
